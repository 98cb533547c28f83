"""Suites: their language, what is refused, and that the shipped ones pass."""

from pathlib import Path

import pytest

from airpath.checks import Suite, suite_names
from airpath.checks.expectation import Bound, Envelope, RelativeBound
from airpath.errors import AirpathError, ScenarioError, UsageError
from airpath.scenario import Scenario

CASE = {"name": "a", "link": "2mbps", "duration": "2s", "expect": {"utilisation": {"at_least": 0.5}}}
TWO_FLOWS = {
    "duration": "2s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "2mbps", "delay": "5ms"}},
    "flows": [{"name": "rival", "scheme": "cubic"}, {"name": "tested", "scheme": "newreno"}],
}
CALL = {"name": "call", "traffic": {"kind": "constant-bit-rate", "rate": "100kbps"}}
RIVAL = {"flows.0.scheme": "xcp"}


def suite(*cases, **more):
    return {"name": "mine", "scheme": "cubic", "cases": list(cases) or [CASE], **more}


def test_compared_schemes_run_over_the_same_random_samples():
    expect = {
        "goodput_mbps": [{"at_least": 0.9, "of": "newreno"}, {"at_most": "2mbps"}, {"baseline": "0.1mbps"}]
    }
    (case,) = Suite.from_dict(suite({**CASE, "expect": expect}, seed=7, repetitions=3)).cases
    assert list(case.scenarios) == ["cubic", "newreno"]
    assert {(one.seed, one.repetitions) for one in case.scenarios.values()} == {(7, 3)}
    assert case.expectations == (
        RelativeBound("goodput_mbps", True, 0.9, "newreno"),
        Bound("goodput_mbps", False, 2.0),
        Envelope("goodput_mbps", 0.1, absolute=True),
    )


def test_the_requested_scheme_replaces_all_others():
    found = Suite.from_dict(suite(CASE, {**CASE, "name": "b", "scheme": "vegas"}), scheme="newreno")
    assert [case.scheme for case in found.cases] == ["newreno", "newreno"]
    assert [case.scheme for case in Suite.from_dict(suite({**CASE, "scheme": "vegas"})).cases] == ["vegas"]


def test_only_the_flows_under_test_take_the_scheme():
    table = {"name": "a", "scenario": TWO_FLOWS, "tested": ["tested"], "expect": CASE["expect"]}
    (case,) = Suite.from_dict(suite(table), scheme="bbr").cases
    assert [flow.scheme for flow in case.scenarios["bbr"].document.flows] == ["cubic", "bbr"]


def test_without_a_scheme_the_scenario_keeps_its_own():
    table = {"name": "a", "scenario": TWO_FLOWS, "expect": CASE["expect"]}
    (case,) = Suite.from_dict({"name": "mine", "cases": [table]}).cases
    assert case.scheme == "cubic+newreno"


def test_a_case_overrides_the_suite_for_a_metric():
    expect = {"utilisation": {"at_least": 0.9}, "timeouts": {"at_most": 0}}
    (case,) = Suite.from_dict(suite(CASE, expect=expect)).cases
    assert case.expectations == (Bound("utilisation", True, 0.5), Bound("timeouts", False, 0.0))


def test_over_a_link_there_are_five_runs_by_default():
    assert Suite.from_dict(suite()).cases[0].scenarios["cubic"].repetitions == 5
    assert Suite.from_dict(suite(repetitions=3)).cases[0].scenarios["cubic"].repetitions == 3
    both = Suite.from_dict(suite({**CASE, "repetitions": 2, "seed": 0}, repetitions=3, seed=9))
    assert (both.cases[0].scenarios["cubic"].repetitions, both.cases[0].scenarios["cubic"].seed) == (2, 0)


def test_chosen_cases_are_those_in_the_order_of_the_suite():
    cases = [{**CASE, "name": name, "title": f"case {name}"} for name in "abc"]
    found = Suite.from_dict(suite(*cases, title="Mine"), only=["c", "a"])
    assert [(case.name, case.title) for case in found.cases] == [("a", "case a"), ("c", "case c")]
    assert (found.name, found.title, found.is_whole) == ("mine", "Mine", False)
    assert Suite.from_dict(suite(*cases), only=["a", "b", "c"]).is_whole


def test_baselines_and_traces_are_next_to_the_suite_and_those_of_shipped_suites_are_local(
    tmp_path, monkeypatch
):
    assert Suite.load("wireless", only=["lte"]).baseline == Path("wireless.baseline.json")
    assert Suite.from_dict(suite(), folder=tmp_path).baseline == tmp_path / "mine.baseline.json"
    assert Suite.from_dict(suite(), folder=tmp_path, baseline=Path("b")).baseline == Path("b")
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there" / "my.trace").write_text("10\n20\n30\n")
    (tmp_path / "there" / "own.toml").write_text(
        'name = "mine"\nscheme = "cubic"\n[[cases]]\nname = "a"\nlink = "my.trace"\nduration = "1s"\n'
        "expect = { utilisation = { at_least = 0.5 } }\n"
        '[[cases]]\nname = "b"\nscenario = "two-way.toml"\nexpect = { utilisation = { at_least = 0.5 } }\n'
        '[[cases]]\nname = "c"\nscenario = "two-way"\nexpect = { utilisation = { at_least = 0.5 } }\n'
    )
    shipped = Scenario.load("two-way").override({"duration": "17s"}).to_toml()
    (tmp_path / "there" / "two-way.toml").write_text(shipped)
    found = Suite.load("there/own.toml")
    assert found.baseline == Path("there/own.baseline.json")
    assert [trace.path.name for trace in found.cases[0].scenarios["cubic"].traces] == ["my.trace"]
    durations = [case.scenarios["cubic"].plan()["duration_ns"] for case in found.cases[1:]]
    assert durations == [17e9, Scenario.load("two-way").plan()["duration_ns"]]


def test_settings_change_the_scenario():
    (case,) = Suite.from_dict(suite({**CASE, "set": {"topology.bottleneck.loss": 0.01}})).cases
    assert case.scenarios["cubic"].plan()["links"][0]["loss"] == 0.01


@pytest.mark.parametrize("name", suite_names())
@pytest.mark.parametrize("scheme", [None, "bbr", "copa", "ledbat++"])
def test_shipped_suites_accept_schemes_of_senders(name, scheme):
    assert Suite.load(name, scheme=scheme).cases


def test_shipped_suites_omit_cases_without_a_baseline():
    assert not any(Suite.load(name).needs_baseline for name in suite_names())
    assert Suite.from_dict(suite()).needs_baseline


WRONG = [
    ("no cases", {"name": "mine", "cases": []}, "cases"),
    ("unknown key", suite(sede=3), 'did you mean "seed"'),
    (
        "unknown metric",
        suite({**CASE, "expect": {"utilization": {"at_least": 1}}}),
        'did you mean "utilisation"',
    ),
    ("no limit", suite({**CASE, "expect": {"utilisation": {}}}), "found no limit"),
    ("unknown limit", suite({**CASE, "expect": {"utilisation": {"atleast": 1}}}), 'did you mean "at_least"'),
    (
        "number expected",
        suite({**CASE, "expect": {"utilisation": {"at_least": "90 %"}}}),
        "accepted: a number",
    ),
    (
        "not finite",
        suite({**CASE, "expect": {"utilisation": {"at_least": float("nan")}}}),
        "accepted: a number",
    ),
    ("truth", suite({**CASE, "expect": {"utilisation": {"at_least": True}}}), "accepted: a number"),
    ("wrong unit", suite({**CASE, "expect": {"queueing_p95_ms": {"at_most": "2mbps"}}}), "a duration"),
    ("negative", suite({**CASE, "expect": {"utilisation": {"baseline": -1}}}), "0 or more"),
    (
        "two things",
        suite({**CASE, "expect": {"utilisation": {"baseline": 0, "at_least": 1}}}),
        "cannot be combined with other limits",
    ),
    ("no factor", suite({**CASE, "expect": {"utilisation": {"at_least": "1", "of": "cubic"}}}), "factors"),
    ("nothing expected", suite({**CASE, "expect": {}}), "a has no expectation"),
    ("name twice", suite(CASE, CASE), "given twice"),
    ("neither", suite({"name": "a", "expect": CASE["expect"]}), "one of them"),
    ("rtt of a scenario", suite({"name": "a", "scenario": "two-way", "rtt": "1s"}), 'needs "link"'),
    (
        "no such scenario",
        suite({"name": "a", "scenario": "two-wy", "expect": CASE["expect"]}),
        'did you mean "two-way"',
    ),
    ("no such link", suite({**CASE, "link": "lte.dwn"}), 'cases[0] (a): link: found "lte.dwn"'),
    ("no such scheme", suite({**CASE, "scheme": "cubik"}), 'did you mean "cubic"'),
    ("no such reference", suite({**CASE, "expect": {"timeouts": {"at_most": 1, "of": "cubik"}}}), "cubic"),
    ("no such key", suite({**CASE, "set": {"flows.7.count": 2}}), "cannot set"),
    (
        "no such flow",
        suite({"name": "a", "scenario": TWO_FLOWS, "tested": ["test"], "expect": CASE["expect"]}),
        '"tested"',
    ),
    ("no scheme", {"name": "mine", "cases": [CASE]}, "--scheme"),
    (
        "nothing to stand in for",
        suite({"name": "a", "scenario": {**TWO_FLOWS, "flows": [CALL]}, "expect": CASE["expect"]}),
        "no flow of the scenario has a scheme",
    ),
    (
        "one scheme by two names",
        suite(
            {**CASE, "expect": {"timeouts": {"at_most": 1, "of": "cubic:beta=0.7"}}}, scheme="cubic:beta=0.70"
        ),
        'which is the scheme "cubic:beta=0.70"; accepted: one name',
    ),
    (
        "different routers",
        suite(
            {
                "name": "a",
                "scenario": TWO_FLOWS,
                "tested": ["tested"],
                "set": RIVAL,
                "expect": CASE["expect"],
            },
            scheme="vcp",
        ),
        "cases[0] (a): ",
    ),
    ("too much for the memory", suite({**CASE, "duration": "1000000h"}), "cases[0] (a): "),
]


@pytest.mark.parametrize(("tables", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_errors_are_one_line(tables, said):
    with pytest.raises(AirpathError) as refused:
        Suite.from_dict(tables)
    assert isinstance(refused.value, ScenarioError | UsageError)
    assert said in str(refused.value)
    assert "\n\n" not in str(refused.value)


def test_unknown_cases_and_suites_are_rejected():
    with pytest.raises(UsageError, match='did you mean "lte"'):
        Suite.load("wireless", only=["lt"])
    with pytest.raises(ScenarioError, match='did you mean "wireless"'):
        Suite.load("wirless")
    assert not Suite.load("wireless", only=["lte"]).is_whole


def test_every_shipped_suite_can_be_read():
    for name in ("wireless", "rfc9743"):
        suite = Suite.load(name, scheme="newreno")
        assert suite.is_whole
        assert len(suite.cases) >= 7
    assert {case.name.split("-")[0] for case in Suite.load("rfc9743").cases} >= {
        "5.1.1",
        "5.1.2",
        "5.1.3",
        "5.1.4",
        "5.1.5",
        "5.2.1",
        "5.2.2",
        "5.2.3",
        "6.4",
        "7.1",
    }
