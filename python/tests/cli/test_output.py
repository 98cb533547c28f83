"""What successful commands print and write."""

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pyarrow.parquet as pq
import pytest

from airpath.cli.commands import all_commands
from airpath.cli.doctor import Check, verdict
from airpath.cli.output import show_json, show_json_list
from airpath.metrics import METRICS
from airpath.scenario import Scenario

SHORT = ["--set", "duration=2s", "--set", "record.warm_up=0s"]
COMMANDS = [
    ["run", "lte-download", "--reps", "2", *SHORT],
    ["compare", "newreno", "cubic", "--link", "2mbps", "--duration", "2s"],
    ["validate", "lte-download"],
    ["list"],
    ["trace", "show", "lte.down"],
    ["trace", "convert", "lte.down", "--to", "csv", "--out", "lte.csv"],
    ["doctor"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_json_is_alone_on_standard_output(airpath, command):
    outcome = airpath(*command, "--json")
    assert outcome.code == 0, outcome.err
    assert isinstance(json.loads(outcome.out), dict)


def test_the_schema_is_json(airpath):
    outcome = airpath("schema")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Flow" in json.loads(outcome.out)["$defs"]


@pytest.mark.parametrize(
    "command",
    [["run"], ["compare"], ["validate"], ["list"], ["trace", "show"], ["trace", "convert"], ["doctor"]],
    ids=" ".join,
)
def test_help_shows_examples(airpath, command):
    outcome = airpath(*command, "--help")
    assert outcome.code == 0
    assert "Examples" in outcome.out
    assert outcome.out.count(f"airpath {' '.join(command)}") >= 3  # the usage and two examples


def test_help_lists_every_command_in_a_panel_of_its_task(airpath):
    text = airpath("--help").out
    panels = {"Simulate": "compare", "Measure": "estimate", "Verify": "check", "Tools": "doctor"}
    places = [text.index(word) for panel in panels.items() for word in (f" {panel[0]} ", f"│ {panel[1]} ")]
    assert places == sorted(places)
    assert all(f"│ {name} " in text for name in all_commands())
    assert " Commands " not in text  # every command has a panel


def test_version(airpath):
    outcome = airpath("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("airpath ")


def test_run_writes_the_files_it_lists(airpath, folder: Path):
    outcome = airpath("run", "lte-download", "--reps", "2", "--seed", "7", *SHORT, "--json")
    summary = json.loads(outcome.out)
    assert summary["out"] == "out/lte-download"
    assert summary["interrupted"] is False
    assert [run["seed"] for run in summary["runs"]] == [7, 8]
    assert set(summary["schemes"]["cubic"]) == set(METRICS)
    table = pq.read_table(folder / summary["out"] / "summary.parquet")
    assert table["throughput_mbps"].to_pylist() == [run["throughput_mbps"] for run in summary["runs"]]
    assert (folder / summary["report"]).read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    provenance = json.loads((folder / summary["out"] / "provenance.json").read_text())
    assert set(provenance["sha256"]["inputs"]) == {"lte.down", "lte.up"}


def test_the_scenario_that_was_written_can_be_run_again(airpath):
    first = json.loads(
        airpath("run", "satellite", "--set", "duration=3s", "--set", "record.warm_up=1s", "--json").out
    )
    again = json.loads(airpath("run", "out/satellite/scenario.toml", "--out", "again", "--json").out)
    assert again["runs"] == first["runs"]


def test_packets_and_captures_on_request(airpath, folder: Path):
    assert (
        airpath("run", "lte-download", "--reps", "1", *SHORT, "--packets", "--capture", "bottleneck").code
        == 0
    )
    out = folder / "out" / "lte-download"
    assert pq.read_table(out / "packets.parquet").num_rows > 100
    (capture,) = (out / "captures").iterdir()
    assert capture.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"  # a pcapng file begins with its section header


@pytest.mark.parametrize("arguments", [("compare", "cubic", "--link", "2mbps"), ("run", "lte-download")])
def test_limits_of_senders_on_request(airpath, folder: Path, arguments: tuple[str, ...]):
    for name, options in (("without", ()), ("with", ("--limits",))):
        outcome = airpath(*arguments, "--reps", "1", "--no-report", "--out", name, *options)
        assert outcome.code == 0
    assert not (folder / "without" / "flow_limits.parquet").exists()
    limits = pq.read_table(folder / "with" / "flow_limits.parquet")
    assert max(limits["congestion_window"].to_pylist()) > 0.9
    outcome = airpath(*arguments, "--limits", "--world", "quic")
    assert outcome.code == 2
    assert "--limits: found --world quic; accepted: any other backend" in outcome.err


def test_compare_keeps_the_order_and_the_options(airpath):
    outcome = airpath(
        "compare",
        "cubic:beta=0.8",
        "newreno",
        "cubic",
        "--link",
        "2mbps",
        "--duration",
        "2s",
        "--reps",
        "2",
        "--json",
    )
    summary = json.loads(outcome.out)
    assert [(run["scheme"], run["seed"]) for run in summary["runs"]] == [
        ("cubic:beta=0.8", 1),
        ("cubic:beta=0.8", 2),
        ("newreno", 1),
        ("newreno", 2),
        ("cubic", 1),
        ("cubic", 2),
    ]
    assert summary["out"] == "out/compare-2mbps"


def test_validate_shows_the_resolved_scenario(airpath):
    text = airpath("validate", "lte-download", "--resolved").out
    assert "450 kB = 300 packets = 400 ms = 10 BDP" in text
    assert "base RTT 40 ms" in text
    assert "lte.down" in text


def test_flows_that_start_after_the_end_are_reported(airpath):
    join = Scenario.load("ebe-join-leave-l").override(duration="20s")
    (Path.cwd() / "short.toml").write_text(join.to_toml(), encoding="utf-8")
    outcome = airpath("validate", "short.toml")
    assert outcome.code == 0
    assert "never sends: it starts after 80 s, and the run lasts 20 s" in outcome.err
    assert airpath("validate", "ebe-join-leave-l").err == ""


def test_validate_names_problems_in_json_too(airpath, folder: Path):
    (folder / "bad.toml").write_text('name = "bad"')
    outcome = airpath("validate", "bad.toml", "--json")
    answer = json.loads(outcome.out)
    assert outcome.code == 2
    assert answer["valid"] is False
    assert any("topology" in problem for problem in answer["problems"])


def test_list_has_a_line_for_each(airpath):
    everything = json.loads(airpath("list", "--json").out)
    assert set(everything) == {
        *(
            "schemes",
            "estimators",
            "queues",
            "links",
            "networks",
            "scenarios",
            "sweeps",
            "suites",
            "leaderboards",
        )
    }
    assert all(text for section in everything.values() for text in section.values())
    assert set(json.loads(airpath("list", "links", "--json").out)) == {"links"}


def test_the_list_of_schemes_contains_the_common_options(airpath):
    assert "each also with the ending -ld, which tells losses apart" in airpath("list", "schemes").out
    assert "-ld" not in airpath("list", "queues").out


def test_trace_show_plots_a_figure(airpath, folder: Path):
    summary = json.loads(airpath("trace", "show", "lte.down", "--json").out)
    assert summary["mean_bps"] == pytest.approx(9e6, rel=0.001)
    assert summary["duration_s"] == 60
    pixels = mpl.image.imread(folder / summary["picture"])[:, :, :3]
    blue = np.abs(pixels - mpl.colors.to_rgb("#0072b2")).max(axis=2) < 0.02
    over_time, distribution = np.split(blue, [2 * blue.shape[1] // 3], axis=1)
    assert over_time.sum() > 1000
    assert distribution.sum() > 100


def test_trace_show_plots_a_trace_of_two_lines_that_lasts_for_years(airpath, folder: Path):
    (folder / "years.trace").write_text("0\n99000000000\n")
    summary = json.loads(airpath("trace", "show", "years.trace", "--json").out)
    assert summary["duration_s"] == 99e6
    assert (folder / summary["picture"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["$.trace", r"a$\frac$b.trace"])
def test_file_names_are_plotted_verbatim_and_not_as_formulas(airpath, folder: Path, name):
    (folder / name).write_text("1\n2\n500\n")
    assert airpath("trace", "show", name).code == 0


@pytest.mark.parametrize("items", [[], [1], [{"a": [1, {"b": "\n"}]}, {}, None]])
def test_a_list_that_is_printed_item_by_item_is_the_same(capsys, items):
    show_json_list(iter(items))
    one_by_one = capsys.readouterr().out
    show_json(items)
    assert one_by_one == capsys.readouterr().out


def test_trace_convert_round_trip(airpath, folder: Path):
    assert airpath("trace", "convert", "lte.down", "--to", "mahimahi", "--out", "copy.trace").code == 0
    to_standard_output = airpath("trace", "convert", "copy.trace", "--to", "mahimahi")
    assert to_standard_output.out == (folder / "copy.trace").read_text()
    assert airpath("trace", "convert", "copy.trace", "--to", "csv", "--out", "copy.csv").code == 0
    one, other = (
        json.loads(airpath("trace", "show", file, "--json").out) for file in ("copy.trace", "copy.csv")
    )
    assert other["format"] == "airpath-csv"
    assert other["mean_bps"] == pytest.approx(one["mean_bps"], rel=1e-6)


def test_nothing_is_printed_without_a_terminal(airpath):
    assert airpath("run", "lte-download", "--reps", "1", *SHORT).err == ""


def test_doctor_runs_a_closed_form(airpath):
    answer = json.loads(airpath("doctor", "--json").out)
    checks = {check["name"]: check for check in answer["checks"]}
    assert answer["healthy"] is True
    assert checks["self-test"]["state"] == "good", checks["self-test"]
    assert checks["tshark"]["state"] in ("good", "missing")


def test_doctor_names_what_is_missing_in_its_last_line():
    good, missing, broken = (
        Check("one", "good", ""),
        Check("two", "missing", ""),
        Check("three", "broken", ""),
    )
    assert verdict([good]) == "everything works"
    assert verdict([good, missing]).endswith(": two")
    assert verdict([good, missing, broken]).startswith("broken: three;")


def test_doctor_detects_a_broken_installation(airpath, monkeypatch):
    monkeypatch.setattr("airpath.cli.doctor.TOLERANCE", -1.0)
    outcome = airpath("doctor", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["healthy"] is False
