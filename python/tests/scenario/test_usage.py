"""Errors outside the tables of a scenario, with the exact message: in files, and in calls."""

import pytest
from scenario_tables import dumbbell

from airpath.errors import ScenarioError, UsageError
from airpath.scenario import Scenario, compare_scenario, parse_assignment


def test_faults_of_files_name_the_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nduration = 5 s\n')
    with pytest.raises(ScenarioError, match=r"mine\.toml: not valid TOML: .*line 2, column 14"):
        Scenario.load(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match=r"mine\.toml: not a text file in UTF-8"):
        Scenario.load(file)
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("lte-downlod")
    assert str(caught.value).startswith(
        'lte-downlod: neither a file nor a shipped scenario; did you mean "lte-download"? (nearest: '
    )


def test_faults_of_usage():
    def usage(call, *arguments, **more):
        with pytest.raises(UsageError) as caught:
            call(*arguments, **more)
        return str(caught.value)

    scenario = Scenario.from_dict(dumbbell())
    assert (
        usage(parse_assignment, "duration")
        == 'found "duration"; accepted: key=value, such as flows.0.count=5'
    )
    assert (
        usage(scenario.override, {"flows.1.count": 2})
        == 'cannot set "flows.1": accepted are the numbers 0 to 0'
    )
    assert usage(scenario.override, {"duration.x": 2}) == (
        'cannot set "duration.x": "duration" is the single value \'10s\', not a table'
    )
    assert usage(compare_scenario, [], "12mbps") == "no scheme was given; name at least one"
    assert usage(compare_scenario, ["cubic"], "12mbps", rtt="40") == (
        'rtt: found "40", which has no unit; accepted: a duration with a unit'
        ' (ns, us, ms, s, min, h), such as "32ms"'
    )
    assert usage(compare_scenario, ["cubic"], "12MBps") == (
        'link: found "12MBps": rates are in bits, never bytes; if bytes were meant, write "96 Mbit/s"'
    )
    assert usage(compare_scenario, ["cubic"], "lte.donw") == (
        'link: found "lte.donw", which is neither a rate, nor a file, nor a shipped link; did you'
        ' mean "lte.down"?'
        " (accepted: ebe.bottleneck, ebe.random, lte.down, lte.up)"
    )
