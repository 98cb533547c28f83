"""`airpath check`: verdicts, exit codes, baselines, JUnit, and the files of failing cases."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from airpath.checks import running
from airpath.results import Results
from airpath.runner import Interrupted

SUITE = """
name = "mine"
scheme = "cubic"
repetitions = 3

[[cases]]
name = "lte"
link = "lte.down"
duration = "6s"

[[cases]]
name = "steady"
link = "4mbps"
rtt = "20ms"
duration = "4s"
warm_up = "2s"
"""
PASSING = """
[expect]
utilisation = { at_least = 0.3 }
goodput_mbps = { at_least = 0.5, of = "newreno" }
"""
BASELINE = """
[expect]
goodput_mbps = { baseline = 0.02 }
queueing_p95_ms = { baseline = "3ms" }
"""


@pytest.fixture
def write(folder):
    def write(expect: str) -> Path:
        file = folder / "mine.toml"
        head, cases = SUITE.split("[[cases]]", 1)
        file.write_text(f"{head}{expect}\n[[cases]]{cases}")
        return file

    return write


def test_expected_results_pass_and_are_not_kept(airpath, write, folder):
    write(PASSING)
    done = airpath("check", "mine.toml", "--junit", "ci/check.xml")
    assert (done.code, done.err) == (0, "")
    assert done.out == "4 expectations of 2 cases are met\n"
    assert not (folder / "out").exists()
    root = ElementTree.parse(folder / "ci" / "check.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("4", "0")


def test_unexpected_results_fail_and_are_kept(airpath, write, folder):
    write(PASSING + 'queueing_p95_ms = { at_most = "1us" }\n')
    files = ("--junit", "check.xml", "--markdown", "ci/check.md")
    done = airpath("check", "mine.toml", *files, "--json", "--out", "failed")
    assert done.code == 1
    told = json.loads(done.out)
    assert not told["passed"]
    first = told["cases"][0]["expectations"][2]
    assert (first["metric"], first["passed"], first["n"]) == ("queueing_p95_ms", False, 3)
    assert first["ci95_low"] <= first["mean"] <= first["ci95_high"]
    assert told["out"] == {"lte": "failed/lte", "steady": "failed/steady"}
    kept = json.loads((folder / "failed" / "lte" / "summary.json").read_text())
    assert set(kept["schemes"]) == {"cubic", "newreno"}
    assert kept["schemes"]["cubic"]["queueing_p95_ms"]["mean"] == first["mean"]
    assert (folder / "failed" / "lte" / "report.html").is_file()
    root = ElementTree.parse(folder / "check.xml").getroot()
    assert [suite.get("name") for suite in root] == ["lte", "steady"]
    tests = root.findall("testsuite/testcase")
    assert [len(test.findall("failure")) for test in tests] == [0, 0, 1, 0, 0, 1]
    assert tests[2].get("classname") == "mine.lte"
    assert "expected at most 0.001 ms" in tests[2].find("failure").get("message")
    lines = (folder / "ci" / "check.md").read_text().splitlines()
    assert lines[0] == "### airpath check mine: failed"
    assert [line.count("| at most 0.001 ms |") for line in lines[6:12]] == [1, 1, 0, 0, 0, 0]
    # Files of cases that failed before and pass now are removed.
    write(PASSING)
    again = ("check", "mine.toml", "--out", "failed", "--case", "lte")
    refused = airpath(*again)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert airpath(*again, "--force").code == 0
    assert not (folder / "failed" / "lte").exists()
    assert (folder / "failed" / "steady").exists()


@pytest.mark.processes
def test_the_same_version_has_the_same_verdict_with_any_number_of_jobs(airpath, write):
    write(PASSING + "timeouts = { at_most = 0 }\n")
    once, again = (
        json.loads(airpath("check", "mine.toml", "--json", "--jobs", jobs).out) for jobs in ("1", "2")
    )
    for told in (once, again):  # each has a folder of its own
        told.pop("out")
    assert once == again


def test_a_baseline_is_recorded_and_enforced(airpath, write, folder):
    write(BASELINE)
    missing = airpath("check", "mine.toml")
    assert missing.code == 1
    assert "no baseline" in missing.out
    assert airpath("check", "mine.toml", "--update").code == 0
    file = folder / "mine.baseline.json"
    learned = file.read_bytes()
    kept = json.loads(learned)["cases"]["lte"]["cubic"]
    assert set(kept["inputs"]) == {"lte.down", "lte.up"}
    assert kept["airpath"]
    goodput = kept["metrics"]["goodput_mbps"]
    assert list(goodput["values"]) == ["1", "2", "3"]
    assert goodput["ci95_low"] <= goodput["mean"] <= goodput["ci95_high"]
    assert airpath("check", "mine.toml").code == 0
    assert file.read_bytes() == learned

    # As if CUBIC had been better by a tenth in every run when the baseline was recorded.
    def better(content, factor):
        for cases in content["cases"].values():
            metrics = cases["cubic"]["metrics"]["goodput_mbps"]
            metrics["values"] = {seed: value * factor for seed, value in metrics["values"].items()}
        return json.dumps(content)

    file.write_text(better(json.loads(learned), 1.1))
    worse = airpath("check", "mine.toml")
    assert worse.code == 1
    assert "2 of 4 expectations are not met" in worse.out
    assert (worse.out.count("FAIL"), worse.out.count("pass")) == (2, 0)
    assert "report.html" in worse.out
    assert airpath("check", "mine.toml", "--verbose").out.count("pass") == 2
    file.write_text(better(json.loads(learned), 1.01))
    assert airpath("check", "mine.toml").code == 0
    file.write_text(better(json.loads(learned), 0.8))
    improved = airpath("check", "mine.toml", "--verbose")
    assert improved.code == 0
    assert "better: --update keeps it" in improved.out


def test_a_change_of_the_controller_is_detected(airpath, write, folder):
    """As if CUBIC had kept 0.9 at a loss when the baseline was recorded: it filled a short buffer better."""
    text = write(BASELINE).read_text()
    shallow = 'link = "20mbps"\nrtt = "60ms"\nbuffer = "0.1bdp"\nduration = "20s"'
    Path("mine.toml").write_text(text.replace('link = "4mbps"\nrtt = "20ms"\nduration = "4s"', shallow))
    only = ("check", "mine.toml", "--case", "steady")
    assert airpath(*only, "--update").code == 0
    assert airpath(*only, "--update", "--scheme", "cubic:beta=0.9").code == 0
    file = folder / "mine.baseline.json"
    content = json.loads(file.read_text())
    case = content["cases"]["steady"]
    case["cubic"]["metrics"] = case["cubic:beta=0.9"]["metrics"]
    file.write_text(json.dumps(content))
    done = airpath(*only, "--json")
    assert done.code == 1
    goodput = json.loads(done.out)["cases"][0]["expectations"][0]
    assert (goodput["metric"], goodput["passed"]) == ("goodput_mbps", False)
    assert goodput["difference"]["ci95_high"] < 0.0
    # The baseline of another scenario is not used.
    case["cubic"] = case["cubic:beta=0.9"]
    file.write_text(json.dumps(content))
    (steady,) = json.loads(airpath(*only, "--json").out)["cases"]
    assert all("has changed since" in one["remark"] for one in steady["expectations"])


def test_seeds_and_repetitions_may_change_and_the_measurement_may_not(airpath, write):
    write(BASELINE)
    assert airpath("check", "mine.toml", "--update").code == 0
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace("repetitions = 3", "repetitions = 5"))
    more = airpath("check", "mine.toml", "--json")
    assert more.code == 0
    compared = json.loads(more.out)["cases"][0]["expectations"][0]
    assert (compared["n"], compared["difference"]["pairs"], compared["difference"]["mean"]) == (5, 3, 0.0)
    Path("mine.toml").write_text(text.replace('"20ms"', '"30ms"'))
    other = json.loads(airpath("check", "mine.toml", "--json").out)
    assert [case["passed"] for case in other["cases"]] == [True, False]


def test_updating_one_case_keeps_the_others_and_a_full_update_drops_removed_cases(airpath, write, folder):
    write(BASELINE)
    assert airpath("check", "mine.toml", "--update").code == 0
    file = folder / "mine.baseline.json"
    learned = file.read_bytes()
    assert airpath("check", "mine.toml", "--update", "--case", "lte").code == 0
    assert file.read_bytes() == learned
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace('"lte"', '"cellular"'))
    assert airpath("check", "mine.toml", "--update").code == 0
    assert set(json.loads(file.read_text())["cases"]) == {"cellular", "steady"}


def test_a_shipped_suite_omits_cases_without_a_recorded_baseline(airpath, folder):
    done = airpath("check", "wireless", "--case", "shallow-buffer", "--scheme", "cubic", "--junit", "j.xml")
    assert done.code == 0
    assert "2 have no baseline" in done.out
    tests = ElementTree.parse(folder / "j.xml").getroot().findall("testsuite/testcase")
    assert [len(test.findall("skipped")) for test in tests] == [0, 1, 0, 1]
    # A file that the user names must exist.
    named = airpath("check", "wireless", "--case", "shallow-buffer", "--baseline", "my.json", "--out", "o")
    assert named.code == 1
    assert airpath("check", "wireless", "--case", "shallow-buffer", "--update").code == 0
    assert (folder / "wireless.baseline.json").is_file()
    assert "4 expectations of 1 cases" in airpath("check", "wireless", "--case", "shallow-buffer").out


def test_it_runs_over_quic(airpath, write):
    write(PASSING)
    done = airpath("check", "mine.toml", "--world", "quic", "--json")
    told = json.loads(done.out)
    assert done.code in (0, 1)
    assert [case["scheme"] for case in told["cases"]] == ["cubic over quinn"] * 2
    assert all(one["n"] == 3 for case in told["cases"] for one in case["expectations"])


WRONG_BASELINES = [
    ("no JSON", b"{", "not valid JSON"),
    ("not text", b"\xff\xfe", "not valid JSON"),
    ("another format", b'{"format": "x", "suite": "mine", "cases": {}}', "format"),
    ("a list", b"[]", "accepted: what --update writes"),
    (
        "no number",
        b'{"format": "airpath baseline 1", "suite": "m", "cases": {"a": {"b": {"airpath": 3}}}}',
        "cases.a.b.airpath",
    ),
    ("nested", b"[" * 100_000, "mine.baseline.json"),
    (
        "another suite",
        b'{"format": "airpath baseline 1", "suite": "theirs", "cases": {}}',
        'baselines of the suite "theirs"; accepted: of "mine"',
    ),
]


@pytest.mark.parametrize(
    ("content", "said"), [row[1:] for row in WRONG_BASELINES], ids=[row[0] for row in WRONG_BASELINES]
)
@pytest.mark.parametrize("options", [(), ("--update",)])
def test_a_corrupted_baseline_is_rejected_before_any_run(airpath, write, folder, content, said, options):
    write(BASELINE)
    (folder / "mine.baseline.json").write_bytes(content)
    done = airpath("check", "mine.toml", *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert (folder / "mine.baseline.json").read_bytes() == content


WRONG = [
    (["nowhere.toml"], "neither a file nor a shipped suite"),
    (["mine.toml", "--case", "lt"], 'did you mean "lte"'),
    (["mine.toml", "--scheme", "cubik"], 'did you mean "cubic"'),
    (["mine.toml", "--scheme", "xcp", "--world", "quic"], "xcp"),
    (["mine.toml", "--jobs", "0"], "1 or more"),
    (["mine.toml", "--junit", "."], "is a directory"),
    (["mine.toml", "--junit", "mine.toml/j.xml"], "is not a directory"),
    (["mine.toml", "--markdown", "."], "markdown: . is a directory"),
    (["mine.toml", "--markdown", "mine.toml"], "markdown: mine.toml is also the suite"),
    (["mine.toml", "--junit", "./mine.baseline.json"], "is also the baselines"),
    (["mine.toml", "--junit", "all", "--markdown", "./all"], "markdown: all is also --junit"),
    (["mine.toml", "--update"], "update: no expectation has a baseline"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_bad_input_is_rejected_with_code_2(airpath, write, folder, arguments, said):
    write(PASSING)
    done = airpath("check", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]


def test_a_foreign_directory_is_unchanged(airpath, write, folder):
    write(PASSING)
    (folder / "failed" / "lte").mkdir(parents=True)
    (folder / "failed" / "lte" / "thesis.tex").write_text("do not delete")
    done = airpath("check", "mine.toml", "--out", "failed")
    assert done.code == 2
    assert "contains no airpath results" in done.err
    assert (folder / "failed" / "lte" / "thesis.tex").read_text() == "do not delete"


def test_an_interrupt_shows_finished_cases_and_writes_no_verdict(airpath, write, folder, monkeypatch):
    write(BASELINE)
    run, cases = running.run_jobs, []

    def run_the_first(work, *rest, **more):
        cases.append(work)
        if len(cases) > 1:
            raise Interrupted(Results([]), len(work))
        return run(work, *rest, **more)

    monkeypatch.setattr(running, "run_jobs", run_the_first)
    outputs = ("--junit", "j.xml", "--markdown", "j.md")
    done = airpath("check", "mine.toml", "--update", "--verbose", *outputs)
    assert done.code == 130
    assert "stopped after 1 of 2 cases" in done.err
    assert "lte" in done.out
    assert "steady" not in done.out
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]
