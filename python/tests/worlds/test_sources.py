"""Sources over the kernel send what the plan configures for them: the same as their simulated twins."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import airpath
from airpath._backends.kernel import kernel_congestion_controls
from airpath.metrics.run import columns
from airpath.results import RunResult

LINK = {"rate": "20Mbps", "delay": "10ms", "queue": {"kind": "drop-tail", "limit": "1bdp"}}
DURATION_S = 4.0
SIZE = {"uniform": ["2kB", "40kB"]}

FLOWS = [
    {"name": "file", "scheme": "cubic", "start": "300ms", "traffic": {"kind": "file", "size": "200kB"}},
    {
        "name": "arrivals",
        "scheme": "newreno",
        "traffic": {"kind": "arrivals", "size": SIZE, "mean_interval": "80ms"},
    },
    {
        "name": "on-off",
        "traffic": {
            "kind": "constant-bit-rate",
            "rate": "1Mbps",
            "packet": "500B",
            "on": {"uniform": ["150ms", "450ms"]},
            "off": {"uniform": ["150ms", "450ms"]},
        },
    },
    {
        "name": "poisson",
        "traffic": {
            "kind": "poisson-datagrams",
            "rate": "500kbps",
            "packet": {"uniform": ["100B", "900B"]},
        },
    },
]


@dataclass
class Twins:
    """The same plan with the same seed in both backends."""

    simulated: RunResult
    emulated: RunResult


def scenario(flows: list[dict], **changes: object) -> airpath.Scenario:
    topology = {"kind": "dumbbell", "bottleneck": LINK}
    return airpath.Scenario.from_dict(
        {"name": "sources", "duration": f"{DURATION_S}s", "topology": topology, "flows": flows, **changes}
    )


@pytest.fixture(scope="module")
def twins(emulated_hosts: None, valid_run: Callable[..., RunResult]) -> Twins:  # noqa: ARG001 - it skips
    (simulated,) = airpath.run(scenario(FLOWS)).runs
    return Twins(simulated, valid_run(scenario(FLOWS), "emulate"))


def transfers(run: RunResult, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Return starts in seconds and sizes in bytes of a source's transfers, in the order of their starts."""
    completions = columns(run.completions)
    mine = completions["source_name"] == source
    starts, sizes = completions["start_s"][mine], completions["bytes"][mine]
    order = np.argsort(starts)
    return starts[order], sizes[order]


def of_flow(run: RunResult, source: str, column: str) -> float:
    flows = columns(run.flows)
    return flows[column][flows["source_name"] == source].sum()


def test_a_file_is_one_transfer_of_its_size(twins: Twins) -> None:
    (start,), (size,) = transfers(twins.emulated, "file-1")
    assert size == 200_000
    assert of_flow(twins.emulated, "file-1", "goodput_bytes") == 200_000
    assert start == pytest.approx(0.3, abs=0.02)
    flows = columns(twins.emulated.flows)
    assert flows["flow_scheme"][flows["source_name"] == "file-1"][0] == "kernel:cubic"


def test_random_arrivals_match_the_plan(twins: Twins) -> None:
    starts, sizes = transfers(twins.emulated, "arrivals-1")
    planned, planned_sizes = transfers(twins.simulated, "arrivals-1")
    # Transfers that started in the last half second may be unfinished at the end in one backend only.
    early, planned_early = starts < DURATION_S - 0.5, planned < DURATION_S - 0.5
    assert planned_early.sum() > 20
    assert sizes[early].tolist() == planned_sizes[planned_early].tolist()
    late = starts[early] - planned[planned_early]
    assert late.min() > -1e-3
    assert np.median(late) < 5e-3, late
    # Complete transfers, and the received part of the unfinished ones.
    got, whole = of_flow(twins.emulated, "arrivals-1", "goodput_bytes"), sizes.sum()
    assert whole <= got <= whole + 4 * 40_000


def test_on_and_off_periods_have_the_bytes_of_the_plan(twins: Twins) -> None:
    sent = of_flow(twins.emulated, "on-off-1", "sent_packets")
    assert sent == pytest.approx(of_flow(twins.simulated, "on-off-1", "sent_packets"), abs=1)

    def by_interval(run: RunResult) -> np.ndarray:
        series = columns(run.flow_series)
        mine = series["source_name"] == "on-off-1"
        bins = np.zeros(round(DURATION_S / 0.1) + 1)
        bins[np.rint(series["time_s"][mine] / 0.1).astype(int)] = series["sent_bytes"][mine]
        return bins

    planned, found = by_interval(twins.simulated), by_interval(twins.emulated)
    silent = planned == 0
    assert silent[1:].sum() >= 5
    assert (planned == 12_500).sum() >= 5  # 25 datagrams in 100 ms while the source is on
    # At the ends of intervals a datagram may be in the next one: in a valid run none leaves 5 ms late.
    assert np.abs(np.cumsum(found) - np.cumsum(planned)).max() <= 1000
    assert (found[silent] <= 1000).all()


def test_poisson_datagrams_match_the_plan(twins: Twins) -> None:
    for column, most in (("sent_packets", 2), ("arrived_bytes", 1800)):
        planned = of_flow(twins.simulated, "poisson-1", column)
        assert planned > 0
        assert of_flow(twins.emulated, "poisson-1", column) == pytest.approx(planned, abs=most)


@pytest.mark.usefixtures("emulated_hosts")
def test_bbr_is_the_kernels_bbr(valid_run: Callable[..., RunResult]) -> None:
    """Its name is in the tables, and it keeps the queue of a long buffer short, which CUBIC fills."""
    if "bbr" not in kernel_congestion_controls():
        pytest.skip("this kernel has no bbr")

    # At the same time, each over a link of its own.
    link = LINK | {"rate": "10Mbps", "queue": {"kind": "drop-tail", "limit": "4bdp"}}
    ends = {"bbr": ("a", "b"), "cubic": ("c", "d")}
    topology = {
        "kind": "graph",
        "nodes": ["a", "b", "c", "d"],
        "links": [link | {"name": name, "from": a, "to": b} for name, (a, b) in ends.items()],
    }
    flows = [{"name": name, "scheme": f"kernel:{name}", "from": a, "to": b} for name, (a, b) in ends.items()]
    chosen = scenario(flows, topology=topology, record={"warm_up": "1s"})
    run = valid_run(chosen, "emulate")
    assert of_flow(run, "bbr-1", "goodput_bytes") * 8 / (DURATION_S - 1) > 8e6
    table, links = columns(run.flows), columns(run.links)
    schemes = dict(zip(table["source_name"], table["flow_scheme"], strict=True))
    assert schemes == {"bbr-1": "kernel:bbr", "cubic-1": "kernel:cubic"}
    series = columns(run.flow_series)
    assert set(series["phase"][series["source_name"] == "bbr-1"]) == {"steady"}
    queues = dict(zip(links["link_name"], links["queue_mean_bytes"], strict=True))
    assert queues["bbr"] < 0.5 * queues["cubic"]


@pytest.mark.usefixtures("emulated_hosts")
def test_flows_over_a_chain_have_their_own_round_trips(valid_run: Callable[..., RunResult]) -> None:
    """The files are small, so that no queue adds to the configured delay."""
    delays_ms = (5, 12)
    small = {"kind": "repeated", "size": "1kB", "pause": "20ms"}
    ways = {"all": (None, 0), "far": (None, 30), "first": (1, 0), "second": (2, 7), "second-far": (2, 64)}
    flows = [
        {"name": name, "scheme": "cubic", "traffic": small, "extra_rtt": f"{extra}ms"}
        | ({} if hop is None else {"hop": hop})
        for name, (hop, extra) in ways.items()
    ]
    bottleneck = {"rate": "100Mbps", "queue": {"kind": "drop-tail", "limit": "100kB"}}
    topology = {
        "kind": "parking-lot",
        "bottlenecks": [bottleneck | {"delay": f"{delay}ms"} for delay in delays_ms],
    }
    run = valid_run(scenario(flows, topology=topology, duration="2s"), "emulate")
    configured = {
        f"{name}-1": 2 * (sum(delays_ms) if hop is None else delays_ms[hop - 1]) + extra
        for name, (hop, extra) in ways.items()
    }
    found = columns(run.flows)
    beyond_ms = [
        1e3 * least - configured[name]
        for name, least in zip(found["source_name"], found["min_rtt_s"], strict=True)
    ]
    assert len(beyond_ms) == len(ways)
    assert min(beyond_ms) >= 0, beyond_ms
    assert np.median(beyond_ms) < 0.3, beyond_ms
