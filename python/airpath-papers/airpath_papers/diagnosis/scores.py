"""How often the diagnosis is right, flow by flow."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from airpath.captures.diagnosis import SURE
from airpath_papers.claim import Runs
from airpath_papers.diagnosis.scenes import SCENES, Scene
from airpath_papers.diagnosis.truth import OTHER, Bin, Window, bins, windows
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, sample

RARE: Final = (OTHER, "overflow", "start-up")
"""Truths without a recall: no label is right, or windows are few."""
MOST: Final = 0.45
"""A flow has two main limits if each holds for at least this share of its windows."""

OfWindows = Callable[[list[Window]], float]
OfBins = Callable[[list[Bin]], float]


def flows(of: Runs) -> Iterator[tuple[Scene, RunData]]:
    """Yield every scene with its run."""
    for scene in SCENES:
        for run in of(scene.name):
            yield scene, run


def over_windows(
    measure: OfWindows, counts: Callable[[Scene], bool] = lambda _: True
) -> Callable[[Runs], Sample]:
    """Return a measure of the windows of each flow, as a sample over flows."""

    def measured(of: Runs) -> Sample:
        found = [windows(scene, run) for scene, run in flows(of) if counts(scene)]
        return sample([measure(one) for one in found if one])

    return measured


def over_bins(measure: OfBins, counts: Callable[[Bin], bool]) -> Callable[[Runs], Sample]:
    """Return a measure of the bins of each flow that has its link to itself, as a sample over flows."""

    def measured(of: Runs) -> Sample:
        found = [
            [one for one in bins(run, scene.from_s) if counts(one)]
            for scene, run in flows(of)
            if scene.is_alone
        ]
        return sample([measure(one) for one in found if one])

    return measured


def share_right(found: list[Window]) -> float:
    """Return the share of windows whose label is right."""
    return float(np.mean([one.is_right for one in found]))


def share_sure(found: list[Window]) -> float:
    """Return the share of windows whose label is called sure."""
    return float(np.mean([one.confidence >= SURE for one in found]))


def share_right_of_sure(found: list[Window]) -> float:
    """Return the share of right labels among those that are called sure; NaN without any."""
    sure = [one.is_right for one in found if one.confidence >= SURE]
    return float(np.mean(sure)) if sure else float("nan")


def share_labelled(label: str) -> OfWindows:
    """Return the share of windows with a label, as a measure."""
    return lambda found: float(np.mean([one.label == label for one in found]))


def is_main_label_right(found: list[Window]) -> float:
    """Return 1 if the most frequent label is the most frequent truth, or one of two, else 0."""
    truths, labels = Counter(one.truth for one in found), Counter(one.label for one in found)
    main = labels.most_common(1)[0][0]
    return float(truths.most_common(1)[0][0] == main or truths[main] >= MOST * len(found))


def recall(of: Runs) -> Sample:
    """Return the recall of each truth that has one: one value for each label."""
    pooled = confusion(of)
    truths = sorted({truth for truth, _ in pooled} - set(RARE))
    return sample(
        [pooled[truth, truth] / sum(pooled[key] for key in pooled if key[0] == truth) for truth in truths]
    )


def confusion(of: Runs) -> Counter[tuple[str, str]]:
    """Return the number of windows by truth and label."""
    return Counter((one.truth, one.label) for scene, run in flows(of) for one in windows(scene, run))


def bottleneck_of_idle_links(of: Runs) -> Sample:
    """Return the share of windows labelled `bottleneck`, of each flow that is limited elsewhere."""
    limited = ("receiver-window", "application", "sender-window", "random-loss")
    counted = [windows(scene, run) for scene, run in flows(of) if scene.limit in limited]
    idle = [[one for one in found if one.truth != "bottleneck"] for found in counted]
    return sample([share_labelled("bottleneck")(found) for found in idle if found])


def headline_errors(of: Runs) -> list[float]:
    """Return the relative error of the bandwidth of each flow that had a full link to itself."""
    errors = []
    for scene, run in flows(of):
        assert run.diagnosis is not None
        full = [one for one in bins(run) if one.full]
        if run.diagnosis.headline.get("full") and full and scene.is_alone:
            time_s = np.array([one.seconds for one in full])
            capacity = float(np.average([one.capacity_bps for one in full], weights=time_s))
            errors.append(run.diagnosis.headline["rate_bps"] / capacity - 1.0)
    return errors


def is_full(one: Bin) -> bool:
    """Return whether the link was full, so that the rate is a bandwidth."""
    return one.full


def is_bound(one: Bin) -> bool:
    """Return whether the rate is a lower bound."""
    return not one.full


def mean_error(found: list[Bin]) -> float:
    """Return the mean error of bins relative to the capacity, without sign."""
    return float(np.mean([abs(one.rate_bps / one.capacity_bps - 1.0) for one in found]))


def share_covered(found: list[Bin]) -> float:
    """Return the share of bins whose interval contains the capacity."""
    return float(np.mean([one.low_bps <= one.capacity_bps <= one.high_bps for one in found]))


def share_above(found: list[Bin]) -> float:
    """Return the share of lower bounds above the capacity."""
    return float(np.mean([one.low_bps > one.capacity_bps for one in found]))
