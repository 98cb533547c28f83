"""Any value at any place of a scenario either works, or the error is one of ours."""

import copy
import tomllib

import pytest

from airpath.errors import AirpathError
from airpath.scenario import Scenario
from airpath.scenario.load import find_file, read_file

JUNK = [
    None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**30, "", "x", "10mbps", "0ms", "unlimited",
    "lte.down", [], [[]], [1, "a", {}], {}, {1: 2}, {"kind": "x"}, {"kind": 5}, {"kind": ["a"]},
    {"uniform": 5}, {"uniform": ["1ms", "2ms"]}, {"kind": "steps", "steps": []},
    {"kind": "trace", "file": "/"},
]  # fmt: skip


@pytest.mark.parametrize("name", ["ebe-moving-bottleneck", "parking-lot"])
def test_invalid_values_anywhere_raise_only_airpath_errors(name):
    tables = read_file(find_file(name))
    worked = 0
    for path in places(tables):
        for junk in JUNK:
            try:
                scenario = Scenario.from_dict(put(tables, path, junk))
                scenario.plan()
            except AirpathError as error:
                text = str(error)
                assert text.startswith("scenario: "), (path, junk)
                assert "\n\n" not in text, (path, junk)
                continue
            scenario.describe()
            again = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
            assert again.plan() == scenario.plan(), (path, junk)
            worked += 1
    # Some junk is a valid value somewhere; most is not.
    assert 0 < worked < len(JUNK) * len(list(places(tables))) / 5


def places(value, path=()):
    """Return the path of everything inside a nested value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def put(value, path, junk):
    """Return a copy with the value at `path` replaced."""
    if not path:
        return junk
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], junk)
    return changed
