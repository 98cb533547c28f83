"""The main job, shortened: what `make run` prints and writes."""

from pathlib import Path

import pytest

from airpath import main_job


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
        assert (tmp_path / "main-job" / part.name / "report.html").is_file()


def test_every_end_to_end_scheme_that_adapts_takes_part():
    from airpath.schemes import SCHEMES

    end_to_end = {scheme.id for scheme in SCHEMES if scheme.router is None}
    assert end_to_end - {"fixed"} <= set(main_job.SCHEMES)
    for part in main_job.parts():
        assert set(part.scenarios) == set(main_job.SCHEMES)


def test_the_repetitions_over_lte_differ():
    (lte, _ebe) = main_job.parts()
    starts = [flow["start_ns"] for flow in lte.scenarios["cubic"].plan()["flows"]]
    assert all(start["kind"] == "uniform" for start in starts)
