"""What the figures of routers plot, as data."""

import numpy as np
import pytest
from matplotlib.axes import Axes

from airpath import plots
from airpath.plots import standard_figures
from airpath.results import Results, RunResult

from .router import CAPACITY_BPS, ENDS, ESTIMATE_BPS, QUEUE, quantities, router_record
from .synthetic import small_record


@pytest.fixture(scope="module")
def run() -> RunResult:
    return RunResult(router_record())


def line(axes: Axes, label: str) -> np.ndarray:
    return next(drawn.get_xydata() for drawn in axes.lines if str(drawn.get_label()).startswith(label))


def labels(axes: Axes) -> list[str]:
    return axes.get_legend_handles_labels()[1]


def test_the_estimate_is_drawn_over_the_truth_and_its_error_below(run: RunResult) -> None:
    above, below = plots.estimation(run).axes
    (truth,) = above.patches
    assert truth.get_data().values == pytest.approx(CAPACITY_BPS / 1e6)
    assert truth.get_data().edges == pytest.approx(np.append(ENDS - 0.5, 20))
    assert line(above, "XCP-EBE")[:, 1] == pytest.approx(ESTIMATE_BPS / 1e6)
    assert line(below, "XCP-EBE")[19:22, 1] == pytest.approx([-5, 100, 50])
    assert below.get_ylim()[1] >= 100
    assert above.get_xlim() == below.get_xlim() == (0, 20)


def test_a_configured_capacity_is_no_estimate(run: RunResult) -> None:
    record = router_record()
    queue = record.plan["links"][0]["queue"]
    record.plan["links"][0]["queue"] = {**queue, "source": {"kind": "configured", "capacity": 8_000_000}}
    told = RunResult(record)
    assert any(label.endswith(", estimate") for label in labels(plots.capacity_estimate(run)))
    assert any(label.endswith(", configured capacity") for label in labels(plots.capacity_estimate(told)))
    captions = [figure.caption for figure in standard_figures(Results([told]))]
    assert any("goes by (configured capacity)" in caption for caption in captions)


def test_a_huge_error_is_cut_off() -> None:
    wrong = RunResult(router_record({"capacity_estimate_bps": 1000 * CAPACITY_BPS}))
    assert plots.estimate_error(wrong).get_ylim()[1] == 400


def test_the_filter_is_plotted_with_its_measurements(run: RunResult) -> None:
    queue, rate, covariance, gain = plots.filter_state(run).axes
    reported = quantities()
    assert line(queue, "z")[:, 1] == pytest.approx(reported["queue_mean_packets"])
    assert line(queue, "filter")[:, 1] == pytest.approx(reported["x1"])
    assert line(rate, "filter")[:, 1] == pytest.approx(reported["x2"])
    assert labels(covariance) == ["P11", "P12", "P22"]
    assert labels(gain) == ["K1", "K2"]
    assert line(covariance, "P12")[:, 1] == pytest.approx(-1e-6)


def test_load_factor_and_feedback(run: RunResult) -> None:
    assert line(plots.load_factor(run), "XCP-EBE")[:, 1] == pytest.approx(quantities()["load_factor"])
    assert line(plots.feedback(run), "XCP-EBE")[:, 1] == pytest.approx(quantities()["feedback"] * 8e-6)


def test_the_queue_is_a_share_of_the_buffer_with_the_threshold(run: RunResult) -> None:
    axes = plots.queue_share(run)
    assert line(axes, "XCP-EBE")[:, 1] == pytest.approx(np.linspace(0, 50, 40))
    assert line(axes, "maintainer's threshold, 15 %")[:, 1] == pytest.approx([15, 15])
    assert "maintainer on" in labels(axes)
    plain = plots.queue_share(RunResult(small_record()))
    assert not any("maintainer" in label for label in labels(plain))


def test_a_run_with_a_router_has_its_figures_in_the_report(run: RunResult) -> None:
    results = Results([run, RunResult(small_record())])
    figures = standard_figures(results)
    names = [figure.name for figure in figures if figure.run is run]
    parts = ("estimate", "filter", "load-factor", "feedback", "queue-share")
    assert [name for name in names if name.startswith(parts)] == [f"{part}-xcp-ebe" for part in parts]
    assert not any(figure.name.startswith(parts) for figure in figures if figure.run is not run)


def test_only_reported_quantities_are_plotted() -> None:
    few = RunResult(router_record({"capacity_estimate_bps": ESTIMATE_BPS}))
    names = {figure.name for figure in standard_figures(Results([few]))}
    assert {"estimate-xcp-ebe", "queue-share-xcp-ebe"} <= names
    assert not names & {"filter-xcp-ebe", "load-factor-xcp-ebe", "feedback-xcp-ebe"}


def test_a_plain_queue_has_no_figures_of_a_router() -> None:
    record = router_record()
    record.plan["links"][0]["queue"] = {"kind": "drop-tail", **QUEUE}
    names = {figure.name for figure in standard_figures(Results([RunResult(record)]))}
    assert "queue-share-xcp-ebe" not in names
