"""How often the diagnosis is right, over the windows and bins of all flows."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from airpath.captures.diagnosis import SURE
from airpath_papers.claim import Runs
from airpath_papers.diagnosis.scenes import SCENES, Scene
from airpath_papers.diagnosis.truth import OTHER, Bin, Window, bins, windows
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, ratio_of_means, sample

RARE: Final = (OTHER, "overflow", "start-up")
"""Truths without a recall: no label is right, or windows are few."""
MOST: Final = 0.45
"""A flow has two main limits if each holds for at least this share of its windows."""

Flags = list[bool]
OfWindows = Callable[[list[Window]], Flags]
OfBins = Callable[[list[Bin]], list[float]]


def flows(of: Runs) -> Iterator[tuple[Scene, RunData]]:
    """Yield every scene with its run."""
    for scene in SCENES:
        for run in of(scene.name):
            yield scene, run


def pooled(values: Iterable[Sequence[float]]) -> Sample:
    """Return the mean of the values of all flows together; jackknife over flows."""
    counted = [one for one in values if one]
    return ratio_of_means([sum(one) for one in counted], [len(one) for one in counted])


def over_windows(
    flags: OfWindows, counts: Callable[[Scene], bool] = lambda _: True
) -> Callable[[Runs], Sample]:
    """Return the share of windows with a property, of all windows that have a flag."""
    return lambda of: pooled(flags(windows(scene, run)) for scene, run in flows(of) if counts(scene))


def over_bins(measure: OfBins, counts: Callable[[Bin], bool]) -> Callable[[Runs], Sample]:
    """Return the mean of a measure of the bins of flows that have their link to themselves."""

    def measured(of: Runs) -> Sample:
        return pooled(
            measure([one for one in bins(run, scene.from_s) if counts(one)])
            for scene, run in flows(of)
            if scene.is_alone
        )

    return measured


def right(found: list[Window]) -> Flags:
    """Return for each window whether its label is right."""
    return [one.is_right for one in found]


def sure(found: list[Window]) -> Flags:
    """Return for each window whether its label is called sure."""
    return [one.confidence >= SURE for one in found]


def right_of_sure(found: list[Window]) -> Flags:
    """Return whether the label is right, for each window whose label is called sure."""
    return [one.is_right for one in found if one.confidence >= SURE]


def labelled(label: str) -> OfWindows:
    """Return a function that returns for each window whether it has this label."""
    return lambda found: [one.label == label for one in found]


def main_labels(of: Runs) -> Sample:
    """Return for each flow whether its main label is right."""
    found = [windows(scene, run) for scene, run in flows(of)]
    return sample([is_main_label_right(one) for one in found if one])


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
    """Return the share of windows labelled `bottleneck`, of flows that leave their link idle."""
    limited = ("receiver-window", "application", "sender-window", "random-loss")
    idle = (
        [one for one in windows(scene, run) if one.truth != "bottleneck"]
        for scene, run in flows(of)
        if scene.limit in limited
    )
    return pooled(labelled("bottleneck")(found) for found in idle)


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


def errors(found: list[Bin]) -> list[float]:
    """Return the error of each bin relative to the capacity, without sign."""
    return [abs(one.rate_bps / one.capacity_bps - 1.0) for one in found]


def covered(found: list[Bin]) -> list[float]:
    """Return for each bin whether its interval contains the capacity."""
    return [one.low_bps <= one.capacity_bps <= one.high_bps for one in found]


def above(found: list[Bin]) -> list[float]:
    """Return for each lower bound whether it is above the capacity."""
    return [one.low_bps > one.capacity_bps for one in found]
