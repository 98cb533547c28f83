"""From a figure to plots, report and verdicts: a small figure of ours, one of the paper by the command."""

import json
import shutil
from dataclasses import replace

import pytest

from airpath.cli import main, output
from airpath.errors import OutputError
from airpath_papers.claim import Claim
from airpath_papers.cli import HELP, _show
from airpath_papers.drawing import over_time_by_choice
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure
from airpath_papers.measures import of_each, utilisation
from airpath_papers.registry import FIGURES
from airpath_papers.reproduce import reproduce, verdicts
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.sample import FewerRuns, difference, sample

KEYS = [
    "paper",
    "figure",
    "sentence",
    "claim",
    "expected",
    "measured",
    "ci_low",
    "ci_high",
    "n",
    "verdict",
    "note",
]
NUMBERS = ["measured", "ci_low", "ci_high", "n"]


def nothing(_share: float) -> None:
    return None


@pytest.fixture
def figure(tiny):
    slow = {"topology.bottleneck.rate": "1mbps"}
    return Figure(
        id="test/small",
        paper="Test",
        title="A <small> figure",
        experiments={
            "normal": {one: Experiment(tiny, one, {}, 2) for one in ("newreno", "cubic")},
            "slow": {one: Experiment(tiny, one, slow, 2) for one in ("newreno", "cubic")},
        },
        draw=lambda runs: over_time_by_choice(runs, "utilisation"),
        claims=(
            Claim(
                "busy",
                "the link is busy",
                AtLeast(0.1),
                "utilisation",
                lambda of: sample(of_each(of("newreno"), utilisation)),
            ),
            Claim(
                "same",
                "a scheme beats itself",
                Positive(),
                "difference",
                lambda of: difference(of_each(of("cubic"), utilisation), of_each(of("cubic"), utilisation)),
                reason="of course",
            ),
        ),
        notes=("a note",),
    )


def test_a_figure_produces_plots_report_and_verdicts(figure, tmp_path):
    out = tmp_path / "out"
    missing = []
    done = reproduce([figure], out, repetitions=None, workers=2, on_progress=nothing, on_start=missing.append)
    assert missing == [8]
    assert (out / "figures" / "test-small.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((out / "verdicts.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(verdicts(done)))
    busy, same = written
    assert list(busy) == [*KEYS, "readings", "choices"]
    assert (busy["paper"], busy["figure"], busy["verdict"], busy["n"]) == ("Test", "small", "reproduced", 2)
    assert busy["ci_low"] <= busy["measured"] <= busy["ci_high"]
    assert (same["measured"], same["verdict"], same["note"]) == (0.0, "not reproduced", "of course")
    assert [one["choice"] for one in busy["choices"]] == ["normal", "slow"]
    for entry in written:
        assert all(list(one) == ["choice", *NUMBERS, "verdict"] for one in entry["choices"])
        headline, other = entry["choices"]
        assert [headline[name] for name in NUMBERS] == [entry[name] for name in NUMBERS]
        assert headline["verdict"] == other["verdict"] == entry["verdict"]
    assert busy["choices"][1]["measured"] != busy["measured"]
    assert json.loads((out / "counts.json").read_text(encoding="utf-8")) == [
        {
            "paper": "Test",
            "claims": 2,
            "sentences": 2,
            "reproduced": 1,
            "reproduced in part": 0,
            "not reproduced": 1,
            "readings": [],
        }
    ]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "A &lt;small&gt; figure" in page
    assert 'href="#test-small"' in page
    assert "<script" not in page
    assert "not reproduced" in page


def test_report_and_verdicts_have_the_outcome_under_each_reading(figure, tmp_path, capsys):
    read = replace(
        figure,
        readings={"normal": ["normal"], "slow": ["slow"]},
        sentences={"link": ("busy", "same")},
    )
    out = tmp_path / "out"
    done = reproduce([read], out, repetitions=1, workers=1, on_progress=nothing)
    busy, same = json.loads((out / "verdicts.json").read_text(encoding="utf-8"))
    assert busy["sentence"] == same["sentence"] == "link"
    assert busy["readings"] == {"normal": "reproduced", "slow": "reproduced"}
    (counts,) = json.loads((out / "counts.json").read_text(encoding="utf-8"))
    assert (counts["sentences"], counts["reproduced in part"]) == (1, 1)
    assert [one["reading"] for one in counts["readings"]] == ["normal", "slow"]
    page = (out / "report.html").read_text(encoding="utf-8")
    for words in ("headline reading normal, others slow", "sentence: link", "slow\N{NO-BREAK SPACE}✓"):
        assert words in page
    _show(done)
    shown = capsys.readouterr().out
    assert "other readings" in shown
    assert "sentences" in shown


def test_a_second_call_runs_nothing_and_has_the_same_results(figure, tmp_path):
    out = tmp_path / "out"
    missing = []
    for _ in range(2):
        reproduce([figure], out, repetitions=None, workers=2, on_progress=nothing, on_start=missing.append)
        missing.append((out / "verdicts.json").read_text(encoding="utf-8"))
    assert missing == [8, missing[1], 0, missing[1]]


@pytest.mark.processes
def test_two_processes_do_not_reproduce_in_one_directory(figure, tmp_path):
    out = tmp_path / "out"

    def another(_missing: int) -> None:
        with pytest.raises(OutputError, match="another process reproduces in"):
            reproduce([figure], out, repetitions=None, workers=1, on_progress=nothing)

    reproduce([figure], out, repetitions=None, workers=1, on_progress=nothing, on_start=another)
    assert (out / "report.html").is_file()


def test_unfinished_files_of_a_killed_process_are_removed(figure, tmp_path):
    out = tmp_path / "out"
    mine = tmp_path / "out" / "notes.2026"
    unfinished = [
        out / "verdicts.json.77",
        out / "figures" / "a-b.png.77",
        out / "runs" / "ab" / "1.arrow.77",
    ]
    for file in (*unfinished, mine):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{")
    reproduce([figure], out, repetitions=None, workers=1, on_progress=nothing)
    assert mine.is_file()
    assert not [file for file in unfinished if file.exists()]


def test_the_cost_of_figures_counts_shared_runs_once(figure, tmp_path):
    out = tmp_path / "out"
    other = replace(figure, id="test/other", experiments={"normal": figure.experiments["normal"]}, draw=None)
    other = replace(other, claims=figure.claims[:1])
    reproduce([figure, other], out, repetitions=None, workers=2, on_progress=nothing)
    first, second = json.loads((out / "costs.json").read_text(encoding="utf-8"))
    assert (first["runs"], first["new_runs"], second["runs"], second["new_runs"]) == (8, 8, 4, 0)
    assert first["cpu_s"] == first["new_cpu_s"] > second["cpu_s"] > second["new_cpu_s"] == 0.0


def test_figures_drawn_in_other_processes_are_the_same(tmp_path):
    figures = [one for one in FIGURES if one.id in {"ebe-c/fig4", "ebe-c/fig5"}]
    assert len(figures) == 2
    out = {workers: tmp_path / str(workers) for workers in (1, 2)}
    reproduce(figures, out[1], repetitions=1, workers=1, on_progress=nothing)
    # Only the figures are plotted again. `cli/test_runner.py` tests that the number of processes does not
    # change runs.
    shutil.copytree(out[1] / "runs", out[2] / "runs")
    reproduce(figures, out[2], repetitions=1, workers=2, on_progress=nothing)
    names = {file.relative_to(out[1]) for file in out[1].rglob("*") if file.is_file()}
    same = {name for name in names if name.name not in {"costs.json", ".lock"} and name.suffix != ".arrow"}
    assert len(same) == 2 * 2 + 3
    for name in same:
        assert (out[1] / name).read_bytes() == (out[2] / name).read_bytes(), name


def test_single_runs_have_no_interval(figure, tmp_path):
    done = reproduce([figure], tmp_path / "out", repetitions=1, workers=1, on_progress=nothing)
    busy = verdicts(done)[0]
    assert (busy["n"], busy["ci_low"], busy["ci_high"]) == (1, None, None)
    assert "a single run" in busy["note"]


def test_fewer_runs_than_usual_are_those_of_the_experiments_that_a_claim_needs(figure, tmp_path):
    more = {label: one.repeated(None) for label, one in figure.experiments["normal"].items()}
    more["newreno"] = replace(more["newreno"], repetitions=1)
    figure = replace(figure, experiments={"normal": more})
    done = reproduce([figure], tmp_path / "out", repetitions=1, workers=1, on_progress=nothing)
    ((busy, same),) = (one.judgements for one in done)
    assert busy.headline.fewer is None  # one run is the figure's own number
    assert same.headline.fewer == FewerRuns(1, 2)
    assert same.note.startswith(
        "evaluated from 1 of 2 runs, too few for a verdict; one run shows no significance"
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_in_the_terminal_names_the_choice_that_agrees(figure, tmp_path, capsys, monkeypatch, width):
    monkeypatch.setattr(output, "WIDTH_WITHOUT_TERMINAL", width)
    done = reproduce([figure], tmp_path / "out", repetitions=None, workers=1, on_progress=nothing)
    normal, slow = (done[0].judgements[0].samples[choice].mean for choice in ("normal", "slow"))
    assert normal > slow
    claims = (replace(figure.claims[0], rule=AtMost((normal + slow) / 2)), figure.claims[1])
    _show([replace(done[0], figure=replace(figure, claims=claims))])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    agreeing = str(done[0].judgements[0].samples["slow"])
    assert f"reproduced in part: {agreeing} under “slow”" in " ".join(shown.split())


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["reproduce", *arguments])
    assert isinstance(leaving.value.code, int)
    return leaving.value.code


def test_the_command_lists_figures(capsys):
    assert call("ebe-c", "--list", "--json") == 0
    assert set(json.loads(capsys.readouterr().out)) == {f"ebe-c/fig{number}" for number in (2, 3, 4, 5)}


def test_the_command_reproduces_a_figure_of_the_paper(tmp_path, capsys):
    out = tmp_path / "out"
    assert call("ebe-j/fig4a", "--reps", "1", "--out", str(out), "--json") == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert verdict["figure"] == "fig4a"
    # Five flows that share a link under VCP-EBE: a band of one would be equal windows, of ten no control.
    assert 1.0 <= verdict["measured"] < 10.0
    assert {file.name for file in out.iterdir()} == {
        "runs",
        "figures",
        "report.html",
        "verdicts.json",
        "counts.json",
        "costs.json",
    }


def test_report_and_verdicts_are_of_the_last_command_as_documented(figure, tmp_path):
    other = replace(figure, id="test/other", title="Another")
    for one in (figure, other):
        reproduce([one], tmp_path / "out", repetitions=1, workers=1, on_progress=nothing)
    entries = json.loads((tmp_path / "out" / "verdicts.json").read_text(encoding="utf-8"))
    assert {entry["figure"] for entry in entries} == {"other"}
    assert "A &lt;small&gt; figure" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "figures" / "test-small.png").exists()
    assert "the figures of the last command" in HELP


def test_the_command_does_not_change_other_directories(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert call("ebe-j/fig4a", "--reps", "1", "--out", str(tmp_path)) == 1
    assert "not empty" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_the_command_rejects_unknown_figures(capsys):
    assert call("ebe-j/fig77") == 2
    assert "no paper or figure is named" in capsys.readouterr().err
