"""What figures plot, as data: not pixels."""

import math
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes

from airpath import plots
from airpath.results import Results, RunResult
from airpath.views.styles import NO_SCHEME, SchemeStyle

from .realistic import record
from .synthetic import encode, flow, plan, small_record, small_tables

STYLE = {"cubic": SchemeStyle("CUBIC", "#ff0000", "s"), "reno": SchemeStyle("Reno", "#0000ff", "o")}


@pytest.fixture(scope="module")
def run() -> RunResult:
    return RunResult(small_record())


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.from_records(
        [record(scheme, n, 2, 20.0) for scheme in ("reno", "cubic") for n in range(3)]
    )


def labels(axes: Axes) -> list[str]:
    return axes.get_legend_handles_labels()[1]


def steps(axes: Axes, label: str) -> np.ndarray:
    return next(patch.get_data().values for patch in axes.patches if str(patch.get_label()).startswith(label))


def line(axes: Axes, label: str) -> np.ndarray:
    return next(drawn.get_xydata() for drawn in axes.lines if str(drawn.get_label()).startswith(label))


def test_throughput_is_the_sum_of_the_flows_over_the_capacity(run: RunResult) -> None:
    axes = plots.throughput(run, style=STYLE)
    assert steps(axes, "capacity") == pytest.approx([8, 8, 16, 4, 0, 8, 8, 8])
    assert steps(axes, "CUBIC") == pytest.approx([333_333 * 16e-6] * 6 + [8.0] * 2)
    # 1 to 4 s: four bins of 5.33 and two of 8 Mbit/s.
    assert "CUBIC, 2 flows, mean 6.22 Mbit/s" in labels(axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "throughput (Mbit/s)")


def test_traffic_without_a_controller_has_no_scheme_colour() -> None:
    tables = small_tables()
    tables["flow_series"] = encode("flow_series", {"flow": [2], "time_s": [0.5], "departed_bytes": [100]})
    axes = plots.throughput(RunResult(small_record(tables=tables)), style=STYLE)
    handles, names = axes.get_legend_handles_labels()
    colour = next(
        h.get_edgecolor() for h, name in zip(handles, names, strict=True) if name.startswith("noise")
    )
    assert mpl.colors.to_hex(colour) == NO_SCHEME.colour


def test_many_flows_become_a_band(results: Results) -> None:
    axes = plots.throughput(RunResult(record("reno", 0, 6, 10.0)), style=STYLE)
    assert "10th to 90th percentile of flows" in labels(axes)
    assert "10th to 90th percentile of flows" not in labels(
        plots.throughput(results.run("reno"), style=STYLE)
    )


def test_the_queue_has_its_limit_and_the_buffer_in_percent(run: RunResult) -> None:
    axes = plots.queue(run, style=STYLE)
    assert line(axes, "limit")[:, 1].tolist() == [100.0, 100.0]
    assert line(axes, "CUBIC")[2:, 1] == pytest.approx(np.arange(1, 7) * 1e-3)
    (percent,) = axes.child_axes
    assert percent.get_ylabel() == "% of buffer"
    assert axes.get_ylabel() == "queue (kB)"


def test_a_limit_in_packets_makes_a_queue_in_packets() -> None:
    sources = [flow("one"), flow("two"), flow("noise", None)]
    resolved = plan(sources)
    resolved["links"][0]["queue"] = {"kind": "drop-tail", "limit_bytes": None, "limit_packets": 40}
    axes = plots.queue(RunResult(small_record(plan=resolved)), style=STYLE)
    assert axes.get_ylabel() == "queue (packets)"
    assert line(axes, "limit")[0, 1] == 40


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"kind": "constant", "bps": 1}, []),
        ({"kind": "steps", "steps": [(0, 1), (10**9, 2), (3 * 10**9, 1)], "repeat_after_ns": None}, [1, 3]),
        ({"kind": "steps", "steps": [(0, 1), (10**9, 2)], "repeat_after_ns": 2 * 10**9}, [1, 2, 3]),
        ({"kind": "uniform", "low_bps": 1, "high_bps": 2, "hold_ns": 10**9}, [1, 2, 3]),
        ({"kind": "uniform", "low_bps": 1, "high_bps": 2, "hold_ns": 10**6}, []),
    ],
)
def test_capacity_changes_are_marked_unless_there_are_too_many(
    rate: dict[str, object], expected: list[float]
) -> None:
    resolved = plan([flow("one"), flow("two"), flow("noise", None)])
    resolved["links"][0]["rate"] = rate
    axes = plots.queue(RunResult(small_record(plan=resolved)), style=STYLE)
    marks = [drawn.get_xdata()[0] for drawn in axes.lines if drawn.get_linestyle() == ":"]
    assert marks == expected


def test_the_window_shows_events_and_packets(run: RunResult) -> None:
    axes = plots.window(run, style=STYLE)
    assert line(axes, "loss").tolist() == [[1.2, 14.6]]
    assert line(axes, "timeout").tolist() == [[2.2, 14.6]]
    (packets,) = axes.child_axes
    assert packets.get_ylabel() == "window (packets)"
    axes.figure.draw_without_rendering()
    assert packets.get_ylim()[1] == pytest.approx(axes.get_ylim()[1] / 1.46)


def test_events_that_would_hide_the_window_are_counted_in_the_legend() -> None:
    many = {"flow": [0] * 301, "time_s": np.linspace(1, 3, 301).tolist(), "event": [2] * 301}
    tables = {**small_tables(), "flow_events": encode("flow_events", many)}
    axes = plots.window(RunResult(small_record(tables=tables)), style=STYLE)
    assert line(axes, "ecn reduction, 301 times: not marked").size == 0


def test_delay_is_a_point_for_each_packet_if_packets_were_recorded() -> None:
    times = {"flow": [0, 0], "sent_s": [1.0, 2.0], "received_s": [1.02, 2.03]}
    tables = {**small_tables(), "packets": encode("packets", times)}
    axes = plots.one_way_delay(RunResult(small_record(tables=tables)), style=STYLE)
    points = axes.lines[0].get_xydata()
    assert points == pytest.approx(np.array([[1.02, 20.0], [2.03, 30.0]]))
    assert "CUBIC, 2 flows, p95 60 ms" in labels(axes)


def test_delay_is_otherwise_the_mean_weighted_by_departures(run: RunResult) -> None:
    drawn = line(plots.one_way_delay(run, style=STYLE), "CUBIC")
    assert drawn[:, 1] == pytest.approx([20.0] * 8)


def test_delay_of_a_single_interval_is_a_point() -> None:
    series = small_tables()["flow_series"]
    first = {name: column[:1] for name, column in series.items()}
    axes = plots.one_way_delay(
        RunResult(small_record(tables={**small_tables(), "flow_series": first})), style=STYLE
    )
    (drawn,) = axes.lines
    assert (len(drawn.get_xydata()), drawn.get_marker()) == (1, ".")


def test_fairness_over_time(run: RunResult) -> None:
    drawn = line(plots.fairness([run], style=STYLE), "CUBIC")
    assert drawn[:, 0] == pytest.approx([0.5, 1.5, 2.5, 3.5])
    assert drawn[:, 1] == pytest.approx([0.8, 0.8, 0.8, 1.0], abs=1e-5)


def test_the_delay_distribution_counts_packets(run: RunResult) -> None:
    values, part = plots.delay_distributions([run, run])["cubic"]
    exact = np.array([10.0, 20.0, 30.0, 60.0])
    # Values are the upper ends of bins that are at most 1/128 wide.
    assert ((exact <= values) & (values < exact * (1 + 1 / 128))).all()
    assert part == pytest.approx([150 / 400, 229 / 400, 379 / 400, 1.0])


def test_the_completion_distribution_leaves_the_warm_up_out(run: RunResult) -> None:
    values, part = plots.completion_distributions([run])["cubic"]
    assert values == pytest.approx([0.25, 0.5, 1.0])
    assert part == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_the_ellipse_is_one_standard_deviation() -> None:
    # Uncorrelated, variances 2 and 8 over n - 1 = 4: the half axes are the standard deviations.
    points = np.array([[10.0, 5.0], [12.0, 5.0], [8.0, 5.0], [10.0, 9.0], [10.0, 1.0]])
    contour = plots.ellipse(points)
    assert np.ptp(contour[:, 0]) / 2 == pytest.approx(math.sqrt(2), rel=2e-3)
    assert np.ptp(contour[:, 1]) / 2 == pytest.approx(math.sqrt(8), rel=2e-3)
    assert contour[:-1].mean(axis=0) == pytest.approx([10.0, 5.0])


def test_the_trade_off_has_a_reversed_axis_and_a_mean_for_each_scheme(results: Results) -> None:
    axes = plots.trade_off(results.summary, style=STYLE)
    left, right = axes.get_xlim()
    assert left > right
    rows = results.summary.to_pylist()[:3]
    mean = [np.mean([row["delay_p95_ms"] for row in rows]), np.mean([row["throughput_mbps"] for row in rows])]
    assert line(axes, "Reno")[0] == pytest.approx(mean)
    assert "ellipse" in axes.get_legend().get_title().get_text()
    one_run_each = plots.trade_off(results.summary.take([0, 3]), style=STYLE)
    assert one_run_each.get_legend().get_title().get_text() == "mark: the run"


def test_a_cross_is_not_hidden_behind_a_mark_at_its_place(results: Results) -> None:
    westwood = plots.style_for(["westwood+"])["westwood+"]
    crossed = STYLE | {"cubic": SchemeStyle("CUBIC", "#ff0000", westwood.marker)}
    orders = {
        one.get_label(): one.get_zorder() for one in plots.trade_off(results.summary, style=crossed).lines
    }
    assert orders["CUBIC"] > orders["Reno"]


@pytest.mark.parametrize(("factor", "scale"), [(1.0, "linear"), (4.5, "log")])
def test_the_delay_axis_is_logarithmic_beyond_a_factor_of_four(factor: float, scale: str) -> None:
    slow = small_tables()
    slow["delay_histogram"]["delay_s"] = slow["delay_histogram"]["delay_s"] * factor
    both = Results.from_records([small_record("cubic"), small_record("reno", tables=slow)])
    assert plots.trade_off(both.summary, style=STYLE).get_xscale() == scale


def test_bars_show_mean_and_confidence_interval(results: Results) -> None:
    axes = plots.metric_bars(results.statistics, "throughput_mbps", style=STYLE)
    rows = [row for row in results.statistics.to_pylist() if row["metric"] == "throughput_mbps"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([row["mean"] for row in rows])
    (whiskers,) = (c for c in axes.collections if len(c.get_paths()) == len(rows))
    ends = [path.vertices[:, 0].tolist() for path in whiskers.get_paths()]
    assert np.array(ends) == pytest.approx(np.array([[row["ci95_low"], row["ci95_high"]] for row in rows]))


def test_a_single_run_has_a_bar_and_no_interval() -> None:
    one = Results.from_records([small_record("cubic")])
    axes = plots.metric_bars(one.statistics, "throughput_mbps", style=STYLE)
    assert len(axes.patches) == 1
    whiskers = [path.vertices for collection in axes.collections for path in collection.get_paths()]
    marks = [line.get_xdata() for line in axes.lines]
    assert all(np.isnan(vertices[:, 0]).all() for vertices in whiskers if len(vertices))
    assert all(np.isnan(np.asarray(places, dtype=float)).all() for places in marks)


@pytest.mark.parametrize(("mean", "begins_at_zero"), [(0.01, True), (-0.01, False)])
def test_bars_begin_at_zero_unless_a_mean_is_below(
    results: Results, mean: float, begins_at_zero: bool
) -> None:
    (row, *_) = (row for row in results.statistics.to_pylist() if row["metric"] == "loss_rate")
    wide = pa.Table.from_pylist(
        [row | {"mean": mean, "ci95_low": mean - 0.1, "ci95_high": mean + 0.1, "n": 3}]
    )
    left = plots.metric_bars(wide, "loss_rate", style=STYLE).get_xlim()[0]
    assert (left == 0) == begins_at_zero


def test_a_scheme_has_one_colour_in_every_figure(results: Results) -> None:
    first = results.run("cubic")
    for axes in (
        plots.throughput(first, style=STYLE),
        plots.queue(first, style=STYLE),
        plots.window(first, style=STYLE),
    ):
        handles, names = axes.get_legend_handles_labels()
        colours = [
            mpl.colors.to_hex(handle.get_color() if hasattr(handle, "get_color") else handle.get_edgecolor())
            for handle, name in zip(handles, names, strict=True)
            if name.startswith("CUBIC")
        ]
        assert colours == ["#ff0000"]


def test_every_scheme_of_a_figure_has_its_own_marker() -> None:
    style = plots.style_for(["cubic-2008", "xcp", "xcp-ebe", "vcp-ebe", "mine"])
    markers = [look.marker for look in style.values()]
    assert len(set(markers)) == len(markers)
    assert style["xcp-ebe"].colour == plots.style_for(["xcp-ebe"])["xcp-ebe"].colour


def test_registered_schemes_look_as_registered_and_others_differ() -> None:
    style = plots.style_for(["mine", "cubic", "yours", "newreno"])
    assert style["cubic"].display_name == "TCP CUBIC"
    assert len({look.colour.lower() for look in style.values()}) == 4
    assert len({look.marker for look in style.values()}) == 4


def test_figures_do_not_depend_on_the_callers_settings_nor_change_them(run: RunResult) -> None:
    plain = plots.render(plots.throughput(run, style=STYLE).figure, "svg")
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black"}):
        before = dict(mpl.rcParams)
        other = plots.render(plots.throughput(run, style=STYLE).figure, "svg")
        assert dict(mpl.rcParams) == before
    assert other == plain


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_equal_figures_are_equal_files(results: Results, kind: str) -> None:
    first, again = (
        plots.render(plots.trade_off(results.summary, style=STYLE).figure, kind) for _ in range(2)
    )
    assert first == again


def test_legends_and_labels_stay_inside_the_figure_and_apart(results: Results) -> None:
    for width in (plots.COLUMN_IN, plots.PAGE_IN):
        for draw in (plots.throughput, plots.queue, plots.window, plots.one_way_delay):
            axes = draw(results.run("cubic"), plots.new_axes(width, 2.4), STYLE)
            figure = axes.figure
            figure.draw_without_rendering()
            legend = axes.get_legend().get_window_extent()
            assert legend.y0 >= axes.get_window_extent().y1, draw.__name__
            assert legend.x1 <= figure.bbox.x1 + 1, draw.__name__
            ticks = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
            assert not any(a.x1 > b.x0 for a, b in pairwise(ticks)), draw.__name__


def test_a_run_without_anything_can_be_drawn() -> None:
    nothing = Results.from_records([small_record(tables={})])
    drawn = plots.standard_figures(nothing)
    assert {"summary", "throughput-cubic"} <= {figure.name for figure in drawn}
    assert all(figure.file("svg").startswith(b"<?xml") for figure in drawn)


def test_file_names_are_plain_and_differ() -> None:
    schemes = ["a/b", "a:b", "../a"]
    names = [f.name for f in plots.standard_figures(Results.from_records([small_record(s) for s in schemes]))]
    assert len(names) == len(set(names))
    assert not any("/" in name or ":" in name for name in names)


def test_many_figures_are_drawn_by_other_processes_to_the_byte(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = plots.standard_figures(results)[:3]
    monkeypatch.setattr("airpath.plots.figures._WORTH_PROCESSES", len(few))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("airpath.plots.standard_figure.render", lambda *_: pytest.fail("rendered here"))
        plots.save_figures([replace(figure) for figure in few], tmp_path / "by others", workers=2)
    plots.save_figures(few, tmp_path / "here")
    assert (tmp_path / "here" / "captions.txt").read_text().startswith(f"{few[0].name}: {few[0].caption}")
    for path in (tmp_path / "here").iterdir():
        assert (tmp_path / "by others" / path.name).read_bytes() == path.read_bytes(), path.name


class GonePool:
    """A pool whose workers died."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __enter__(self) -> "GonePool":
        return self

    def __exit__(self, *_: object) -> None: ...

    asked = 0

    def submit(self, *_: object) -> Future[tuple[bytes, bytes]]:
        GonePool.asked += 1
        failed: Future[tuple[bytes, bytes]] = Future()
        failed.set_exception(BrokenProcessPool())
        return failed


def test_figures_not_plotted_by_other_processes_are_plotted_here(
    run: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airpath.plots.figures.WorkerPool", GonePool)
    (figure, *_) = plots.standard_figures(Results([run]))
    many = [replace(figure, name=str(number)) for number in range(16)]
    plots.save_figures(many, tmp_path, workers=2)
    assert GonePool.asked == 16
    assert len(list(tmp_path.glob("*.svg"))) == len(list(tmp_path.glob("*.png"))) == 16


def test_the_window_of_one_flow_of_several_names_the_flow(run: RunResult) -> None:
    assert "CUBIC, window of flow 0" in labels(plots.window(run, style=STYLE))
    alone = RunResult(record("reno", 0, 1, 10.0))
    assert "Reno, window" in labels(plots.window(alone, style=STYLE))


def test_long_names_leave_room_for_what_is_drawn() -> None:
    scheme = "cubic:beta=0.8,fast_convergence=false,reno_friendly=false,c=0.41"
    short, long = plots.style_for(["cubic:beta=0.8", scheme]).values()
    assert short.label == "cubic:beta=0.8"
    assert max(map(len, long.label.splitlines())) < 25
    named = {"reno": "reno", "cubic": scheme}
    results = Results.from_records(
        [replace(record(one, n, 2, 20.0), scheme=named[one]) for one in named for n in range(2)]
    )
    bars, trade_off = plots.summary_bars(results), plots.trade_off(results.summary).figure
    for figure, share in ((bars, 0.3), (trade_off, 0.4)):
        figure.canvas.draw()
        width = figure.get_figwidth() * figure.dpi
        assert all(axes.get_window_extent().width > share * width for axes in figure.axes)
    # Names appear once in each row.
    assert [bool(axes.get_yticklabels()[0].get_text()) for axes in bars.axes] == [True, False, True, False]


def test_a_cross_over_others_is_not_made_larger(results: Results) -> None:
    def sizes(marker: str) -> list[float]:
        style = {
            "reno": SchemeStyle("Reno", "#0000ff", marker),
            "cubic": SchemeStyle("CUBIC", "#ff0000", "s"),
        }
        axes = plots.trade_off(same, style=style)
        return [drawn.get_markersize() for drawn in axes.lines if drawn.get_label() in ("Reno", "CUBIC")]

    summary = results.summary
    columns = [pa.array(np.ones(summary.num_rows)) for _ in range(2)]
    same = summary
    for name, column in zip(("throughput_mbps", "delay_p95_ms"), columns, strict=True):
        same = same.set_column(same.schema.get_field_index(name), name, column)
    assert sizes("o") == [12.0, 7.0]
    assert sizes("P") == [6.0, 7.0]


def many(count: int) -> Results:
    """Return results of this number of schemes with equal runs, the last with a name of many options."""
    names = [f"scheme-{number}" for number in range(count - 1)]
    names.append("cubic:beta=0.8,c=0.123456789,fast_convergence=false,slow_start=standard")
    return Results.from_records([small_record(name) for name in names])


def test_marks_of_a_legend_do_not_cover_names() -> None:
    axes = plots.trade_off(many(13).summary)
    assert max(drawn.get_markersize() for drawn in axes.lines) <= 27.0
    sizes = [handle.get_markersize() for handle in axes.get_legend().legend_handles]
    assert (len(sizes), max(sizes)) == (13, 8.0)


def test_a_long_legend_leaves_the_axes_their_height() -> None:
    axes = plots.fairness(many(13).runs)
    axes.figure.draw_without_rendering()
    assert len(labels(axes)) == 13
    assert axes.get_window_extent().height > 0.4 * 2.4 * axes.figure.dpi


def test_labels_of_several_lines_stay_apart() -> None:
    figure = plots.summary_bars(many(13))
    figure.draw_without_rendering()
    names = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert not any(one.y0 < other.y1 for one, other in pairwise(names))


def test_schemes_without_a_delay_are_named_with_a_dash() -> None:
    nobody_arrived = small_tables() | {"delay_histogram": encode("delay_histogram", {})}
    axes = plots.one_way_delay(RunResult(small_record(tables=nobody_arrived)))
    assert labels(axes)
    assert all(label.endswith("p95 —") for label in labels(axes))


def test_only_lines_that_coincide_everywhere_are_hidden() -> None:
    spans = np.array([10.0, 100.0])
    one, near, far = (np.array([[5.0 + more, 50.0]]) for more in (0.0, 0.1, 0.2))
    assert plots.style.layers_above([one, near, far, one], spans) == [2, 2, 0, 0]


def test_lines_that_differ_somewhere_are_not_hidden() -> None:
    line = np.arange(10.0)[:, np.newaxis]
    apart = line.copy()
    apart[7] += 1.0
    assert plots.style.layers_above([line, apart, line], np.array([9.0])) == [1, 0, 0]


def test_lines_without_points_hide_nothing() -> None:
    nowhere = np.array([[np.nan, 1.0]])
    assert plots.style.layers_above([nowhere, nowhere], np.array([0.0, 0.0])) == [0, 0]


def test_lines_that_differ_on_a_logarithmic_axis_are_not_merged() -> None:
    tables = small_tables()

    def scaled(by: float) -> RunResult:
        histogram = tables["delay_histogram"] | {"delay_s": tables["delay_histogram"]["delay_s"] * by}
        return RunResult(small_record(tables=tables | {"delay_histogram": histogram}))

    fast, slow, slowest = scaled(1e-3), scaled(2e-3), scaled(1.0)
    runs = [
        RunResult(replace(run.record, scheme=scheme), run.tables)
        for scheme, run in zip(("reno", "cubic", "bbr"), (fast, slow, slowest), strict=True)
    ]
    axes = plots.delay_distribution(runs)
    assert axes.get_xscale() == "log"
    assert len({drawn.get_linewidth() for drawn in axes.lines}) == 1
