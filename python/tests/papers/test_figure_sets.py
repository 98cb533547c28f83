"""Figures of other distributions, registered by entry points."""

import sys

import pytest

from airpath_papers.drawn import draw_all
from airpath_papers.registry import FIGURES, figure_named, figures, select
from airpath_papers.store import RunStore

SET = """
from dataclasses import replace
from airpath_papers.registry import FIGURES
EMPTY = replace(FIGURES[0], experiments={}, claims=(), draw=None)
OWN = (replace(EMPTY, id="own/fig1"), replace(EMPTY, id="own/fig2"))
"""


@pytest.fixture
def register(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def register(target):
        (tmp_path / "airpath_test_figures.py").write_text(SET)
        info = tmp_path / "airpath_test_figures-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: airpath-test-figures\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[airpath.figures]\nown = {target}\n")

    yield register
    sys.modules.pop("airpath_test_figures", None)


def test_a_set_is_listed_after_the_others_and_selected_by_name(register):
    register("airpath_test_figures:OWN")
    assert figures()[: len(FIGURES)] == FIGURES
    assert [one.id for one in figures()[len(FIGURES) :]] == ["own/fig1", "own/fig2"]
    assert [one.id for one in select(["own"])] == ["own/fig1", "own/fig2"]
    assert figure_named("own/fig2") is figures()[-1]
    assert select()[-1].id == "own/fig2"


def test_workers_find_the_figures_of_a_set(register, tmp_path):
    register("airpath_test_figures:OWN")
    drawn = draw_all(select(["own"]), None, RunStore(tmp_path / "runs"), workers=2)
    assert [one.tables for one in drawn] == [(), ()]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("airpath_papers.registry:FIGURES", "another figure has the id ebe-j/fig1"),
        ("airpath_papers.registry:ALL", "found str; accepted: a sequence of airpath_papers.figure.Figure"),
    ],
)
def test_a_set_that_cannot_be_added_is_reported_and_ignored(register, capsys, target, reason):
    register(target)
    assert figures() == FIGURES
    line = "airpath: airpath-test-figures: the entry point own in airpath.figures is ignored: "
    assert capsys.readouterr().err == f"{line}{reason}\n"
