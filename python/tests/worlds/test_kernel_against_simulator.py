"""The congestion controls of the kernel over an emulated link have the results of the simulator.

A short form of `make bench-worlds`, which has more scenarios, longer runs and intervals. Here both schemes
run at the same time, each over a bottleneck of its own.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bench_worlds as bench
import pytest

import airpath
from airpath.gap import TOLERANCES
from airpath.metrics.run import columns
from airpath.results import Results, RunResult

FIRST = next(iter(bench.SCENARIOS))
MEASURED_S = 10.0


def concurrent_scenario() -> airpath.Scenario:
    bottleneck, _ = bench.SCENARIOS[FIRST]
    ends = dict(zip(bench.SCHEMES, (("a", "b"), ("c", "d")), strict=True))
    return airpath.Scenario.from_dict(
        {
            "name": "beside",
            "duration": "15s",
            "record": {"warm_up": "5s"},
            "topology": {
                "kind": "graph",
                "nodes": ["a", "b", "c", "d"],
                "links": [bottleneck | {"name": name, "from": a, "to": b} for name, (a, b) in ends.items()],
            },
            "flows": [
                {"name": name, "scheme": name, "from": a, "to": b, "start": {"uniform": ["0s", "500ms"]}}
                for name, (a, b) in ends.items()
            ],
        }
    )


def measured(run: RunResult, scheme: str) -> dict[str, float]:
    """Return the goodput and the mean queue of a scheme, by the names of the metrics."""
    flows, links = columns(run.flows), columns(run.links)
    (received,) = flows["goodput_bytes"][flows["source_name"] == f"{scheme}-1"]
    (queue,) = links["queue_mean_bytes"][links["link_name"] == scheme]
    return {"goodput_mbps": received * 8e-6 / MEASURED_S, "queue_mean_bytes": queue}


@pytest.fixture(scope="module")
def simulated() -> RunResult:
    return airpath.run(concurrent_scenario(), progress=False).runs[0]


@pytest.fixture(scope="module")
def emulated(emulated_hosts: None, valid_run: Callable[..., RunResult]) -> RunResult:  # noqa: ARG001 - it skips
    return valid_run(concurrent_scenario(), "emulate")


@pytest.mark.parametrize("scheme", list(bench.SCHEMES))
def test_goodput_and_queue_match_the_simulator(
    simulated: RunResult, emulated: RunResult, scheme: str
) -> None:
    expected, found = measured(simulated, scheme), measured(emulated, scheme)
    assert set(found) == set(bench.METRICS)
    for metric, value in found.items():
        assert value == pytest.approx(expected[metric], rel=TOLERANCES[metric].share), metric


def test_concurrent_emulations_equal_separate_ones(simulated: RunResult) -> None:
    """Each has its own bottleneck; only its start within the first half second is another random sample."""
    for scheme in bench.SCHEMES:
        (alone,) = airpath.run(bench.scenario(FIRST, scheme, "15s"), progress=False).runs
        for metric, value in measured(simulated, scheme).items():
            assert value == pytest.approx(alone.metrics[metric], rel=TOLERANCES[metric].share / 2), metric


def test_values_beyond_their_bound_are_detected() -> None:
    """CUBIC with a buffer four times as large has the same goodput and another queue."""
    scenario = bench.scenario(FIRST, "cubic", "15s")
    larger = scenario.override({"topology.bottleneck.queue.limit": "4bdp"})
    runs = [airpath.run(one, progress=False).runs[0] for one in (scenario, larger)]
    runs[1].record = replace(runs[1].record, scheme="other")
    found = bench.differences(Results(runs), "cubic", "other")
    within = {one.metric: bench.is_within(one) for one in found}
    assert (within["goodput_mbps"], within["queue_mean_bytes"]) == (True, False)


def test_the_bench_repeats_runs_that_are_not_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated runs replace those of the kernel; the first is reported as late."""
    run, seeds = airpath.run, []

    def pretended(one: airpath.Scenario, *, world: str = "sim", **more: Any) -> Results:
        results = run(one, **more)
        if world == "sim":
            return results
        seeds.append(more["seed"])
        problems = ["late"] if len(seeds) == 1 else []
        validity = {"valid": not problems, "problems": problems}
        for result in results.runs:
            result.record = replace(result.record, scheme="kernel:cubic", world=world, validity=validity)
        return results

    monkeypatch.setattr(airpath, "run", pretended)
    compared = bench.compare(bench.scenario(FIRST, "cubic", "6s"), runs=2)
    assert (seeds, compared.runs, compared.rejected) == ([1, 1, 2], 2, ("late",))
    assert [one.metric for one in compared.differences] == list(bench.METRICS)
    assert all(one.n == (2, 2) and one.difference == 0 for one in compared.differences)


def test_packet_reordering(emulated_hosts: None, valid_run: Callable[..., RunResult]) -> None:  # noqa: ARG001
    """A radio retransmits 2 % of the packets and delivers the others meanwhile.

    Linux detects losses by time (RACK), and so does `loss_detection = "rack"`; detection by duplicates leaves
    a sixth of the goodput.
    """
    bottleneck = {
        "rate": "20mbps",
        "delay": "20ms",
        "loss": 0.02,
        "arq": {"retries": 7, "delay": "8ms", "in_order": False},
        "queue": {"kind": "drop-tail", "limit": "2bdp"},
    }
    radio = airpath.Scenario.from_dict(
        {
            "name": "radio",
            "duration": "10s",
            "record": {"warm_up": "4s"},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": bottleneck,
                "reverse": {"loss": 0.0, "arq": {"retries": 0, "delay": "8ms"}},
            },
            "flows": [{"name": "download", "scheme": "cubic"}],
        }
    )
    by_time = radio.override({"transport.loss_detection": "rack"})
    by_threshold, simulated = (airpath.run(one, progress=False).runs[0] for one in (radio, by_time))
    emulated = valid_run(by_time, "emulate")
    assert emulated.metrics["goodput_mbps"] == pytest.approx(simulated.metrics["goodput_mbps"], rel=0.05)
    assert by_threshold.metrics["goodput_mbps"] < 0.4 * simulated.metrics["goodput_mbps"]
