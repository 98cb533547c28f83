"""The main job, shortened: what `make run` prints and writes."""

from html import escape
from pathlib import Path

import pytest

from airpath import _main_job as main_job
from airpath.explorer.page import page
from airpath.runner import run_all
from airpath.schemes import find_scheme
from airpath.views.view import view_of


@pytest.fixture
def short_parts():
    return [
        main_job.Part(
            part.name,
            part.title,
            {
                scheme: scenario.override({"duration": "3s", "record.warm_up": "0s"})
                for scheme, scenario in part.scenarios.items()
            },
        )
        for part in main_job.parts()
    ]


def test_both_comparisons_and_a_page_that_links_them(short_parts, tmp_path: Path, capsys, monkeypatch):
    monkeypatch.setattr(main_job, "REPETITIONS", 2)
    main_job.run_parts(short_parts, tmp_path / "main-job")
    printed = capsys.readouterr().out
    page = (tmp_path / "main-job" / "index.html").read_text()
    for part in short_parts:
        assert part.title in printed
        assert f'href="{part.name}/report.html"' in page
        findings = printed.split(part.title)[1].split("most throughput")[1].splitlines()[0]
        assert "most throughput" + escape(findings) in page
        assert (tmp_path / "main-job" / part.name / "report.html").is_file()


@pytest.mark.parametrize(("place", "most_kb"), [(0, 400), (1, 600)])
def test_the_reports_are_within_their_budgets(place, most_kb):
    results = run_all(main_job.parts()[place].scenarios, repetitions=main_job.REPETITIONS, progress=False)
    scenario_and_provenance_kb = 15
    size = len(page(view_of(results)).encode())
    assert size <= (most_kb - scenario_and_provenance_kb) * 1000


def test_each_part_compares_the_same_schemes():
    for part in main_job.parts():
        assert tuple(part.scenarios) == main_job.SCHEMES


def test_estimators_at_senders_and_at_routers_take_part():
    chosen = [find_scheme(scheme) for scheme in main_job.SCHEMES]
    assert {scheme.controller for scheme in chosen if scheme.router is None} >= {"newreno", "cubic", "bbr"}
    assert any(scheme.estimator and scheme.router is None for scheme in chosen)
    assert any(scheme.estimator and scheme.router is not None for scheme in chosen)


def test_the_repetitions_over_lte_differ():
    (lte, _ebe) = main_job.parts()
    starts = [flow["start_ns"] for flow in lte.scenarios["cubic"].plan()["flows"]]
    assert all(start["kind"] == "uniform" for start in starts)
