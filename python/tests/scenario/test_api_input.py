"""The input that the Python functions accept, and their messages for other input."""

import numpy as np
import pytest

import airpath
from airpath.cli.trace import read
from airpath.errors import AirpathError, ScenarioError, UsageError
from airpath.runner import compare_scenarios
from airpath.scenario import Scenario
from airpath.schemes.registry import parse_scheme
from airpath.sweeps.plan import SweepPlan

SWEEP = {"name": "s", "scenario": "lte-download", "schemes": ["cubic"], "repetitions": 1}


def compared(schemes, link="5mbps", **more):
    return airpath.compare(schemes, link, duration="1s", jobs=1, **more)


def test_schemes_may_come_one_at_a_time():
    assert len(compared(iter(["cubic", "newreno"])).runs) == 2


def test_whole_numbers_of_numpy_are_numbers():
    one, two = np.int64(1), np.int64(2)
    assert [run.record.seed for run in compared(["cubic"], repetitions=two, seed=two, flows=one).runs] == [
        2,
        3,
    ]
    scenario = compare_scenarios(["cubic"], "5mbps", duration="1s")["cubic"]
    assert len(airpath.run(scenario.override({"flows.0.count": two}), repetitions=two, seed=one).runs) == 2
    plan = SweepPlan.from_dict(SWEEP | {"grid": {"flows.0.count": list(np.array([1, 2]))}})
    assert len(plan) == 2


def test_a_scenario_may_be_given_as_its_tables():
    tables = compare_scenarios(["cubic"], "5mbps", duration="1s")["cubic"].to_dict()
    assert len(airpath.run(tables).runs) == 1


def test_a_scheme_of_the_kernel_is_accepted_and_the_simulator_reports_that_it_lacks_it():
    assert compare_scenarios(["kernel:bbr"], "10mbps")["kernel:bbr"].name == "compare-kernel-bbr"
    with pytest.raises(AirpathError, match="which the simulator does not have"):
        compared(["kernel:bbr"])


def test_too_many_runs_for_memory_are_rejected_before_any_is_prepared(monkeypatch):
    monkeypatch.setattr("airpath.runner.Job", lambda **_: pytest.fail("a run was made ready"))
    with pytest.raises(ScenarioError, match="the records of 1000000000 runs would take about"):
        compared(["cubic"], repetitions=10**9)
    with pytest.raises(ScenarioError, match="repetitions: found 1000000000000; accepted: at most 1000000000"):
        compared(["cubic"], repetitions=10**12)
    with pytest.raises(ScenarioError, match="repetitions: found 1000000000000; accepted: at most 1000000000"):
        SweepPlan.from_dict(SWEEP | {"repetitions": 10**12})
    assert len(SweepPlan.from_dict(SWEEP | {"repetitions": 10**9})) == 10**9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compared([1]), "schemes: found 1; accepted: text"),
        (lambda: compared(None), "schemes: found None; accepted: a list of schemes"),
        (lambda: compared(["cubic"], 5), "link: found 5; accepted: text"),
        (lambda: compared(["cubic"], world=[]), r"world: found \[\]; accepted: sim"),
        (lambda: airpath.run(None), "scenario: found None; accepted: a scenario"),
        (lambda: airpath.sweep(3), "plan: found 3; accepted: a sweep"),
        (lambda: Scenario.load("lte-download").override({3: 4}), "found 3; accepted: the path of a key"),
        (lambda: parse_scheme("cubic:beta=0.5,beta=0.6"), 'found "beta" twice in "cubic:beta=0.5,beta=0.6"'),
    ],
)
def test_invalid_arguments_are_reported(call, message):
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.parametrize("name", ["n", "metric", "mean", "sd", "ci95_low", "ci95_high"])
def test_no_axis_has_the_name_of_a_statistics_column(name):
    plan = SWEEP | {"names": {name: "flows.0.count"}, "grid": {name: [1, 2]}}
    with pytest.raises(ScenarioError, match=f'no axis can be called "{name}"'):
        SweepPlan.from_dict(plan)


def test_a_table_that_does_not_exist_is_named_with_those_that_do():
    results = compared(["cubic"])
    for of in (results, results.runs[0]):
        with pytest.raises(KeyError, match="no table flow_serie; did you mean"):
            of.table("flow_serie")


def test_a_byte_order_mark_is_accepted(tmp_path):
    scenario = compare_scenarios(["cubic"], "5mbps", duration="1s")["cubic"]
    file = tmp_path / "marked.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8-sig")
    assert Scenario.load(file).plan() == scenario.plan()
    trace = tmp_path / "marked.csv"
    trace.write_text("time_s,rate_mbps\n0,8\n1,4\n", encoding="utf-8-sig")
    assert read(str(trace), None, "down").statistics()["mean_bps"] == pytest.approx(6e6)
