"""The report of captures: flows, delivered rates, estimates, round trips."""

from pathlib import Path

import numpy as np
import pytest
from pages import Page

from airpath.captures import CaptureAnalysis, analyse, view_of_captures
from airpath.captures.answer_view import NAMES
from airpath.cli import main
from airpath.explorer.page import page


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "out"
    setting = 'record.capture=["bottleneck","bottleneck-reverse"]'
    with pytest.raises(SystemExit):
        main(
            [
                "run",
                "lte-download",
                "--set",
                "duration=8s",
                "--set",
                setting,
                "--reps",
                "1",
                "--out",
                str(out),
            ]
        )
    return next((out / "captures").iterdir())


@pytest.fixture(scope="module")
def found(capture: Path) -> CaptureAnalysis:
    return analyse(capture)


def test_the_series_of_a_flow_are_on_the_page(found: CaptureAnalysis) -> None:
    shown = Page(page(view_of_captures([found])))
    panels = {panel["key"]: panel for panel in shown.head["panels"]}
    (flow,) = found.flows
    full, least = (
        {"values": shown.values(line[6:]), "label": line[2]} for line in panels["answer"]["lines"][:2]
    )
    assert (full["label"], least["label"]) == ("link full", "at least")
    answer = flow.diagnosis.answer
    known = np.isfinite(full["values"]) | np.isfinite(least["values"])
    assert not (np.isfinite(full["values"]) & np.isfinite(least["values"])).any()
    assert known.mean() > 0.9
    assert np.nanmax(full["values"]) == pytest.approx(answer.rate_bps[answer.full].max() * 1e-6, rel=1e-4)
    stretches = panels["limits"]["stretches"]
    shares = {
        name: sum(to - start for _, label, _, start, to in stretches if label == name)
        for name in NAMES.values()
    }
    for share in flow.diagnosis.shares:
        assert shares[NAMES[share.label]] == pytest.approx(share.seconds, rel=1e-3)
    rate = shown.values(panels["rate"]["lines"][0][6:])
    assert np.nanmax(rate) == pytest.approx(np.nanmax(flow.series["delivered_bps"]) * 1e-6, rel=1e-4)
    names = {line[2] for line in panels["estimate"]["lines"]}
    assert {"sarbe", "westwood+", "delivery-rate"} <= names
    assert panels["estimate"]["top"] == pytest.approx(1.5 * np.nanmax(rate), rel=1e-3)
    assert {mark[2] for mark in shown.head["marks"]} == {"retransmission"}
    headline = answer.headline
    bandwidth = next(column for column in shown.head["columns"] if column["metric"] == "bandwidth")["cells"][
        0
    ]
    assert bandwidth[0] == pytest.approx(headline.rate_bps * 1e-6)
    assert bandwidth[3].startswith("≥") != headline.full
    delivered = next(column for column in shown.head["columns"] if column["metric"] == "delivered_bps")
    assert delivered["cells"][0][0] == pytest.approx(flow.facts["delivered_bps"] * 1e-6)


def test_the_command_writes_the_page_and_prints_its_path(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more, written in ((["--no-report"], False), (["--force"], True)):
        with pytest.raises(SystemExit) as left:
            main(["estimate", str(capture), "--out", str(tmp_path / "out"), *more])
        assert left.value.code == 0
        assert (tmp_path / "out" / "report.html").is_file() == written
        assert ("report.html" in capsys.readouterr().out) == written


def test_captures_without_flows_have_a_page_too() -> None:
    shown = Page(page(view_of_captures([])))
    assert "No flow carried data" in shown.text
