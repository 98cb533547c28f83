"""A fault of code of the user ends its runs; every command keeps the others and names file, line and seed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from airpath._run import workers
from airpath.checks import Suite, check
from airpath.errors import PluginError
from airpath.learning import BottleneckEnv, BottleneckVectorEnv, evaluate
from airpath.runner import Interrupted, RunsFailed, compare

BROKEN = """
    import airpath


    class Broken(airpath.Controller):
        def on_ack(self, ack):
            raise ValueError("oops")

        def on_congestion(self, signal):
            pass
"""
LINE = "broken.py:7: ValueError: oops"
BRIEF = ("--duration", "2s", "--no-report", "--out", "out")


@pytest.fixture(autouse=True)
def broken(write):
    write("broken.py", BROKEN)
    return "broken.py:Broken"


def test_the_file_is_named_as_in_the_command(airpath, broken):
    done = airpath("compare", broken, "newreno", "--link", "12mbps", "--reps", "1", *BRIEF)
    assert done.code == 1
    assert f"airpath: {LINE} (Broken, seed 1, at " in done.err


def test_rivals_reports_the_pairs_that_ran(airpath, broken):
    command = ("rivals", broken, "newreno", "--link", "12mbps", "--warm-up", "0s", *BRIEF)
    done = airpath(*command)
    assert done.code == 1
    assert f"airpath: {LINE} (Broken+newreno, seed 1, at " in done.err
    assert "keeping the 1 of 3 runs" in done.err
    meetings = json.loads(Path("out/rivals.json").read_text())["meetings"]
    assert [(one["scheme"], one["beside"]) for one in meetings] == [("newreno", "newreno")]
    assert "share of a flow" in done.out
    assert json.loads(airpath(*command, "--json", "--force").out)["interrupted"] is True


def test_gap_compares_the_schemes_that_ran(airpath, write, broken):
    write(
        "own.toml",
        """
        name = "own"
        duration = "2s"
        flows = [{ name = "flow", scheme = "cubic" }]

        [topology]
        kind = "dumbbell"
        bottleneck = { rate = "10mbps", delay = "10ms" }
        """,
    )
    arguments = ("--world", "quic", "--reps", "1", "--no-report", "--out", "out")
    done = airpath("gap", "own.toml", broken, "newreno", "--json", *arguments)
    assert done.code == 1
    last = done.err.splitlines()[-1].removeprefix("airpath: ")
    assert last.startswith(f"{LINE} (Broken, seed 1, at ")
    assert "keeping the 2 of 4 runs that were finished" in done.err
    found = json.loads(Path("out/gap.json").read_text())
    assert found["failures"] == [last]
    assert json.loads(done.out)["interrupted"] is True
    assert [(one["scheme"], list(one["differences"])) for one in found["schemes"]] == [
        ("Broken", []),
        ("newreno", ["quic"]),
    ]
    assert found["schemes"][0]["missing"] == {
        "sim": "1 of 1 runs failed",
        "quic": "it did not run, because simulated runs failed",
    }
    alone = airpath("gap", "own.toml", broken, *arguments[:-1], "other")
    assert alone.code == 1
    assert "no run was finished, so nothing was written" in alone.err


def test_a_message_of_several_lines_is_one_failure(write):
    several = BROKEN.replace("oops", r"oops\nat the second ACK")
    write("several.py", several)
    link = {"link": "12mbps", "duration": "2s", "repetitions": 1}
    with pytest.raises(RunsFailed) as failed:
        compare(["several.py:Broken"], progress=False, **link)
    (failure,) = failed.value.failures
    assert failure.startswith("several.py:7: ValueError: oops\nat the second ACK (Broken, seed 1, at ")
    case = {"name": "own", "scheme": "several.py:Broken", **link}
    suite = {"name": "own", "expect": {"utilisation": {"at_least": 0.1}}, "cases": [case]}
    (checked,) = check(Suite.from_dict(suite)).cases
    assert [one.remark for one in checked.judged] == [failure]


def test_an_interrupt_keeps_earlier_failures(monkeypatch, broken):
    done = workers.execute

    def interrupted(*given, **named):
        return replace(done(*given, **named), interrupted=True)

    monkeypatch.setattr("airpath.runner.execute", interrupted)
    monkeypatch.setattr("airpath.learning.evaluation.execute", interrupted)
    with pytest.raises(Interrupted) as compared:
        compare([broken], "10mbps", duration="2s", repetitions=1, progress=False)
    with pytest.raises(Interrupted) as evaluated:
        evaluate(lambda rows: np.zeros(len(rows)), [broken], link="10mbps", duration="2s")
    for stopped in (compared.value, evaluated.value):
        (failure,) = stopped.failures
        assert failure.startswith(LINE)


def test_evaluations_of_policies_raise_the_faults_of_schemes(broken):
    with pytest.raises(RunsFailed, match=rf"^{LINE} \(Broken, seed 1, at ") as failed:
        evaluate(lambda rows: np.zeros(len(rows)), [broken, "newreno"], link="10mbps", duration="2s")
    assert [run.record.scheme for run in failed.value.results.runs] == ["agent", "newreno"]


def steps(env, shape=1):
    """Step to the end of the episode, or of an episode."""
    while not np.any(env.step(np.ones(shape, dtype=np.float32))[2:4]):
        pass


def test_environments_name_the_seed(broken):
    env = BottleneckEnv(link="10mbps", rivals=[broken], duration="2s")
    env.reset(seed=7)
    with pytest.raises(PluginError, match=rf"^{LINE} \(seed 7, at "):
        steps(env)


def test_a_vector_environment_names_the_seed_of_the_environment_that_failed(broken):
    env = BottleneckVectorEnv(3, link="10mbps", rivals=[broken], duration="2s")
    env.reset(seed=[7, 8, 9])
    with pytest.raises(PluginError, match=rf"^{LINE} \(seed 7, at "):
        steps(env, (3, 1))


LATE = """
    import airpath


    class Late(airpath.Controller):
        def on_ack(self, ack):
            if ack.now > 1.5:
                raise ValueError("late")

        def on_congestion(self, signal):
            pass
"""


def test_a_fault_after_the_last_step_of_an_agent_names_the_seed(write):
    write("late.py", LATE)
    flows = [
        {"name": "agent", "scheme": "agent", "traffic": {"kind": "file", "size": "50kB"}},
        {"name": "rival", "scheme": "late.py:Late"},
    ]
    bottleneck = {"rate": "10mbps", "delay": "10ms"}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    env = BottleneckEnv(scenario={"name": "own", "duration": "2s", "topology": topology, "flows": flows})
    env.reset(seed=7)
    steps(env)
    with pytest.raises(PluginError, match=r"^late\.py:8: ValueError: late \(seed 7, at 1\.5"):
        env.results()
