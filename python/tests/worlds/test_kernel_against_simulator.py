"""The kernel's congestion controls over an emulated link give what the simulator's give.

A short form of `make bench-worlds`, which has more scenarios, longer runs and intervals.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import bench_worlds as bench
import pytest

FIRST = next(iter(bench.SCENARIOS))


@pytest.mark.usefixtures("emulated_hosts")
@pytest.mark.parametrize("scheme", list(bench.SCHEMES))
def test_goodput_and_queue_are_the_simulators(scheme: str, nothing_valid: Callable[[str], NoReturn]) -> None:
    compared = bench.compare(bench.scenario(FIRST, scheme, "15s"), runs=1, attempts=2)
    if not compared.runs:
        nothing_valid(compared.rejected[-1])
    assert {one.metric for one in compared.differences} == set(bench.METRICS)
    for one in compared.differences:
        assert bench.is_within(one), one


def test_what_is_beyond_its_bound_is_found() -> None:
    """CUBIC under a buffer four times as large has the same goodput and another queue."""
    scenario = bench.scenario(FIRST, "cubic", "15s")
    larger = scenario.override({"topology.bottleneck.queue.limit": "4bdp"})
    runs = [bench.airpath.run(one, progress=False).runs[0] for one in (scenario, larger)]
    runs[1].record = replace(runs[1].record, scheme="other")
    found = bench.differences(bench.Results(runs), "cubic", "other")
    within = {one.metric: bench.is_within(one) for one in found}
    assert (within["goodput_mbps"], within["queue_mean_bytes"]) == (True, False)
