"""Each kind of bad input gives one clear message and a non-zero exit: no traceback, nothing half-written."""

from pathlib import Path

import pytest

GOOD = """
name = "small"
duration = "2s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "2mbps"
delay = "10ms"

[[flows]]
name = "download"
scheme = "cubic"
"""

TRACE = 'rate = { kind = "trace", file = "link.trace" }'

SCENARIOS = [
    ("unknown key, nearest named", "sede = 3" + GOOD, 'did you mean "seed"?', 2),
    ("missing value", GOOD.replace('duration = "2s"', ""), "duration: required", 2),
    ("number without unit", GOOD.replace('"2mbps"', "2000000"), "no unit", 2),
    ("text without unit", GOOD.replace('"10ms"', '"10"'), "no unit", 2),
    ("negative rate", GOOD.replace("2mbps", "-2mbps"), "negative", 2),
    ("zero rate", GOOD.replace("2mbps", "0mbps"), "more than zero", 2),
    ("impossible value", GOOD.replace('"2s"', '"0s"'), "more than zero", 2),
    ("unknown scheme, nearest named", GOOD.replace('"cubic"', '"cubik"'), 'did you mean "cubic"?', 2),
    ("not TOML", GOOD + "[", "not valid TOML", 2),
    ("nested too deep", "x = " + "[" * 5000 + GOOD, "nested too deeply", 2),
    ("keys nested too deep", "a" + ".a" * 2000 + " = 1" + GOOD, "nested too deeply", 2),
    ("more digits than are read", "seed = 1" + "0" * 5000 + GOOD, "not valid TOML", 2),
    ("larger than memory", GOOD.replace('"2s"', '"1000000000s"'), "memory", 2),
    ("trace that is not there", GOOD.replace('rate = "2mbps"', TRACE), "no such file", 1),
]

TRACES = [
    ("empty", b"", "link.trace"),
    ("malformed", b"1\n2\nthree\n", "line 3"),
    ("going back in time", b"1\n5\n4\n", "line 3"),
    ("not text", b"\xff\xfe\x00\x01", "link.trace"),
]

COMMANDS = [
    (["run", "lte-dowload"], 'did you mean "lte-download"?', 2),
    (["run"], "Missing argument", 2),
    (["run", "lte-download", "--reps", "many"], "--reps", 2),
    (["run", "lte-download", "--reps", "0"], "at least 1", 2),
    (["trace", "show", "lte.down", "--out", "base.toml"], "ends in .png", 2),
    (["run", "lte-download", "--jobs", "0"], "1 or more", 2),
    (["run", "lte-download", "--seed", "-1"], "at least 0", 2),
    (["run", "lte-download", "--set", "duration"], "key=value", 2),
    (["run", "lte-download", "--set", "flows.7.count=2"], "cannot set", 2),
    (["run", "lte-download", "--set", "duration=20"], "no unit", 2),
    (["run", "lte-download", "--capture", "bottlneck"], 'did you mean "bottleneck"?', 2),
    (["compare", "cubic", "--network", "wify"], 'did you mean "wifi"?', 2),
    (["compare", "cubic", "--link", "2mbps", "--rtt", "20ms..40ms"], "2 flows or more", 2),
    (["compare", "cubic", "--link", "2mbps", "--loss", "1"], "a share above 0 %", 2),
    (["compare", "cubik", "--link", "2mbps"], 'did you mean "cubic"?', 2),
    (["compare", "cubic", "cubic", "--link", "2mbps"], "given twice", 2),
    (["compare", "cubik", "--link", "2mbps"], "`airpath list schemes` lists all)", 2),
    (["compare", "cubic", "quic:bbr", "--link", "2mbps"], 'write "bbr", and --world quic', 2),
    (["compare", "cubic", "--link", "2mbps", "--open", "--no-report"], "accepted: one of them", 2),
    (["figures", "nothing"], "no such directory", 2),
    (["compare", "cubic:beta=0.7", "cubic:beta=7e-1", "--link", "2mbps"], 'as "cubic:beta=7e-1"', 2),
    (["compare", "cubic:beta", "--link", "2mbps"], "name=value", 2),
    (["compare", "cubic:beta=7", "--link", "2mbps"], "beta", 2),
    (["compare", "cubic", "--link", "2"], "no unit", 2),
    (["compare", "cubic", "--link", "-2mbps"], "link", 2),
    (["compare", "cubic", "--link", "lte.donw"], 'did you mean "lte.down"?', 2),
    (["compare", "cubic", "--link", "2mbps", "--rtt", "40"], "no unit", 2),
    (["compare", "cubic", "--link", "2mbps", "--buffer", "40"], "no unit", 2),
    (["compare", "cubic", "--link", "2mbps", "--duration", "40"], "no unit", 2),
    (["compare", "cubic", "--link", "2mbps", "--flows", "0"], "at least 1", 2),
    (["list", "queue"], "queues", 2),
    (["trace", "show", "nothing.trace"], "neither a file nor a shipped link", 1),
    (["trace", "show", "lte.down", "--format", "mahimai"], 'did you mean "mahimahi"?', 2),
    (["trace", "show", "lte.down", "--direction", "sideways"], "down, up", 2),
    (["trace", "convert", "lte.down", "--to", "pcap"], "mahimahi", 2),
    (["trace", "convert", "lte.down", "--to", "csv", "--bin", "1"], "no unit", 2),
    (["trace", "convert", "lte.down", "--to", "csv", "--bin", "0s"], "more than zero", 2),
    (["trace", "convert", "lte.down", "--to", "csv", "--json"], "--out", 2),
    (["validate", "nothing.toml"], "neither a file nor a shipped scenario", 2),
    (["walk"], "No such command", 2),
]


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize(
    ("text", "words", "code"), [case[1:] for case in SCENARIOS], ids=[c[0] for c in SCENARIOS]
)
def test_bad_scenarios(airpath, folder: Path, command, text, words, code):
    (folder / "bad.toml").write_text(text)
    refused(airpath(command, "bad.toml"), words, code)
    assert [path.name for path in folder.iterdir()] == ["bad.toml"]


def test_runs_too_large_for_memory_are_rejected_before_they_are_built(airpath, folder: Path, monkeypatch):
    arrivals = 'traffic = { kind = "arrivals", size = "1kB", mean_interval = "1ns" }\n'
    (folder / "bad.toml").write_text(GOOD.replace('"2s"', '"1000s"') + arrivals)
    monkeypatch.setattr("airpath.scenario.simulation.simulation", lambda *_: pytest.fail("built"))
    refused(airpath("validate", "bad.toml"), "fewer flows", 2)


@pytest.mark.parametrize(("data", "words"), [case[1:] for case in TRACES], ids=[case[0] for case in TRACES])
def test_bad_traces(airpath, folder: Path, data, words):
    (folder / "link.trace").write_bytes(data)
    (folder / "bad.toml").write_text(GOOD.replace('rate = "2mbps"', TRACE))
    refused(airpath("run", "bad.toml"), words, 1)
    refused(airpath("compare", "cubic", "--link", "link.trace"), words, 1)
    refused(airpath("trace", "show", "link.trace"), words, 1)
    assert sorted(path.name for path in folder.iterdir()) == ["bad.toml", "link.trace"]


@pytest.mark.parametrize(
    ("arguments", "words", "code"), COMMANDS, ids=[" ".join(case[0]) for case in COMMANDS]
)
def test_bad_commands(airpath, folder: Path, arguments, words, code):
    refused(airpath(*arguments), words, code)
    assert list(folder.iterdir()) == []


def test_every_fault_of_a_scenario_is_named_at_once(airpath, folder: Path):
    (folder / "bad.toml").write_text(GOOD.replace("duration", "duratoin").replace('"10ms"', '"10"'))
    outcome = airpath("run", "bad.toml")
    assert outcome.code == 2
    assert 'did you mean "duration"?' in outcome.err
    assert "topology.bottleneck.delay" in outcome.err


def test_an_output_folder_with_other_content_is_unchanged(airpath, folder: Path):
    (folder / "results").mkdir()
    (folder / "results" / "precious.txt").write_text("precious")
    refused(airpath("run", "lte-download", "--out", "results"), "contains no airpath results", 1)
    assert [path.name for path in (folder / "results").iterdir()] == ["precious.txt"]


def test_an_output_folder_that_cannot_be_made(airpath, folder: Path):
    (folder / "file").write_text("")
    refused(airpath("run", "lte-download", "--out", "file"), "not a directory", 1)
    refused(airpath("run", "lte-download", "--out", "file/results"), "not a directory", 1)
    refused(airpath("trace", "show", "lte.down", "--out", "file/picture.png"), "cannot write", 1)
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_nothing_runs_if_the_results_cannot_be_written(airpath, folder: Path, monkeypatch):
    monkeypatch.setattr("airpath.cli.work.run_all", lambda *_a, **_k: pytest.fail("was run"))
    (folder / "file").write_text("")
    refused(airpath("compare", "cubic", "--link", "2mbps", "--out", "file"), "not a directory", 1)


def test_unexpected_errors_are_one_line_too(airpath, monkeypatch):
    def broken(*_arguments):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("airpath.scenario.Scenario.load", broken)
    refused(airpath("run", "lte-download"), "unexpected RuntimeError: two lines (AIRPATH_TRACEBACK=1", 1)


def refused(outcome, words, code):
    assert outcome.code == code, outcome.err
    assert words in outcome.err
    assert outcome.err.startswith("airpath: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
