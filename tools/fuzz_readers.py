"""The Python readers that `make fuzz` fuzzes: of scenarios, sweeps, suites, losses, configurations, results.

Kept runs and tables have checksums, which are computed for each input, so that it reaches the code behind
them. `docs/development/fuzzing.md` has the details.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz_setups import SETUPS, judged
from fuzz_tables import (
    CHANGES,
    changed_tables,
    kept_run,
    kept_run_without_checksum,
    part_of_a_sweep,
    part_without_checksum,
)

import airpath
from airpath._os.input_file import InputFile
from airpath.checks import Suite
from airpath.checks.baseline import read_baselines
from airpath.checks.suite import SHIPPED as SUITES
from airpath.errors import AirpathError
from airpath.loss_fit.reading import read_losses, what_is_no_loss
from airpath.results.directory import is_results
from airpath.results.reading import read
from airpath.scenario import Scenario
from airpath.scenario.load import SHIPPED
from airpath.sweeps.plan import SweepPlan
from airpath.sweeps.results import FAILURES, STATE, read_failures, read_state

SLOW_S = 20.0
"""Limit of the processor time of an input, in seconds, and of one smaller than `SMALL` bytes."""
SLOW_IF_SMALL_S = 2.0
SMALL = 10_000
LARGE_KB = 500 << 10
"""Limit of the growth of the process's memory, KiB."""
MANY = 10_000
"""Scenarios with more flows are skipped: their work is legitimate."""

Reader = Callable[[bytes, Path], bool]
"""Takes bytes and a folder to write in, and returns whether it accepted them."""


def _refused(error: AirpathError, file: Path) -> bool:
    """Check that the message of an error names the file; return `False` for a refused input."""
    text = str(error)
    assert file.name in text or "scenario" in text, f"the message does not name the file: {text!r}"
    assert "\n\n" not in text, text
    return False


def scenarios(content: bytes, folder: Path) -> bool:
    """Read a scenario, and make its plan."""
    file = folder / "fuzzed.toml"
    file.write_bytes(content)
    try:
        scenario = Scenario.load(file)
        if sum(flows.count for flows in scenario.document.flows) > MANY:
            return False
        scenario.plan()
    except AirpathError as error:
        return _refused(error, file)
    scenario.describe()
    again = Scenario.from_dict(scenario.to_dict(), folder=folder)
    assert again.plan() == scenario.plan()
    try:
        scenario.refuse_if_too_large(4 << 30)
    except AirpathError as error:
        return _refused(error, file)
    return True


def sweeps(content: bytes, folder: Path) -> bool:
    """Read a sweep, and make its first runs."""
    file = folder / "fuzzed.toml"
    file.write_bytes(content)
    try:
        plan = SweepPlan.load(file)
    except AirpathError as error:
        return _refused(error, file)
    assert plan.summary()
    for _, run in zip(range(3), plan.runs(), strict=False):
        assert run.task.scenario
    return True


def losses(content: bytes, folder: Path) -> bool:
    """Read a trace of losses."""
    file = folder / "fuzzed.txt"
    file.write_bytes(content)
    recording = InputFile(file, str(file))
    try:
        if read_losses(recording) is not None:
            return True
        what_is_no_loss(recording)
    except AirpathError as error:
        return _refused(error, file)
    return False


def setups(content: bytes, folder: Path) -> bool:
    """Read a traffic control configuration, check it, print it, and make its scenario."""
    file = folder / "fuzzed.sh"
    file.write_bytes(content)
    try:
        return judged(file)
    except AirpathError as error:
        return _refused(error, file)


def states(content: bytes, folder: Path) -> bool:
    """Read the state of the sweep or the results in a folder."""
    for name in (STATE, FAILURES, "provenance.json"):
        (folder / name).write_bytes(content)
    known = bool(read_state(folder)) | is_results(folder)
    try:
        return bool(read_failures(folder)) or known
    except AirpathError as error:
        return _refused(error, folder / FAILURES) or known


def _of_results(name: str) -> Callable[[bytes, Path], bool]:
    def feed(content: bytes, folder: Path) -> bool:
        there = folder / "results"
        if not there.is_dir():
            shutil.copytree(_results(), there)
        (there / name).write_bytes(content)
        try:
            results = read(there)
        except AirpathError as error:
            return _refused(error, there)
        return len(results.runs) > 0

    return feed


def result_tables(content: bytes, folder: Path) -> bool:
    """Read results with changed tables."""
    try:
        return changed_tables(_results(), content, folder)
    except AirpathError as error:
        return _refused(error, folder / "results")


def suites(content: bytes, folder: Path) -> bool:
    """Read a suite of checks, and make the scenarios of its cases."""
    file = folder / "fuzzed.toml"
    file.write_bytes(content)
    try:
        suite = Suite.load(file)
    except AirpathError as error:
        return _refused(error, file)
    return all(case.expectations for case in suite.cases)


def baselines(content: bytes, folder: Path) -> bool:
    """Read baselines, write them, and check that reading them again gives the same."""
    file, again = folder / "fuzzed.json", folder / "again.json"
    file.write_bytes(content)
    try:
        known = read_baselines(file, "small")
    except AirpathError as error:
        return _refused(error, file)
    known.write(again)
    assert read_baselines(again, "small") == known
    return True


TARGETS: Mapping[str, Reader] = {
    "scenarios": scenarios,
    "sweeps": sweeps,
    "suites": suites,
    "baselines": baselines,
    "losses": losses,
    "setups": setups,
    "states": states,
    "result-plans": _of_results("plan.json"),
    "result-facts": _of_results("provenance.json"),
    "result-tables": result_tables,
    "kept-runs": kept_run,
    "sweep-parts": part_of_a_sweep,
}
"""The readers by name, which is also the name of the folder of their seeds."""

_kept: list[Path] = []


def _results() -> Path:
    return _kept[0]


_SMALL_SCENARIO = """
name = "small"
duration = "1s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "4mbps"
delay = "5ms"
queue = { kind = "drop-tail", limit = "1bdp" }
[[flows]]
name = "one"
scheme = "cubic"
"""


_SMALL_SUITE = """
name = "small"
seed = 3
repetitions = 2
[expect]
goodput_mbps = [{ at_least = 0.9, of = "newreno" }, { at_most = "10mbps" }, { baseline = "100kbps" }]
[[cases]]
name = "one"
scenario = "two-way"
scheme = "cubic"
tested = ["download"]
set = { duration = "3s", "record.warm_up" = "1s" }
expect.utilisation = { at_least = 0.5 }
"""

_SMALL_BASELINE = """{
 "format": "airpath baseline 1",
 "suite": "small",
 "cases": {
  "one": {
   "cubic": {
    "airpath": "0.2.0",
    "commit": null,
    "scenario_sha256": "00ff",
    "inputs": {"lte.down": "00ff"},
    "metrics": {
     "goodput_mbps": {
      "mean": 2.5, "sd": 0.7, "n": 2, "ci95_low": -3.8, "ci95_high": 8.8,
      "values": {"3": 2.0, "4": 3.0}
     }
    }
   }
  }
 }
}
"""


def write_seeds(folder: Path) -> None:
    """Write a folder of seeds for each target, made by airpath itself, and `plans` for the Rust targets."""
    for name in [*TARGETS, "plans"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for file in sorted(SHIPPED.glob("*.toml")):
        shutil.copy(file, folder / "scenarios" / file.name)
        text = json.dumps(Scenario.load(file).plan(), indent=1)
        if len(text) < 60_000:
            (folder / "plans" / f"{file.stem}.json").write_text(text)
    for file in sorted((Path(airpath.__file__).parent / "sweeps" / "plans").glob("*.toml")):
        shutil.copy(file, folder / "sweeps" / file.name)
    (folder / "sweeps" / "small.toml").write_text(
        'name = "s"\nscenario = "ebe-steps-o"\nseeds = [1, 2]\n[grid]\n'
        '"duration" = ["5s", "10s"]\nseed = {from = 1, to = 9, step = 2}\n'
    )
    for file in sorted(SUITES.glob("*.toml")):
        shutil.copy(file, folder / "suites" / file.name)
    (folder / "suites" / "small.toml").write_text(_SMALL_SUITE)
    (folder / "baselines" / "small.json").write_text(_SMALL_BASELINE)
    for name, text in {
        "digits": "0010100111\n0 1 0\n# said\n",
        "table": "time_ms,lost\n0,0\n1.5,1\n2,0\n",
        "numbers": "1\n2\n30\n",
    }.items():
        (folder / "losses" / name).write_text(text)
    for name, text in SETUPS.items():
        (folder / "setups" / name).write_text(text)
    for name, text in {
        "state": '{\n "format": "airpath sweep 1",\n "runs": 3,\n "tables": ["flows"]\n}\n',
        "failures": '{\n "failures": [{"run": 1, "error": "x"}]\n}\n',
    }.items():
        (folder / "states" / name).write_text(text)
    use_seeds(folder)
    results = _results()
    if not results.is_dir():
        _write_results(results)
    shutil.copy(results / "provenance.json", folder / "states" / "provenance")
    shutil.copy(results / "plan.json", folder / "result-plans" / "plan.json")
    shutil.copy(results / "provenance.json", folder / "result-facts" / "provenance.json")
    for number, change in enumerate(CHANGES):
        (folder / "result-tables" / f"{number:02}").write_text(change)
    (folder / "kept-runs" / "run").write_bytes(kept_run_without_checksum(results))
    (folder / "sweep-parts" / "part").write_bytes(part_without_checksum(results))


def use_seeds(folder: Path) -> None:
    """Choose the folder of seeds with the results that some targets change."""
    _kept[:] = [folder / "kept" / "results"]


def add_seeds(folder: Path, more: Path) -> None:
    """Copy the files of another folder, cut to the size limit of inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(more.iterdir()):
        if file.is_file():
            (folder / f"more-{file.name}").write_bytes(file.read_bytes()[:65536])


def _write_results(folder: Path) -> None:
    file = folder.parent / "small.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_SMALL_SCENARIO)
    command: list[str | Path] = [sys.executable, "-m", "airpath", "run", file, "--no-report", "--out", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def feed(read: Reader, content: bytes, folder: Path) -> bool:
    """Read an input, and return whether it was accepted.

    Raises
    ------
    AssertionError
        If it takes too long or uses too much memory, or a check of the reader fails.
    """
    began_s, memory_kb = time.process_time(), _peak_kb()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accepted = read(content, folder)
    took_s = time.process_time() - began_s
    limit_s = SLOW_IF_SMALL_S if len(content) < SMALL else SLOW_S
    assert took_s <= limit_s, f"{len(content)} bytes take {took_s:.1f} s"
    grown_kb = _peak_kb() - memory_kb
    assert grown_kb <= LARGE_KB, f"{len(content)} bytes take {grown_kb >> 10} MiB of memory"
    return accepted


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
