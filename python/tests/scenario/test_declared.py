"""Components that declare themselves: their tables, their values in a plan, and the format of the plan."""

import json

import pytest
from scenario_tables import dumbbell, plan

from airpath import _core
from airpath._declared import declarations
from airpath._declared import tables as declared
from airpath._declared.tables import plan_values, table
from airpath.errors import ScenarioError
from airpath.scenario import Scenario
from airpath.schemes import find_scheme


def controller(slow_start):
    scenario = dumbbell(flows__0__scheme="cubic", flows__0__parameters={"slow_start": slow_start})
    return plan(scenario)["flows"][0]["controller"]


def test_a_nested_component_has_parameters():
    assert controller("standard")["slow_start"] == "standard"
    slow_start = controller({"kind": "hystart++", "css_rounds": 3, "min_rtt_thresh": "2ms"})["slow_start"]
    assert slow_start["kind"] == "hystart++"
    assert (slow_start["css_rounds"], slow_start["min_rtt_thresh"]) == (3, 2_000_000)


def test_the_window_of_a_nested_component_may_be_in_packets():
    fixed = {"kind": "fixed", "window": "10 packets"}
    scenario = plan(dumbbell(flows__0__scheme="abc", flows__0__parameters={"second_window": fixed}))
    mss = scenario["flows"][0]["transport"]["mss_bytes"]
    assert scenario["flows"][0]["controller"]["second_window"]["window"] == 10 * mss


@pytest.mark.parametrize(
    ("slow_start", "message"),
    [
        (
            {"kind": "hystart"},
            'slow_start.kind: found "hystart" (did you mean "hystart++"?); accepted: standard,'
            " per-acknowledgment, every-other-round, hystart++, hoe",
        ),
        ({"kind": "hystart++", "css_rounds": 0}, "slow_start.css_rounds: found 0; accepted: at least 1"),
        (
            {"kind": "hystart++", "css_round": 1},
            'slow_start.css_round: unknown key; did you mean "css_rounds"? (accepted: css_growth_divisor,'
            " css_rounds, limit, max_rtt_thresh, min_rtt_divisor, min_rtt_thresh, n_rtt_sample)",
        ),
    ],
)
def test_faults_of_a_nested_component_have_its_path(slow_start, message):
    with pytest.raises(ScenarioError) as raised:
        controller(slow_start)
    assert str(raised.value) == f'scenario: flows[0].parameters.{message} (scheme "cubic")'


def test_the_engine_accepts_the_defaults_of_every_component():
    for kind in ("controller", "slow-start", "queue", "capacity-source"):
        for name in declarations.ids(kind):
            properties = declarations.declaration(kind, name).get("properties", {})
            required = {
                key: declared.formatted(kind, name, key, one["examples"][0])
                for key, one in properties.items()
                if "default" not in one and "examples" in one
            }
            context = {"packet": 1500, "mean_bps": 1e7, "mss": 1460, "protocol": "xcp"}
            plan = plan_values(table(kind, name).read(required), context)
            assert set(plan) - {"kind"} == set(declarations.declaration(kind, name)["x-order"])


def test_every_declared_controller_is_a_scheme():
    # The wrapper of other controllers has no id of its own: `cubic-ld` is CUBIC with loss differentiation.
    # CUBIC-EBE is CUBIC with an estimator.
    controllers = set(declarations.ids("controller")) - {"loss-differentiation", "cubic-ebe"}
    assert {find_scheme(name).controller for name in controllers} == controllers
    assert find_scheme("cubic-ebe").estimator == "ebe"


@pytest.mark.parametrize(("given", "found"), [(1, "1"), (3, "3"), (None, "none, as in version 1")])
def test_the_engine_rejects_plans_of_another_format(given, found):
    other = Scenario.from_dict(dumbbell()).plan() | {"format": given}
    with pytest.raises(_core.PlanError, match=f"^format of the plan: found {found}; accepted: 2$"):
        _core.Simulation(json.dumps(other), [], 1)
