"""Runs of our own modules."""

import hashlib
import html
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from equal_tables import assert_equal
from own_scenario import scenario_text

import airpath
from airpath.plugins.compiled import compiler as compiling
from airpath.plugins.compiled.build import build
from airpath.plugins.compiled.compiler import Compiler
from airpath.runner import RunsFailed
from airpath.views.outside import outside_rows

LINK = {"rtt": "40ms", "duration": "8s", "repetitions": 1}


def windows(results, flow=None):
    """Return times, windows and thresholds of a flow in packets."""
    table = results.table("flow_series").to_pandas()
    table = table if flow is None else table[table["group"] == flow]
    return table["time_s"].to_numpy(), *(
        table[name].to_numpy() / 1448 for name in ("cwnd_bytes", "ssthresh_bytes")
    )


@pytest.mark.parametrize("keep", [2, 3])
def test_a_window_follows_its_formula(module, keep):
    """At 20 Mbit/s and 40 ms a packet of 1500 bytes takes 0.6 ms; the buffer contains another 40 ms."""
    results = airpath.compare([module("sample", f"keep={keep}")], "20mbps", **{**LINK, "duration": "40s"})
    time, window, threshold = windows(results)
    steady = time > 10
    full, kept = 2 * 0.040 / 0.0006, threshold[steady].mean()
    # The queue overflows by the packets that arrive in a round before the loss is detected.
    assert (full * keep / 4 - 1 <= threshold[steady]).all()
    assert (threshold[steady] <= (full + 5) * keep / 4).all()
    # A recovery takes one or two rows.
    reduced = np.flatnonzero((np.diff(window) < -5) & (window[:-1] > full - 5)) + 1
    reduced = reduced[time[reduced] > 5]
    # One more packet in each round, and a round lasts as long as its packets: W_k = W_0 + k, R_k = max(40 ms,
    # 0.6 ms W_k).
    rounds = np.maximum(0.040, 0.0006 * np.arange(kept, kept * 4 / keep))
    cycles = np.diff(time[reduced])
    assert len(cycles) >= 4
    # The table has a row per 100 ms, and a recovery lasts a round.
    np.testing.assert_allclose(cycles, rounds.sum() + 0.08, atol=0.15)


def test_the_compiler_does_not_matter(module, folder, compiler):
    commands = [name for name in ("gcc", "clang") if shutil.which(name)] or [compiler.command[0]]
    source = Path(module("sample").removeprefix("linux:"))
    schemes = []
    for command in commands:
        for optimise in ("-O0", "-O2"):
            library = build([source], Compiler.find(command, optimise)).library
            schemes.append(f"./{command}{optimise}.so")
            shutil.copy(library, folder / schemes[-1])
    first, *others = (airpath.compare([scheme], "12mbps", loss="0.5%", **LINK) for scheme in schemes)
    assert others
    for other in others:
        assert_equal(first, other)


@pytest.mark.parametrize(
    "options", ["uptime=295s", "uptime=4290s", "isn=4294000000", "uptime=295s,isn=4294966000"]
)
def test_clocks_and_sequence_numbers_wrap_around(module, options):
    """Ticks wrap around 300 s after the start of the machine, 32 bits of microseconds after 4295 s."""
    schemes = [module("sample", "keep=3"), module("sample", options)]
    assert_equal(*(airpath.compare([scheme], "12mbps", loss="0.5%", **LINK) for scheme in schemes))


@pytest.mark.parametrize(("loss", "buffer"), [("1%", "1bdp"), (None, "20 packets"), ("20%", "1bdp")])
def test_each_lost_packet_is_reported_once(module, loss, buffer):
    results = airpath.compare([module("losses")], "12mbps", loss=loss, buffer=buffer, warm_up="0s", **LINK)
    counts = results.table("flow_observations").to_pandas().query("quantity == 'module_rtt_us'")["value"]
    lost, reported = results.flows["retransmitted_packets"][0].as_py(), counts.max()
    # A packet that is lost again after its retransmission is not reported, as its number is not known. At a
    # timeout all packets are, and not all are retransmitted.
    assert reported >= {"1%": 0.97, None: 0.95, "20%": 0.6}[loss] * lost
    assert 10 < reported <= 1.2 * lost


def test_flows_have_separate_parameters(module):
    scenario = airpath.Scenario.from_dict(
        {
            "name": "two",
            "duration": "60s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"rate": "200mbps", "delay": "20ms", "loss": 0.005},
            },
            "flows": [
                {"name": name, "scheme": module("sample", f"keep={keep}")}
                for name, keep in (("half", 2), ("most", 3), ("same", 3))
            ],
        }
    )
    results = airpath.run(scenario, progress=False)
    mean = {name: windows(results, name)[1].mean() for name in ("half", "most", "same")}
    # The window of AIMD is proportional to the root of (1 + b) / (1 - b), b = keep / 4: 1.73 and 2.65. The
    # module keeps half also after consecutive losses, of which there are many here.
    assert mean["most"] / mean["half"] > 1.15
    assert mean["same"] / mean["half"] > 1.15


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (1, "tcp_faulty.c:18: division by zero"),
        (2, "tcp_faulty.c:20: shift by a negative number or by too many bits"),
        (3, "tcp_faulty.c:22: index outside an array"),
        (4, "tcp_faulty.c:24: BUG"),
        (5, "create: the init function of the module returned -22"),
    ],
)
def test_a_fault_of_a_module_ends_its_run_with_one_line(module, fault, problem):
    schemes = [module("faulty", f"fault={fault}"), module("faulty")]
    with pytest.raises(RunsFailed) as failed:
        airpath.compare(schemes, "12mbps", **LINK)
    (line,) = str(failed.value).splitlines()
    assert problem in line
    assert "seed 1" in line


def test_results_contain_how_a_module_was_compiled(module, airpath, compiler):
    source = Path(module("sample").removeprefix("linux:"))
    assert (
        airpath("compare", module("sample"), "--link", "12mbps", "--duration", "3s", "--out", "o").code == 0
    )
    facts = json.loads(Path("o/provenance.json").read_text(encoding="utf-8"))
    described = facts["outside"]["sample (linux)"]
    assert (described["scheme"], described["door"]) == (module("sample"), "Linux")
    compiled = described["compiled"]
    assert compiled["compiler"] == compiler.version
    assert "-fwrapv" in compiled["flags"]
    assert len(compiled["library_sha256"]) == 64
    (copy,) = Path("o/code").rglob("*.c")
    assert copy.read_bytes() == source.read_bytes()


def test_sweeps_and_reports_contain_how_a_module_was_compiled(module, airpath, compiler, folder):
    (folder / "own.toml").write_text(scenario_text("newreno"))
    named = f"own={module('sample')}:hz=300"
    (folder / "grid.toml").write_text(
        'name = "g"\nscenario = "own.toml"\nseeds = [1]\n'
        f'schemes = ["{module("sample")}", "{named}", "cubic"]\n'
    )
    assert airpath("sweep", "grid.toml", "--allow-code", "--out", "o").code == 0
    facts = json.loads(Path("o/provenance.json").read_text(encoding="utf-8"))
    assert list(facts["outside"]) == ["sample (linux)", "own"]
    assert facts["outside"]["own"]["scheme"] == named
    rows = outside_rows(facts)
    assert [row[0] for row in rows] == ["sample (linux)", "own"]
    (name,) = facts["outside"]["own"]["files"]
    digest = hashlib.sha256(Path(module("sample").removeprefix("linux:")).read_bytes()).hexdigest()
    assert rows[1][1:6] == (named, "Linux", name, digest, compiler.version)
    assert rows[1][6].startswith("-O2 -fPIC")
    assert outside_rows({}) == []


def test_the_report_has_the_files_from_outside(module, airpath, compiler):
    arguments = ("--link", "12mbps", "--duration", "2s", "--reps", "1", "--out", "o")
    assert airpath("compare", module("sample"), "cubic", *arguments).code == 0
    page = Path("o/report.html").read_text(encoding="utf-8")
    assert "From outside" in page
    table = page.partition("From outside")[2].partition("</table>")[0]
    assert all(text in table for text in ("sample (linux)", "tcp_sample.c", html.escape(compiler.version)))
    assert airpath("compare", "cubic", *arguments, "--force").code == 0
    assert "From outside" not in Path("o/report.html").read_text(encoding="utf-8")


def test_a_module_is_compiled_once(module, airpath, monkeypatch):
    arguments = ("compare", module("sample"), "--link", "12mbps", "--duration", "1s", "--force", "--out", "o")
    assert airpath(*arguments).code == 0

    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(compiling.Compiler, "compile", fail)
    build([Path(module("sample").removeprefix("linux:"))])
