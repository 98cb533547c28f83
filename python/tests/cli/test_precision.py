"""`airpath compare --precision`: its runs, its files and its output."""

import json
import os
import signal

import pytest

import airpath as package
from airpath._run import workers
from airpath.precision import PrecisionRule
from airpath.results import read

OVER = ("compare", "newreno", "cubic", "--link", "lte.down", "--duration", "3s")
UNTIL = ("--precision", "12%", "--min-reps", "3", "--max-reps", "20")
NOT_ENOUGH = ("--precision", "0.1%", "--min-reps", "2", "--max-reps", "4")


def test_the_runs_are_those_of_as_many_repetitions(airpath, folder):
    done = airpath(*OVER, *UNTIL, "--out", "until", "--jobs", "1", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)["precision"]
    count = told["repetitions"]
    assert told["end"] == "precision"
    assert told["looks"] == [3, 5, 8, 12, 20]
    assert 3 < count < 20
    assert [one["n"] for one in told["schemes"]] == [count, count]
    assert all(one["share"] <= 0.12 for one in told["schemes"])
    assert airpath(*OVER, "--reps", str(count), "--out", "fixed", "--jobs", "2").code == 0
    of_command = {"provenance.json", "report.html", "figures"}
    names = {path.name for path in (folder / "fixed").iterdir()} - of_command
    assert {"plan.json", "scenario.toml", "summary.json", "flows.parquet"} <= names
    for name in names:
        assert (folder / "until" / name).read_bytes() == (folder / "fixed" / name).read_bytes(), name


def test_workers_change_nothing(airpath):
    told = [json.loads(airpath(*OVER, *UNTIL, "--jobs", jobs, "--json").out) for jobs in ("1", "3")]
    for one in told:  # each has a folder of its own
        del one["out"], one["report"]
    assert told[0] == told[1]


def test_results_contain_their_stopping_rule_and_can_be_run_again(airpath, folder):
    said = airpath(*OVER, *UNTIL, "--difference", "50%", "--out", "kept")
    assert said.code == 0
    stopping = json.loads((folder / "kept" / "provenance.json").read_text())["stopping"]
    assert stopping["rule"] == {
        "precision": 0.12,
        "difference": 0.5,
        "metric": "goodput_mbps",
        "min_repetitions": 3,
        "max_repetitions": 20,
    }
    assert stopping["end"] == "precision"
    line = (
        f"stopped after {stopping['repetitions']} repetitions (the precision was reached); goodput is known"
    )
    assert line in said.out
    report = (folder / "kept" / "report.html").read_text()
    assert "Enough repetitions?" in report
    assert line in report
    assert read(folder / "kept").until == PrecisionRule(0.12, 0.5, "goodput_mbps", 3, 20)
    again = airpath("rerun", "kept")
    assert again.code == 0
    assert "tables are byte-equal" in again.out
    assert line in again.out
    assert "would have stopped" not in again.out
    assert json.loads((folder / "kept-rerun" / "provenance.json").read_text())["stopping"] == stopping


def test_a_rerun_reports_a_different_stopping_point(airpath, folder):
    assert airpath(*OVER, *UNTIL, "--out", "kept").code == 0
    facts = json.loads((folder / "kept" / "provenance.json").read_text())
    facts["stopping"]["rule"]["precision"] = 0.9
    (folder / "kept" / "provenance.json").write_text(json.dumps(facts))
    again = airpath("rerun", "kept")
    assert again.code == 0
    assert "the repeated runs would have stopped after 3 repetitions" in again.out


def test_reaching_the_limit_is_reported_and_is_no_failure(airpath, folder):
    done = airpath(*OVER, *NOT_ENOUGH)
    assert (done.code, done.err) == (0, "")
    assert (
        "stopped after 4 repetitions (the limit; the precision was not reached); goodput is known within"
        in done.out
    )
    for scheme in ("newreno", "cubic"):
        assert f"{scheme}: ± " in done.out
    assert done.out.count("of the mean, not ± 0.1 %; an estimated ") == 2
    (kept,) = folder.glob("out/compare*/provenance.json")
    assert json.loads(kept.read_text())["stopping"]["end"] == "limit"


def test_a_fixed_number_has_one_line(airpath, folder):
    done = airpath(*OVER, "--reps", "2", "--out", "fixed")
    lines = [line for line in done.out.splitlines() if "goodput is known within" in line]
    assert len(lines) == 1
    assert "Enough repetitions?" in (folder / "fixed" / "report.html").read_text()
    single = airpath(*OVER, "--reps", "1", "--out", "single")
    assert "is known within" not in single.out
    assert "Enough repetitions?" not in (folder / "single" / "report.html").read_text()
    assert "stopping" not in json.loads((folder / "fixed" / "provenance.json").read_text())


@pytest.mark.processes
def test_an_interrupt_keeps_finished_rounds_and_runs(airpath, folder, monkeypatch):
    finished = []
    record = workers.RunRecord

    def counted(**facts):
        finished.append(1)
        if len(finished) == 6:  # in the second round: the first has four runs
            os.kill(os.getpid(), signal.SIGINT)
        return record(**facts)

    monkeypatch.setattr(workers, "RunRecord", counted)
    done = airpath(*OVER, *NOT_ENOUGH, "--jobs", "1", "--out", "kept")
    assert done.code == 130
    assert "runs that were finished" in done.err
    kept = read(folder / "kept")
    assert 5 <= len(kept.runs) < 8
    assert [run.record.repetition for run in kept.runs if run.record.scheme == "newreno"][:2] == [0, 1]
    stopping = json.loads((folder / "kept" / "provenance.json").read_text())["stopping"]
    assert stopping["end"] == "interrupted"
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert airpath("rerun", "kept").code == 0


def test_python_has_it_too():
    rule = package.PrecisionRule.parse("8%", min_repetitions=3, max_repetitions=20)
    results = package.compare(["newreno", "cubic"], "lte.down", duration="3s", until=rule)
    assert results.until == rule
    counts = [results.summary["scheme"].to_pylist().count(scheme) for scheme in results.schemes]
    assert counts[0] == counts[1]
    assert counts[0] in rule.looks
    order = [(run.record.scheme, run.record.repetition) for run in results.runs]
    assert order == [(scheme, number) for scheme in ("newreno", "cubic") for number in range(counts[0])]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--precision", "2"), 'precision: found "2"; accepted: a share of the mean above 0 %'),
        (("--difference", "x%"), 'difference: found "x%"; accepted'),
        (("--precision", "2%", "--reps", "3"), "found --reps 3 with --precision or --difference"),
        (("--metric", "goodput"), "--metric needs --precision or --difference"),
        (("--max-reps", "7"), "--max-reps needs --precision or --difference"),
        (("--precision", "2%", "--metric", "goodputs"), 'did you mean "goodput_mbps"?'),
        (("--precision", "2%", "--min-reps", "1"), "min_repetitions: found 1; accepted: 2 to 1000000"),
        (("--precision", "2%", "--max-reps", "1000000", "--duration", "1h"), "runs would take about"),
        (("--precision", "2%", "--seed", "9223372036854775808"), "seed: found 9223372036854775808"),
    ],
)
def test_bad_input_is_reported_before_any_run(airpath, folder, options, said):
    done = airpath(*OVER, *options)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not (folder / "out").exists()


def test_a_difference_requires_two_schemes(airpath):
    done = airpath("compare", "cubic", "--link", "lte.down", "--difference", "1%")
    assert (done.code, done.err) == (
        2,
        "airpath: difference: found a single scheme; accepted: two or more\n",
    )


@pytest.mark.parametrize(
    "stopping",
    [7, [], {}, {"rule": 7}, {"rule": {"precision": "2%"}}, {"rule": {"speed": 1}}, {"rule": {"metric": []}}],
)
def test_an_invalid_rule_is_rejected(airpath, folder, stopping):
    assert airpath(*OVER, "--out", "kept").code == 0
    facts = json.loads((folder / "kept" / "provenance.json").read_text())
    (folder / "kept" / "provenance.json").write_text(json.dumps({**facts, "stopping": stopping}))
    with pytest.raises(package.errors.OutputError, match=r"provenance\.json: stopping: "):
        read(folder / "kept")
    done = airpath("rerun", "kept")
    assert done.code == 2
    assert "provenance.json: stopping: " in done.err
