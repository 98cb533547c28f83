"""A scenario in a backend: what its schemes are mapped to, and what is refused."""

import pytest

from airpath import _core
from airpath._backends import BACKENDS, BPF_HOSTS, KERNEL, BackendName, daemon
from airpath._backends.bpf import BpfRouters
from airpath.errors import ScenarioError, UsageError
from airpath.runner import jobs_of, scheme_label
from airpath.scenario import Scenario
from airpath.schemes import KERNEL_SCHEMES, find_scheme


@pytest.fixture(autouse=True)
def _kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a kernel with the controllers that Linux usually has, on any system."""
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


def test_plain_schemes_map_to_those_of_the_kernel() -> None:
    chosen = scenario("cubic", "newreno", "kernel:cubic")
    placed = BACKENDS["emulate"].place(chosen)
    assert placed.schemes == ("kernel:cubic", "kernel:reno", "kernel:cubic")
    assert placed.label == "kernel:cubic+kernel:reno"
    algorithms = [flow["controller"] for flow in placed.plan["flows"]]
    assert algorithms == [{"kind": "kernel", "algorithm": name} for name in ("cubic", "reno", "cubic")]
    # Everything else is the same as in the simulator.
    plan = chosen.plan()
    assert placed.plan["links"] == plan["links"]
    without = [{k: v for k, v in flow.items() if k != "controller"} for flow in plan["flows"]]
    assert [{k: v for k, v in flow.items() if k != "controller"} for flow in placed.plan["flows"]] == without


def test_runs_are_named_by_the_schemes_of_their_backend() -> None:
    chosen = scenario("cubic")
    (simulated,) = jobs_of(scheme_label(chosen), chosen, None, None)
    (emulated,) = jobs_of(scheme_label(chosen), chosen, None, None, "emulate")
    assert (simulated.scheme, emulated.scheme) == ("cubic", "kernel:cubic")
    assert emulated.flow_schemes == {"f0-1": "kernel:cubic"}


def said(chosen: Scenario, world: BackendName) -> str:
    """Return the message of a backend that refuses a scenario."""
    with pytest.raises(ScenarioError) as refused:
        BACKENDS[world].place(chosen)
    return str(refused.value)


def test_the_simulator_names_the_backend_of_the_kernels_schemes() -> None:
    assert said(scenario("cubic", "kernel:reno"), "sim") == (
        'scenario: flows[1].scheme: found "kernel:reno"; it is a congestion control of the kernel, which the'
        ' simulator does not have; use "newreno", or run it with --world emulate'
    )
    assert "airpath list schemes" in said(scenario("kernel:bbr"), "sim")


@pytest.mark.parametrize(
    ("chosen", "where", "text"),
    [
        (
            scenario("bbr"),
            'scheme: found "bbr"; it runs in the simulator only; accepted on backend emulate: ',
            "kernel:reno, kernel:cubic, cubic (for kernel:cubic), newreno (for kernel:reno)",
        ),
        (
            scenario("vcp-ebe"),
            'scheme: found "vcp-ebe"; it runs in the simulator and in datapath and routers as',
            " kernel:airpath_vcp; accepted on backend emulate: ",
        ),
        (
            scenario("kernel:airpath_vcp"),
            'scheme: found "kernel:airpath_vcp"; this kernel (',
            "has no congestion control airpath_vcp (it is ours: world datapath has it); accepted: ",
        ),
        (
            scenario("cubic:beta=0.8"),
            'scheme: found "cubic:beta=0.8"; "cubic" with parameters of its own runs in the simulator only; ',
            "accepted on backend emulate: none, when it stands for kernel:cubic",
        ),
        (
            scenario("cubic", parameters={"beta": 0.8}),
            'parameters: "cubic" with parameters of its own runs in the simulator only; ',
            "accepted on backend emulate: none, ",
        ),
        (
            scenario("kernel:bbr"),
            'scheme: found "kernel:bbr"; this kernel (',
            "no congestion control bbr; accepted: those that it has: reno, cubic",
        ),
        (
            scenario("cubic", estimators=["westwood"]),
            "estimators: those of senders run in the simulator only; ",
            "accepted on backend emulate: none",
        ),
    ],
)
def test_features_missing_in_a_backend_are_reported_at_their_field(
    chosen: Scenario, where: str, text: str
) -> None:
    message = said(chosen, "emulate")
    assert message.startswith(f"scenario: flows[0].{where}")
    assert text in message


def test_the_emulator_exists_only_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_core, "EmulatedRun")
    with pytest.raises(UsageError, match="the emulator works on Linux"):
        BACKENDS["emulate"].place(scenario("cubic"))


def test_emulations_run_one_after_another() -> None:
    BACKENDS["sim"].check_jobs(8)
    KERNEL.check_jobs(1)
    with pytest.raises(UsageError, match="jobs: found 2"):
        KERNEL.check_jobs(2)


def test_any_name_of_a_kernel_is_a_scheme() -> None:
    assert find_scheme("kernel:dctcp").build(None, 1448) == {"kind": "kernel", "algorithm": "dctcp"}
    assert find_scheme("kernel:cubic") in KERNEL_SCHEMES
    for wrong in ("kernel:", "kernel:Cubic", "kernel:c=1", "kernel:" + "x" * 16):
        with pytest.raises(UsageError, match="kernel:NAME"):
            find_scheme(wrong)


def test_the_datapath_has_our_controllers_and_keeps_the_routers(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = scenario("vcp-ebe")
    monkeypatch.setattr(daemon, "datapath_missing", lambda: "the daemon is not built")
    with pytest.raises(
        UsageError, match="world: found datapath, which is not available: the daemon is not built"
    ):
        BACKENDS["datapath"].place(chosen)
    monkeypatch.setattr(daemon, "datapath_missing", lambda: None)
    placed = BACKENDS["datapath"].place(chosen)
    assert placed.plan["flows"][0]["controller"] == {"kind": "kernel", "algorithm": "airpath_vcp"}
    assert placed.plan["links"][0]["queue"]["protocol"]["kind"] == "vcp"


@pytest.mark.parametrize("schemes", [("vcp-ebe",), ("kernel:airpath_vcp",), ("vcp", "cubic")])
@pytest.mark.parametrize("world", ["datapath", "routers"])
def test_ecn_and_vcp_are_rejected_if_they_share_the_field(
    monkeypatch: pytest.MonkeyPatch, schemes: tuple[str, ...], world: BackendName
) -> None:
    monkeypatch.setattr(daemon, "datapath_missing", lambda: None)
    monkeypatch.setattr(BpfRouters, "routers", lambda *_: ())
    message = said(scenario(*schemes, transport={"ecn": True}), world)
    assert message.startswith("scenario: flows[0].transport.ecn: found true; VCP's code takes the ECN field")
    assert message.endswith("; accepted: false")
    shared = scenario(*schemes).override({"transport.ecn": True})
    assert said(shared, world).startswith("scenario: transport.ecn: found true; VCP's code")
    BACKENDS[world].place(scenario(*schemes))


def test_ecn_is_rejected_only_at_a_router_of_vcp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "datapath_missing", lambda: None)
    mixed = scenario("vcp", "cubic").to_dict()
    mixed["flows"][1]["transport"] = {"ecn": True}
    assert said(Scenario.from_dict(mixed), "datapath").startswith("scenario: flows[1].transport.ecn: ")
    # The simulator keeps them apart, and routers of XCP do not use the field.
    BACKENDS["sim"].place(scenario("vcp", transport={"ecn": True}))
    BACKENDS["datapath"].place(scenario("xcp", "cubic", transport={"ecn": True}))


def test_deviations_of_the_kernel_are_named() -> None:
    assert BACKENDS["emulate"].place(scenario("cubic")).departures == ()
    other = {"initial_window": "3 packets", "delayed_ack_segments": 1, "min_rto": "1s"}
    departures = BACKENDS["emulate"].place(scenario("cubic", transport=other)).departures
    assert [text.split(":")[0] for text in departures] == [
        "the kernel's own initial window",
        "the kernel's own segments for one acknowledgment",
        "the kernel's own smallest retransmission timeout",
    ]
    assert departures[0].endswith("3 packets in the scenario, 10 in the kernel")


def test_our_controllers_are_known() -> None:
    assert BPF_HOSTS.has_controller(scenario("cubic", "xcp-ebe"))
    assert not BPF_HOSTS.has_controller(scenario("cubic", "kernel:reno"))
