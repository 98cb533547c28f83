"""Labels and bandwidths of the diagnosis against the truth: confusion matrix, errors, claims."""

from typing import Final

import numpy as np
from matplotlib.figure import Figure as Picture

from airpath.plots.style import new_axes, styled
from airpath.results.formatting import percent
from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.diagnosis import scores
from airpath_papers.diagnosis.scenes import SCENES
from airpath_papers.diagnosis.truth import OTHER
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.rules import AtLeast, AtMost
from airpath_papers.sample import Sample, sample

CHOICE: Final = "simulated flows"


def _matrix(of: Runs) -> tuple[list[str], list[str], list[list[int]]]:
    """Return truths, labels, and the number of windows of each pair."""
    counts = scores.confusion(of)
    labels = sorted({label for _, label in counts})
    truths = sorted({truth for truth, _ in counts} - {OTHER}) + [OTHER] * any(
        truth == OTHER for truth, _ in counts
    )
    return truths, labels, [[counts[truth, label] for label in labels] for truth in truths]


def _tables(runs: FigureRuns) -> list[TextTable]:
    of = runs.of(CHOICE)
    truths, labels, counts = _matrix(of)
    rows = []
    for truth, row in zip(truths, counts, strict=True):
        right = row[labels.index(truth)] / sum(row) if truth in labels else None
        rows.append((truth, *map(str, row), "" if right is None else f"{right:.2f}"))
    errors = np.abs(scores.headline_errors(of))
    return [
        TextTable(
            "Windows by truth (rows) and label (columns)",
            ("truth", *labels, "recall"),
            tuple(rows),
            f"“{OTHER}”: windows in which a bulk flow left more than a tenth of the link idle.",
        ),
        TextTable(
            "Error of the bandwidth of a flow relative to the capacity, flows with a full link of their own",
            ("flows", "mean", "95th percentile", "largest"),
            (
                (
                    str(len(errors)),
                    *(
                        f"{100 * value:.1f} %"
                        for value in (errors.mean(), np.percentile(errors, 95), errors.max())
                    ),
                ),
            ),
        ),
    ]


@styled
def _draw(runs: FigureRuns) -> Picture:
    truths, labels, counts = _matrix(runs.of(CHOICE))
    values = np.array(counts, dtype=float)
    shares = values / values.sum(axis=1, keepdims=True)
    axes = new_axes(height_in=0.3 * len(truths) + 1.0)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in zip(*np.nonzero(values), strict=True):
        share = shares[row, column]
        colour = "white" if share > 0.6 else "black"
        axes.text(column, row, percent(share), ha="center", va="center", fontsize="x-small", color=colour)
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    axes.set_yticks(range(len(truths)), truths)
    axes.set_xlabel("label")
    axes.set_ylabel("truth")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    picture = axes.get_figure(root=True)
    assert isinstance(picture, Picture)
    return picture


def _mean_headline_error(of: Runs) -> Sample:
    return sample([abs(error) for error in scores.headline_errors(of)])


def _largest_headline_errors(of: Runs) -> Sample:
    errors = [abs(error) for error in scores.headline_errors(of)]
    return Sample((float(np.percentile(errors, 95)),), runs=len(errors))


WINDOWS_FIGURE: Final = Figure(
    id="diagnosis/windows",
    ours=True,
    paper="Diagnosis by airpath estimate: what limited a flow",
    title="Labels and bandwidths against the truth of simulated flows",
    experiments={CHOICE: {scene.name: scene.experiment for scene in SCENES}},
    draw=_draw,
    tables=_tables,
    claims=(
        Claim(
            "labels",
            "windows are labelled right",
            AtLeast(0.93),
            "share of windows whose label is the truth",
            scores.over_windows(scores.right),
        ),
        Claim(
            "recall",
            "every limit is found",
            AtLeast(0.90),
            "share of the windows with this truth that have its label; mean over truths",
            scores.recall,
        ),
        Claim(
            "main-label",
            "the most frequent label of a flow is right",
            AtLeast(0.95),
            "share of flows",
            scores.main_labels,
        ),
        Claim(
            "sure-right",
            "labels with high confidence are right",
            AtLeast(0.97),
            "share of labels with high confidence that equal the truth, in families c, d, g and i",
            scores.over_windows(scores.right_of_sure, lambda scene: scene.is_judged),
        ),
        Claim(
            "sure-often",
            "most labels have high confidence",
            AtLeast(0.70),
            "share of windows, in families c, d, g and i",
            scores.over_windows(scores.sure, lambda scene: scene.is_judged),
        ),
        Claim(
            "no-random-loss",
            "flows without random loss are not labelled with it",
            AtMost(0.02),
            "share of windows labelled random-loss in flows without random losses",
            scores.over_windows(scores.labelled("random-loss"), lambda scene: scene.limit != "random-loss"),
        ),
        Claim(
            "no-bottleneck",
            "flows that leave their link idle are not labelled bottleneck",
            AtMost(0.03),
            "share of windows labelled bottleneck, of those in which the link was not full",
            scores.bottleneck_of_idle_links,
        ),
        Claim(
            "bandwidth",
            "the bandwidth is the capacity of the link",
            AtMost(0.03),
            "error of the bandwidth of a flow relative to the capacity",
            _mean_headline_error,
        ),
        Claim(
            "bandwidth-p95",
            "large errors of the bandwidth are rare",
            AtMost(0.10),
            "95th percentile of this error over flows",
            _largest_headline_errors,
        ),
        Claim(
            "bins",
            "the bandwidth in bins of a second is the capacity of the link",
            AtMost(0.03),
            "mean error of full bins relative to the capacity",
            scores.over_bins(scores.errors, scores.is_full),
        ),
        Claim(
            "intervals",
            "intervals contain the capacity",
            AtLeast(0.93),
            "share of full bins",
            scores.over_bins(scores.covered, scores.is_full),
        ),
        Claim(
            "bounds",
            "lower bounds are not above the capacity",
            AtMost(0.02),
            "share of other bins",
            scores.over_bins(scores.above, scores.is_bound),
        ),
    ),
    notes=(
        "The truth of a window is `bottleneck` if the link carried more than 90 % of its capacity, or 80 %"
        " while packets waited in at least 90 % of its intervals of 50 ms; `stall` if the link had no"
        " capacity; otherwise the limit configured for the flow.",
        "The thresholds of the diagnosis were first chosen on other flows. Families a, b, e, f and h then"
        " revealed faults that were corrected, and the probabilities of labels were calibrated on a and b,"
        " among others. Families c, d and g did not take part, but their errors were seen; i was added after"
        " all corrections.",
        "Windows and bins of the first 3 s of a flow do not count, except in its one bandwidth.",
        "Shares are over the windows or bins of all flows together, so that a flow counts by its length;"
        " intervals are by the jackknife over flows.",
    ),
)
