"""The standard figures of results, each with a caption."""

import re
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pyarrow as pa
from matplotlib.figure import Figure

from airpath._os.processes import WorkerPool
from airpath.plots.comparison import bar_heights_in, metric_bars, trade_off
from airpath.plots.distributions import (
    completion_distribution,
    delay_distribution,
)
from airpath.plots.over_time import fairness, one_way_delay, queue, throughput, window
from airpath.plots.repetitions import precision, precision_points
from airpath.plots.router_figures import router_figures
from airpath.plots.standard_figure import StandardFigure, figure_of
from airpath.plots.style import COLUMN_IN, PAGE_IN, Kind, new_axes, render, styled
from airpath.results import Results
from airpath.views.distributions import completion_distributions, delay_distributions
from airpath.views.styles import Style, style_for


def standard_figures(results: Results, style: Style | None = None) -> list[StandardFigure]:
    """Return figures of all runs together, then of the first run of each scheme.

    Figures without any data are left out.

    Parameters
    ----------
    results
        The results.
    style
        Style of each scheme; as registered by default.
    """
    style = style or style_for(results.schemes)
    return [*_comparisons(results, style), *_single_runs(results, style)]


def save_figures(
    figures: list[StandardFigure], directory: Path, workers: int = 1, kinds: Sequence[Kind] = ("png", "svg")
) -> None:
    """Write each figure, and the captions, into `directory`, which is made if absent.

    Parameters
    ----------
    figures
        The figures.
    directory
        The directory.
    workers
        Number of processes that plot. With more than one, the calling program must be importable
        (``if __name__ == "__main__"``), as for every process that Python starts.
    kinds
        The kinds of files of each figure.
    """
    directory.mkdir(parents=True, exist_ok=True)
    _render(figures, workers, kinds)
    for figure in figures:
        for kind in kinds:
            (directory / f"{figure.name}.{kind}").write_bytes(figure.file(kind))
    captions = "".join(f"{figure.name}: {figure.caption}\n\n" for figure in figures)
    (directory / "captions.txt").write_text(captions, encoding="utf-8")


_WORTH_PROCESSES = 16
"""The number of figures from which processes save time: starting them takes a second, as do four figures."""


def _render(figures: list[StandardFigure], workers: int, kinds: Sequence[Kind]) -> None:
    """Render the files of many figures in other processes; those of few figures are rendered on demand."""
    if workers < 2 or len(figures) < _WORTH_PROCESSES:
        return
    with WorkerPool(workers, preload=("airpath.plots",)) as pool:
        files = [pool.submit(_files, figure.figure, tuple(kinds)) for figure in figures]
        for figure, pending in zip(figures, files, strict=True):
            try:
                figure.keep(pending.result())
            except BrokenProcessPool:
                return


def _files(figure: Figure, kinds: Sequence[Kind]) -> dict[Kind, bytes]:
    return {kind: render(figure, kind) for kind in kinds}


@styled
def summary_bars(results: Results, style: Style | None = None, width_in: float = PAGE_IN) -> Figure:
    """Plot bars of the main metrics that have a value, four at most, each with its confidence interval."""
    statistics = results.statistics
    with_value = {row["metric"] for row in statistics.to_pylist() if row["n"]}
    metrics = [metric for metric in _BARS if metric in with_value][:4] or [_BARS[0]]
    columns = 2 if width_in > COLUMN_IN and len(metrics) > 1 else 1
    rows = -(-len(metrics) // columns)
    looks = style or style_for(results.schemes)
    height = rows * (0.65 + sum(bar_heights_in(looks[scheme].label for scheme in results.schemes)))
    figure = Figure(figsize=(width_in, height), layout="constrained")
    for number, metric in enumerate(metrics):
        axes = metric_bars(statistics, metric, figure.add_subplot(rows, columns, number + 1), style)
        if number % columns and _drawn(statistics, metric) == _drawn(statistics, metrics[number - 1]):
            axes.set_yticklabels([])  # the labels are on the left
    return figure


def _drawn(statistics: pa.Table, metric: str) -> list[str]:
    """Return the schemes with a value of a metric."""
    return [row["scheme"] for row in statistics.to_pylist() if row["metric"] == metric and row["n"]]


_BARS = ("throughput_mbps", "delay_p95_ms", "utilisation", "loss_rate", "jain_index", "completion_p95_s")


def _comparisons(results: Results, style: Style) -> list[StandardFigure]:
    runs, first = results.runs, results.first_runs()
    repeated = len(runs) > len(first)
    figures = []
    if delay_distributions(runs):
        figures.append(
            StandardFigure(
                "trade-off",
                "Throughput against 95th percentile of one-way delay; the delay axis is reversed, so up "
                "and right is better. Small points are runs, marks their means, ellipses one standard "
                "deviation of the runs.",
                figure_of(trade_off(results.summary, style=style)),
            )
        )
    figures.append(
        StandardFigure(
            "summary",
            "Means over repetitions with 95 % confidence intervals (Student's t)."
            if repeated
            else "Of one run of each scheme, so without intervals.",
            summary_bars(results, style),
        )
    )
    if precision_points(results):
        figures.append(
            StandardFigure(
                "precision",
                "How well means are known after each repetition: half-width of the interval as a share of "
                "the mean, against what is enough (dashed). Where repetitions were added, the intervals are "
                "those by which they were, and grey lines are looks; else the usual 95 % (Student's t).",
                figure_of(precision(results, style=style)),
            )
        )
    if delay_distributions(runs):
        figures.append(
            StandardFigure(
                "delay-distribution",
                "Cumulative distribution of one-way delay over all data packets of the flows under test "
                "received in the measured span, all repetitions together.",
                figure_of(delay_distribution(runs, new_axes(PAGE_IN * 0.7, 2.8), style)),
            )
        )
    if completion_distributions(runs):
        figures.append(
            StandardFigure(
                "completion-distribution",
                "Cumulative distribution of completion time (first packet to last byte acknowledged) over "
                "the transfers that started in the measured span and ended, all repetitions together.",
                figure_of(completion_distribution(runs, new_axes(PAGE_IN * 0.7, 2.8), style)),
            )
        )
    if any(run.metrics["jain_index_windowed"] == run.metrics["jain_index_windowed"] for run in first):
        figures.append(
            StandardFigure(
                "fairness",
                "Jain index of the throughputs of the long-lived flows under test in windows of 1 s, over "
                "the flows active throughout the window; first repetition of each scheme.",
                figure_of(fairness(first, style=style)),
            )
        )
    return figures


def _single_runs(results: Results, style: Style) -> list[StandardFigure]:
    figures = []
    names: set[str] = set()
    for run in results.first_runs():
        stem = _file_stem(run.record.scheme, names)
        names.add(stem)
        figures += [
            StandardFigure(
                f"throughput-{stem}",
                "Rate of wire bytes leaving the measuring link, in bins of 500 ms, over the link's "
                "capacity (shaded). Several flows of a group are drawn as their sum, with each flow thin "
                "or, of more than four, as the band between their 10th and 90th percentile. Means are over "
                "the measured span.",
                figure_of(throughput(run, style=style)),
                run,
            ),
            StandardFigure(
                f"queue-{stem}",
                "Queue of the link under test: time-weighted mean and, where recorded, longest in each "
                "interval.",
                figure_of(queue(run, style=style)),
                run,
            ),
            StandardFigure(
                f"delay-{stem}",
                "One-way delay of data packets: each packet if packets were recorded, else mean (line) and "
                "largest (band) in each interval; 95th percentile over packets by nearest rank.",
                figure_of(one_way_delay(run, style=style)),
                run,
            ),
        ]
        if run.flow_series.num_rows:
            figures.append(
                StandardFigure(
                    f"window-{stem}",
                    "Congestion window and slow-start threshold of the first flow under test at the end of "
                    "each interval, with its congestion events; of more than two flows in its group also "
                    "the band between the 10th and 90th percentile of their windows.",
                    figure_of(window(run, style=style)),
                    run,
                )
            )
        figures += router_figures(run, stem, style)
    return figures


def _file_stem(name: str, used: set[str]) -> str:
    """Return a file name for a scheme that is not in use, whatever characters the scheme contains."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", name).strip(".") or "scheme"
    stem, number = plain, 2
    while stem in used:
        stem, number = f"{plain}-{number}", number + 1
    return stem
