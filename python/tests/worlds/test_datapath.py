"""Our controllers in the kernel, over the emulator; skipped where the daemon cannot be started."""

from collections.abc import Callable

import pytest

import airpath
from airpath.datapath import Datapath
from airpath.errors import EmulationError
from airpath.results import RunResult
from airpath.worlds import World, kernel_congestion_controls

pytestmark = pytest.mark.usefixtures("datapath")


def test_vcp_in_the_kernel_hears_the_simulators_router() -> None:
    before = kernel_congestion_controls()
    scenario = airpath.Scenario.from_dict(
        {
            "name": "vcp",
            "duration": "4s",
            "record": {"warm_up": "1s"},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "2Mbps",
                    "delay": "20ms",
                    "queue": {"kind": "scheme", "limit": "60kB"},
                },
            },
            "flows": [{"name": "flow", "scheme": "vcp", "count": 2}],
        }
    )
    (run,) = airpath.run(scenario, world="datapath").runs
    assert (run.record.scheme, run.record.world) == ("kernel:airpath_vcp", "datapath")
    # A window-based TCP would fill the buffer (240 ms) and lose; VCP keeps the queue short.
    assert run.metrics["utilisation"] > 0.7
    assert run.metrics["queueing_p95_ms"] < 120
    assert run.metrics["retransmitted_packets"] == 0
    assert kernel_congestion_controls() == before
    # What the daemon counted stands beside.
    assert run.record.validity["datapath"]["started"] >= 2


def _scenario(delay: str, buffer: str, warm_up: str, duration: str, *schemes: str) -> airpath.Scenario:
    return airpath.Scenario.from_dict(
        {
            "name": "ten",
            "duration": duration,
            "record": {"warm_up": warm_up},
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "10Mbps",
                    "delay": delay,
                    "queue": {"kind": "scheme", "limit": buffer},
                },
            },
            "transport": {"initial_window": "10 packets"},  # the kernel's
            "flows": [{"name": f"flow{index}", "scheme": scheme} for index, scheme in enumerate(schemes)],
        }
    )


@pytest.mark.parametrize(
    ("world", "scheme", "warm_up", "duration"),
    [
        ("datapath", "xcp", "5s", "25s"),
        ("routers", "xcp", "4s", "12s"),
        # VCP swings with a period of 20 s. How fast it grows before hangs on when its flow begins within an
        # interval of its router, which in the kernel is chance: measured from 5 s the simulator's own results
        # differ by more than 10 %, from 10 to 30 s by 2 %.
        # In the world `routers` it is left to a run by hand.
        ("datapath", "vcp", "10s", "30s"),
    ],
)
def test_a_long_path_is_filled_as_by_the_simulated_twin(
    scheme: str, warm_up: str, duration: str, world: World, valid_run: Callable[..., RunResult]
) -> None:
    scenario = _scenario("200ms", "600kB", warm_up, duration, scheme)
    (simulated,) = airpath.run(scenario).runs
    real = valid_run(scenario, world)
    assert real.metrics["utilisation"] == pytest.approx(simulated.metrics["utilisation"], rel=0.1)


@pytest.mark.parametrize(("world", "seed"), [("datapath", 1), ("routers", 2)])
def test_vcp_and_the_kernels_cubic_share_a_link_as_their_simulated_twins(
    world: World, seed: int, valid_run: Callable[..., RunResult]
) -> None:
    """CUBIC fills the buffer, which VCP takes for overload: it keeps a packet or two in flight."""
    scenario = _scenario("20ms", "100kB", "4s", "10s", "vcp-ebe", "cubic")
    (simulated,) = airpath.run(scenario, seed=seed).runs
    real = valid_run(scenario, world, seed)
    vcp, cubic = real.flows["goodput_bytes"].to_pylist()
    simulated_vcp, simulated_cubic = simulated.flows["goodput_bytes"].to_pylist()
    # VCP's are 65 segments in the simulator, 56 to 75 where flows begin up to 0.15 s later, in an interval
    # of the router, which is chance in the kernel. CUBIC has all the rest of a full link.
    assert vcp == pytest.approx(simulated_vcp, rel=0.2)
    assert cubic == pytest.approx(simulated_cubic, rel=0.02)
    assert real.metrics["utilisation"] > 0.99


def test_a_daemon_that_cannot_start_says_why() -> None:
    datapath = Datapath()
    with pytest.raises(EmulationError, match="airpathd did not start"):
        datapath.start(["/proc/self/ns/net"], "no-such-dev", [])
    datapath.stop()
