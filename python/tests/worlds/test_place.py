"""A scenario in a world: what its schemes stand for, and what is refused."""

import pytest

from airpath import _core, worlds
from airpath.errors import UsageError
from airpath.runner import jobs_of, scheme_label
from airpath.scenario import Scenario
from airpath.schemes import KERNEL_SCHEMES, find_scheme


@pytest.fixture(autouse=True)
def _kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel with the controllers that Linux usually has, on any system."""
    monkeypatch.setattr(_core, "EmulatedRun", object, raising=False)
    monkeypatch.setattr(_core, "kernel_congestion_controls", lambda: ["reno", "cubic"], raising=False)


def scenario(*schemes: str, **flow: object) -> Scenario:
    return Scenario.from_dict(
        {
            "name": "placed",
            "duration": "1s",
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10Mbps", "delay": "20ms"}},
            "flows": [{"name": f"f{i}", "scheme": scheme, **flow} for i, scheme in enumerate(schemes)],
        }
    )


def test_plain_schemes_stand_for_those_of_the_kernel() -> None:
    chosen = scenario("cubic", "newreno", "kernel:cubic")
    placed = worlds.place(chosen, "emulate")
    assert placed.schemes == ("kernel:cubic", "kernel:reno", "kernel:cubic")
    assert placed.label == "kernel:cubic+kernel:reno"
    algorithms = [flow["controller"] for flow in placed.plan["flows"]]
    assert algorithms == [{"kind": "kernel", "algorithm": name} for name in ("cubic", "reno", "cubic")]
    # Everything else is as in the simulator.
    plan = chosen.plan()
    assert placed.plan["links"] == plan["links"]
    without = [{k: v for k, v in flow.items() if k != "controller"} for flow in plan["flows"]]
    assert [{k: v for k, v in flow.items() if k != "controller"} for flow in placed.plan["flows"]] == without


def test_runs_are_called_by_the_schemes_of_their_world() -> None:
    chosen = scenario("cubic")
    (simulated,) = jobs_of(scheme_label(chosen), chosen, None, None)
    (emulated,) = jobs_of(scheme_label(chosen), chosen, None, None, "emulate")
    assert (simulated.scheme, emulated.scheme) == ("cubic", "kernel:cubic")
    assert emulated.flow_schemes == {"f0-1": "kernel:cubic"}


def test_the_simulator_says_where_the_kernels_schemes_run() -> None:
    with pytest.raises(UsageError, match=r'use "newreno", or run it with --world emulate'):
        worlds.place(scenario("kernel:reno"), "sim")
    with pytest.raises(UsageError, match="airpath list schemes"):
        worlds.place(scenario("kernel:bbr"), "sim")


@pytest.mark.parametrize(
    ("chosen", "world", "text"),
    [
        (scenario("bbr"), "emulate", r'"bbr" runs in the simulator only; .* kernel:reno, kernel:cubic'),
        (scenario("vcp-ebe"), "emulate", r"simulator and in datapath and routers as kernel:airpath_vcp; in"),
        (scenario("kernel:airpath_vcp"), "emulate", r"no congestion control airpath_vcp \(it is ours"),
        (scenario("cubic:beta=0.8"), "emulate", r'"cubic" with parameters of its own'),
        (scenario("kernel:bbr"), "emulate", r"has no congestion control bbr; it has reno, cubic"),
        (scenario("cubic", estimators=["westwood"]), "emulate", r"estimators; .* in the simulator only"),
    ],
)
def test_what_a_world_does_not_have_is_named(chosen: Scenario, world: worlds.World, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        worlds.place(chosen, world)


def test_there_is_no_emulator_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_core, "EmulatedRun")
    with pytest.raises(UsageError, match="the emulator works on Linux"):
        worlds.place(scenario("cubic"), "emulate")


def test_emulations_run_one_after_another() -> None:
    worlds.refuse_together("sim", 8)
    worlds.refuse_together("emulate", 1)
    with pytest.raises(UsageError, match="jobs: found 2"):
        worlds.refuse_together("emulate", 2)


def test_any_name_of_a_kernel_is_a_scheme() -> None:
    assert find_scheme("kernel:dctcp").build(None, 1448) == {"kind": "kernel", "algorithm": "dctcp"}
    assert find_scheme("kernel:cubic") in KERNEL_SCHEMES
    for wrong in ("kernel:", "kernel:Cubic", "kernel:c=1", "kernel:" + "x" * 16):
        with pytest.raises(UsageError, match="kernel:NAME"):
            find_scheme(wrong)


def test_the_datapath_has_our_controllers_and_keeps_the_routers(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = scenario("vcp-ebe")
    monkeypatch.setattr(worlds, "datapath_missing", lambda: "the daemon is not built")
    with pytest.raises(UsageError, match="no world datapath: the daemon is not built"):
        worlds.place(chosen, "datapath")
    monkeypatch.setattr(worlds, "datapath_missing", lambda: None)
    placed = worlds.place(chosen, "datapath")
    assert placed.plan["flows"][0]["controller"] == {"kind": "kernel", "algorithm": "airpath_vcp"}
    assert placed.plan["links"][0]["queue"]["protocol"]["kind"] == "vcp"


@pytest.mark.parametrize("schemes", [("vcp-ebe",), ("kernel:airpath_vcp",), ("vcp", "cubic")])
@pytest.mark.parametrize("world", ["datapath", "routers"])
def test_ecn_and_vcp_are_refused_where_they_share_the_field(
    monkeypatch: pytest.MonkeyPatch, schemes: tuple[str, ...], world: worlds.World
) -> None:
    monkeypatch.setattr(worlds, "datapath_missing", lambda: None)
    monkeypatch.setattr(worlds, "kernel_routers", lambda _: ())
    with pytest.raises(UsageError, match=r"flow f0-1: transport\.ecn = true, but .*; leave ecn off"):
        worlds.place(scenario(*schemes, transport={"ecn": True}), world)
    worlds.place(scenario(*schemes), world)


def test_ecn_is_refused_at_a_router_of_vcp_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "datapath_missing", lambda: None)
    mixed = scenario("vcp", "cubic").to_dict()
    mixed["flows"][1]["transport"] = {"ecn": True}
    with pytest.raises(UsageError, match=r"flow f1-1: .* leave ecn off"):
        worlds.place(Scenario.from_dict(mixed), "datapath")
    # The simulator keeps them apart, and routers of XCP have no use for the field.
    worlds.place(scenario("vcp", transport={"ecn": True}), "sim")
    worlds.place(scenario("xcp", "cubic", transport={"ecn": True}), "datapath")


def test_what_the_kernel_does_its_own_way_is_named() -> None:
    assert worlds.place(scenario("cubic"), "emulate").departures == ()
    other = {"initial_window": "3 packets", "delayed_ack_segments": 1, "min_rto": "1s"}
    departures = worlds.place(scenario("cubic", transport=other), "emulate").departures
    assert [text.split(":")[0] for text in departures] == [
        "the kernel's own initial window",
        "the kernel's own segments for one acknowledgment",
        "the kernel's own smallest retransmission timeout",
    ]
    assert departures[0].endswith("3 packets in the scenario, 10 in the kernel")


def test_our_controllers_are_known() -> None:
    assert worlds.has_ours(scenario("cubic", "xcp-ebe"))
    assert not worlds.has_ours(scenario("cubic", "kernel:reno"))
