"""The gate against slowdowns fails if runs take more instructions than stored."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bench_instructions as gate
import pytest

ROOT = Path(__file__).parents[3]
TOOL = ROOT / "tools" / "bench_instructions.py"
RUN = "newreno 1"


def figures(count, compiler="rustc 1"):
    return gate.Figures(compiler, "x86_64", {RUN: count}, {})


@pytest.mark.parametrize(("count", "is_open"), [(80.0, True), (109.9, True), (110.1, False), (200.0, False)])
def test_the_gate_closes_above_ten_percent(count, is_open):
    said, opened = gate.verdict(figures(count), figures(100.0))
    assert opened == is_open
    assert any("--store" in line for line in said) != is_open


def test_another_compiler_is_reported():
    said, _ = gate.verdict(figures(100.0, "rustc 2"), figures(100.0))
    assert any("rustc 2" in line and "rustc 1" in line for line in said)
    said, _ = gate.verdict(figures(100.0), figures(100.0))
    assert len(said) == 1


def test_engines_are_compared_with_figures_of_their_kind():
    stored = gate.Figures("rustc 1", "x86_64", {RUN: 100.0}, {RUN: 120.0})
    assert gate.verdict(gate.Figures("rustc 2", "x86_64", {}, {RUN: 121.0}), stored)[1]
    assert not gate.verdict(gate.Figures("rustc 1", "x86_64", {RUN: 121.0}, {}), stored)[1]


def test_a_run_without_a_figure_closes_the_gate():
    said, is_open = gate.verdict(figures(100.0), gate.Figures("rustc 1", "x86_64", {}, {RUN: 100.0}))
    assert not is_open
    assert said[0] == f"{RUN}: no figure is stored"


def test_the_gate_closes_when_set_up_grows_with_the_square_of_the_flows():
    few, many = gate.FLOWS
    assert gate.set_up_verdict(1000.0, 1100.0)[1]
    assert not gate.set_up_verdict(1000.0 * few, 1000.0 * many)[1]


def test_every_run_has_a_figure():
    stored = json.loads(gate.FIGURES.read_text())
    assert set(stored["profiled"]) == set(stored["plain"]) == set(gate.RUNS)
    assert stored["compiler"].startswith("rustc ")


def test_the_gate_closes_if_the_profile_is_useless():
    stored = gate.Figures(**json.loads(gate.FIGURES.read_text()))
    for run in gate.RUNS:
        unprofiled = gate.Figures(stored.compiler, stored.machine, {run: stored.plain[run]}, {})
        assert not gate.verdict(unprofiled, stored)[1], run


def test_without_valgrind_the_skip_is_reported(tmp_path):
    done = called(gate.FIGURES, PATH=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.startswith("SKIPPED: ")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_a_run_that_grew_fails_and_an_updated_figure_opens(tmp_path):
    file = tmp_path / "figures.json"
    stored = json.loads(gate.FIGURES.read_text())
    if reason := gate.why_not(gate.Figures(**stored)):
        pytest.skip(reason)
    # As if the stored count were of an engine that needs four fifths of ours.
    counted = gate.instructions(gate.installed(), RUN)
    kind = "profiled" if gate.flags() else "plain"
    stored[kind][RUN] = 0.8 * counted
    file.write_text(json.dumps(stored))
    done = called(file)
    assert done.returncode == 1
    # Counts in two environments differ by up to a thousandth, with the alignment of the stack.
    growth = re.search(r"\(\+(\d+\.\d)%\): over 10% more", done.stdout)
    assert growth is not None, done.stdout
    assert float(growth[1]) == pytest.approx(25, abs=0.5)
    stored[kind][RUN] = counted
    file.write_text(json.dumps(stored))
    assert called(file).returncode == 0


def called(file, **environment):
    command = [sys.executable, str(TOOL), "--figures", str(file), "--only", RUN]
    return subprocess.run(
        command, env=environment or None, capture_output=True, text=True, check=False, timeout=600
    )
