"""Our controllers in the kernel, over the emulator; skipped where the daemon cannot be started."""

import pytest

import airpath
from airpath.datapath import Datapath
from airpath.errors import EmulationError
from airpath.worlds import kernel_congestion_controls

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


def _scenario(delay: str, buffer: str, duration: str, *schemes: str) -> airpath.Scenario:
    return airpath.Scenario.from_dict(
        {
            "name": "ten",
            "duration": duration,
            "record": {"warm_up": "5s"},
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


@pytest.mark.parametrize("scheme", ["xcp", "vcp"])
def test_a_long_path_is_filled_as_by_the_simulated_twin(scheme: str) -> None:
    scenario = _scenario("200ms", "600kB", "25s", scheme)
    simulated, real = (
        airpath.run(scenario, world=world).runs[0].metrics["utilisation"] for world in ("sim", "datapath")
    )
    assert real == pytest.approx(simulated, rel=0.1)


def test_vcp_and_the_kernels_cubic_run_beside_each_other() -> None:
    scenario = _scenario("20ms", "100kB", "12s", "vcp-ebe", "cubic")
    for seed in (1, 2):
        (run,) = airpath.run(scenario, world="datapath", seed=seed).runs
        assert run.metrics["utilisation"] > 0.95
        # CUBIC fills the buffer, which VCP takes for overload: it keeps a packet or two, as in simulations.
        vcp, cubic = (8 * value / 7 for value in run.flows["goodput_bytes"].to_pylist())
        assert vcp > 0.02e6
        assert cubic > 8e6


def test_a_daemon_that_cannot_start_says_why() -> None:
    datapath = Datapath()
    with pytest.raises(EmulationError, match="airpathd did not start"):
        datapath.start(["/proc/self/ns/net"], "no-such-dev", [])
    datapath.stop()
