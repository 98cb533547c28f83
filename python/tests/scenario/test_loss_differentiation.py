"""Any scheme with the suffix `-ld` is that scheme with loss differentiation."""

import pytest
from scenario_tables import assert_complete, dumbbell, plan

import airpath
from airpath.errors import ScenarioError, UsageError
from airpath.scenario import Scenario
from airpath.schemes import SCHEMES, find_scheme
from airpath.schemes.registry import named_schemes

PAPERS = {
    "kind": "loss-differentiation",
    "history": 32,
    "history_threshold": 16,
    "history_rule": "consecutive",
    "evidence": "feedback",
    "delay_share": 0.5,
}
REQUIRED = {"fixed": ":window=10 packets"}


def controller(scheme):
    return plan(dumbbell(flows__0__scheme=scheme))["flows"][0]["controller"]


@pytest.mark.parametrize("scheme", sorted({scheme.id for scheme in named_schemes().values()}))
def test_loss_differentiation_wraps_every_scheme_and_changes_nothing_else(scheme):
    options = REQUIRED.get(scheme, "")
    bare = plan(dumbbell(flows__0__scheme=f"{scheme}{options}"))
    resolved = plan(dumbbell(flows__0__scheme=f"{scheme}-ld{options}"))
    assert_complete(resolved)
    around = resolved["flows"][0].pop("controller")
    inner = around.pop("controller")
    inner = {"kind": inner} if isinstance(inner, str) else inner
    assert inner == bare["flows"][0].pop("controller")
    assert around["kind"] == "loss-differentiation"
    assert resolved == bare


def test_the_defaults_are_the_papers():
    found = controller("vcp-ld")
    assert found.pop("controller")["kind"] == "vcp"
    assert found == PAPERS
    found = controller("newreno-ld")
    assert found.pop("controller")["kind"] == "newreno"
    assert found == {**PAPERS, "evidence": "queueing-delay"}


def test_parameters_of_both_are_set_by_name():
    options = "kappa=0.5,history=8,history_threshold=3,history_rule=total,evidence=queueing-delay"
    found = controller(f"vcp-ld:{options},delay_share=0.25")
    assert found["controller"]["kappa"] == 0.5
    assert (found["history"], found["history_threshold"], found["history_rule"]) == (8, 3, "total")
    assert (found["evidence"], found["delay_share"]) == ("queueing-delay", 0.25)


def test_aliases_and_pairs_are_found():
    assert find_scheme("reno-ld").id == "newreno-ld"
    assert find_scheme("dpcp-oracle-ld").estimator == "oracle"
    for name in ("-ld", "cubic-ld-ld", "nothing-ld"):
        with pytest.raises(UsageError, match=f'there is no scheme "{name}"'):
            find_scheme(name)


def test_it_looks_different_from_the_scheme_inside():
    for scheme in SCHEMES:
        found = find_scheme(f"{scheme.id}-ld")
        assert found.colour != scheme.colour
        assert found.title == f"{scheme.title}-LD"
        assert set(scheme.parameters.keys) < set(found.parameters.keys)


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        ("vcp-ld:history=65", "history: found 65; accepted: at most 64"),
        ("vcp-ld:history_threshold=33", '"history_threshold" (33) must be at most "history" (32)'),
        ("vcp-ld:delay_share=1.0", "delay_share"),
        ("vcp-ld:history_rule=some", "history_rule"),
    ],
)
def test_bad_parameters_are_rejected(scheme, text):
    with pytest.raises(ScenarioError) as raised:
        Scenario.from_dict(dumbbell(flows__0__scheme=scheme)).plan()
    assert text in str(raised.value)


def lossy(scheme):
    """Return one flow over 10 Mbit/s and 100 ms, with one packet in a hundred corrupted."""
    changes = {
        "name": "lossy",
        "duration": "60s",
        "topology__bottleneck__rate": "10mbps",
        "topology__bottleneck__delay": "50ms",
        "topology__bottleneck__loss": 0.01,
        "flows__0__scheme": scheme,
        "flows__0__count": 1,
    }
    results = airpath.run(Scenario.from_dict(dumbbell(**changes)), repetitions=1)
    return results.summary["utilisation"].to_pylist()[0]


# XCP's routers redistribute part of the capacity that a loss costs during its repair: alone it uses two
# thirds.
@pytest.mark.parametrize(("scheme", "gain"), [("vcp", 1.4), ("xcp", 1.2), ("newreno", 1.4), ("cubic", 1.4)])
def test_with_corrupted_packets_it_fills_a_link_that_the_scheme_alone_does_not(scheme, gain):
    without, with_it = lossy(scheme), lossy(f"{scheme}-ld")
    assert with_it > gain * without
    assert with_it > 0.7
