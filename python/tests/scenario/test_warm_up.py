"""The default of the warm-up."""

import math

import pytest

from airpath import Scenario
from airpath.scenario import compare_scenario
from airpath.scenario.warm_up import automatic_warm_up

S = 10**9


@pytest.mark.parametrize(
    ("latest_start_s", "duration_s", "interval_s", "expected_s"),
    [
        (0, 60, 0.1, 2),
        (1, 60, 0.1, 3),
        (0.25, 60, 0.1, 2.3),  # a whole number of intervals
        (9, 30, 0.1, 6),  # at most a fifth of the run
        (math.inf, 30, 0.1, 6),
        (0, 0.8, 0.1, 0.1),
        (0, 0.3, 0.1, 0),
    ],
)
def test_it_is_two_seconds_after_the_latest_start_but_at_most_a_fifth(
    latest_start_s: float, duration_s: float, interval_s: float, expected_s: float
) -> None:
    found = automatic_warm_up(latest_start_s * S, int(duration_s * S), int(interval_s * S))
    assert found == int(expected_s * S)


def test_a_comparison_takes_it_and_a_scenario_only_on_request() -> None:
    (compared,) = compare_scenario(["cubic"], "12mbps", duration="30s")
    assert compared.document.record.warm_up == "auto"
    # Flows start within the first second.
    assert compared.plan()["record"]["measure_from_ns"] == compared.document.warm_up == 3 * S
    assert 'warm_up = "auto"' in compared.to_toml()
    (given,) = compare_scenario(["cubic"], "12mbps", duration="30s", warm_up="0s")
    assert given.plan()["record"]["measure_from_ns"] == 0
    written = Scenario.load("lte-download")
    assert written.document.record.warm_up == written.document.warm_up
    assert written.override({"record.warm_up": "auto"}).document.warm_up > 0
