"""Which routers the kernel can replace, and the configuration that its daemon gets."""

from typing import Any

import pytest

import airpath
from airpath._backends import BACKENDS
from airpath._backends.kernel_routers import kernel_routers
from airpath.errors import ScenarioError
from airpath.runner import jobs_of


def plan(scheme: str, queue: dict[str, Any] | None = None, **bottleneck: Any) -> dict[str, Any]:
    """Return the plan of two flows over one link each way, with a given queue or the scheme's router."""
    return scenario(scheme, queue, **bottleneck).plan()


def scenario(scheme: str, queue: dict[str, Any] | None = None, **bottleneck: Any) -> airpath.Scenario:
    return airpath.Scenario.from_dict(
        {
            "name": "made",
            "duration": "4s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {
                    "rate": "10Mbps",
                    "delay": "20ms",
                    "queue": queue or {"kind": "scheme", "limit": "100kB"},
                    **bottleneck,
                },
            },
            "flows": [{"name": "flow", "scheme": scheme, "count": 2}],
        }
    )


BUFFER = ("--buffer", "100000B")
TEN = ("--rate", "10000000bit")


@pytest.mark.parametrize(
    ("scheme", "protocol", "capacity", "rest"),
    [
        ("vcp", "vcp", "configured", TEN),
        ("vcp-ebe", "vcp", "ebe", (*TEN, "--packet", "1500B")),
        ("vcp-ebe-ld", "vcp", "ebe", (*TEN, "--packet", "1500B")),
        ("xcp", "xcp", "configured", TEN),
        ("xcp-ebe", "xcp", "ebe", (*TEN, "--packet", "1500B")),
        ("xcp-busy", "xcp", "busy", TEN),
        ("vcp-busy:poll_interval=5ms", "vcp", "busy", (*TEN, "--poll", "5000us")),
        ("xcp-b", "xcp", "xcp-b", ()),
    ],
)
def test_the_daemon_receives_the_settings_of_the_scenario(
    scheme: str, protocol: str, capacity: str, rest: tuple[str, ...]
) -> None:
    there, back = kernel_routers(plan(scheme))
    assert (there.link, back.link) == (0, 1)
    said = ("--protocol", protocol, "--capacity", capacity)
    assert there.arguments == back.arguments == (*said, *BUFFER, *rest)


def test_each_router_of_a_chain_is_one() -> None:
    chain = airpath.Scenario.load("ebe-parking-lot")
    routers = [
        number for number, link in enumerate(chain.plan()["links"]) if link["queue"]["kind"] == "router"
    ]
    assert [router.link for router in kernel_routers(chain.plan())] == routers
    assert len(routers) > 2


def router(protocol: dict[str, Any], source: dict[str, Any], limit: str = "100kB") -> dict[str, Any]:
    return {"kind": "router", "protocol": protocol, "source": source, "limit": limit}


VCP: dict[str, Any] = {"kind": "vcp"}


@pytest.mark.parametrize(
    ("scheme", "queue", "said"),
    [
        ("cubic", None, "topology: none of its links has a router; accepted: a scheme that has routers, "),
        (
            "mpcp",
            None,
            'flows[0].scheme: found "mpcp"; the kernel has no router for mpcp; accepted: vcp, xcp',
        ),
        (
            "abc",
            None,
            'flows[0].scheme: found "abc"; the kernel has no router for abc; accepted: vcp, xcp',
        ),
        (
            "mpcp",
            router({"kind": "mpcp"}, {"kind": "configured"}),
            'topology.bottleneck.queue.protocol.kind: found "mpcp"; the kernel has no router for mpcp; ',
        ),
        (
            "vcp",
            router(VCP, {"kind": "oracle"}),
            'topology.bottleneck.queue.source.kind: found "oracle"; the capacity source oracle runs in the'
            " simulator only; accepted for a router of the kernel: configured, ebe, qfcp, busy, xcp-b",
        ),
        (
            "vcp",
            router(VCP | {"kappa_q": 0.25}, {"kind": "configured"}),
            "topology.bottleneck.queue.protocol.kappa_q: found 0.25; accepted for a router of the kernel:"
            " 0.5",
        ),
        (
            "vcp",
            router(VCP, {"kind": "ebe", "profile": "linear"}),
            'topology.bottleneck.queue.source.profile: found "linear"; accepted for a router of the kernel: '
            '"icc"',
        ),
        (
            "vcp",
            router(VCP, {"kind": "configured"}, "100packets"),
            'topology.bottleneck.queue.limit: found "100packets"; a router of the kernel needs a limit; '
            "accepted: one in bytes, time or bdp",
        ),
        (
            "vcp:load_factor_interval=100ms",
            None,
            'flows[0].scheme:load_factor_interval: found "100ms"; accepted for a router of the kernel: '
            '"200 ms"',
        ),
        (
            "vcp",
            router(VCP, {"kind": "ebe", "min_capacity": "1Mbps"}),
            'topology.bottleneck.queue.source.min_capacity: found "1Mbps"; accepted for a router of the'
            ' kernel: "60 kbit/s"',
        ),
        (
            "xcp-busy:poll_interval=20ms",
            None,
            'flows[0].scheme:poll_interval: found "20ms"; accepted for a router of the kernel: 1 ms to 10 ms',
        ),
        (
            "xcp-ebe-hold",
            None,
            'flows[0].parameters.profile: found "linear"; accepted for a router of the kernel: "icc"',
        ),
    ],
)
def test_unsupported_routers_are_rejected(
    scheme: str, queue: dict[str, Any] | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airpath._backends.daemon.datapath_missing", lambda: None)
    monkeypatch.setattr("airpath._backends.kernel.kernel_congestion_controls", lambda: ("cubic", "reno"))
    with pytest.raises(ScenarioError) as refused:
        BACKENDS["routers"].place(scenario(scheme, queue))
    assert str(refused.value).startswith(f"scenario: {said}")


def test_runs_with_other_routers_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airpath._backends.daemon.datapath_missing", lambda: None)
    monkeypatch.setattr("airpath._backends.kernel.kernel_congestion_controls", lambda: ("cubic", "reno"))
    datapath, routers = (BACKENDS[world].place(scenario("vcp-ebe")) for world in ("datapath", "routers"))
    assert (datapath.label, routers.label) == ("kernel:airpath_vcp", "kernel:airpath_vcp with routers")
    assert (len(datapath.routers), len(routers.routers)) == (0, 2)
    assert datapath.plan == routers.plan
    (job,) = jobs_of("vcp-ebe", scenario("vcp-ebe"), None, 1, "routers", " for vcp-ebe")
    assert job.scheme == "kernel:airpath_vcp with routers for vcp-ebe"
    assert set(job.flow_schemes.values()) == {job.scheme}
    with pytest.raises(
        ScenarioError, match=r"scenario: topology: none of its links has a router; .* world datapath"
    ):
        BACKENDS["routers"].place(scenario("cubic"))
