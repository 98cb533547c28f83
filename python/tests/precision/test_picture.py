"""The figure of half-widths over repetitions plots the half-widths of the intervals."""

import pickle

import pytest

import airpath
from airpath import plots
from airpath.precision.reached import judge
from airpath.results import Results


@pytest.fixture(scope="module")
def results() -> Results:
    rule = airpath.PrecisionRule(0.001, min_repetitions=3, max_repetitions=6)
    return airpath.compare(["newreno", "cubic"], "lte.down", duration="2s", until=rule, jobs=2)


@pytest.mark.parametrize("added", [True, False])
def test_lines_end_at_the_achieved_precision(results, added):
    shown = results if added else Results(results.runs)
    axes = plots.precision(shown)
    lines = {line.get_label(): line for line in axes.lines}
    for one, name in zip(
        judge(shown.summary, shown.until).schemes, ("TCP NewReno", "TCP CUBIC"), strict=True
    ):
        assert list(lines[name].get_xdata()) == [2, 3, 4, 5, 6]
        assert lines[name].get_ydata()[-1] == pytest.approx(100 * one.share)
    assert list(axes.get_xticks()) == [2, 3, 4, 5, 6]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [pytest.approx(0.1 if added else 5.0)]
    upright = [line for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert [line.get_xdata()[0] for line in upright] == ([3, 6] if added else [])


def test_it_is_a_standard_figure_from_five_repetitions_on(results):
    def names(runs):
        return {figure.name for figure in plots.standard_figures(Results(runs))}

    cubic = [run for run in results.runs if run.record.scheme == "cubic"]
    assert "precision" in names(cubic[:5])
    assert "precision" not in names(cubic[:4])


@pytest.mark.processes
def test_other_processes_can_draw_it(results):
    (figure,) = [figure for figure in plots.standard_figures(results) if figure.name == "precision"]
    assert pickle.loads(pickle.dumps(figure.figure)) is not None
