"""`compare --queue` and `--ecn`: the queue and the marks of each compared scheme."""

import pytest

import airpath
from airpath.emulation import emulated_scenario
from airpath.errors import ScenarioError, UsageError
from airpath.runner import compare_scenarios

SCHEMES = ["cubic", "prague", "xcp-ebe"]


def test_schemes_with_routers_keep_them():
    scenarios = compare_scenarios(SCHEMES, "10mbps", queue="codel:target=10ms", buffer="100 packets")
    queues = [_queue(scenario) for scenario in scenarios.values()]
    assert [queue["kind"] for queue in queues] == ["managed", "managed", "router"]
    assert queues[0]["management"]["target"] == 10_000_000
    assert {queue["limit_packets"] for queue in queues} == {100}


def test_each_scheme_requests_marks_in_its_own_way():
    transports = [
        scenario.plan()["flows"][0]["transport"]
        for scenario in compare_scenarios(SCHEMES, "10mbps", queue="codel", ecn=True).values()
    ]
    assert [(transport["ecn"], transport["accurate_ecn"]) for transport in transports] == [
        (True, False),
        (True, True),
        (False, False),
    ]


def test_marks_are_requested_only_if_configured():
    plan = compare_scenarios(["cubic"], "10mbps", queue="codel")["cubic"].plan()
    assert not plan["flows"][0]["transport"]["ecn"]


@pytest.mark.parametrize(
    ("link", "queue", "packets", "size"),
    [
        ("10mbps", "codel", None, 50_000),  # 40 ms of the rate
        ("ebe.bottleneck", "codel", None, 575_000),  # the buffer of the link
        ("10mbps", "codel:limit=30packets", None, 30),
        ("ebe.bottleneck", "codel:limit=30packets", None, 30),
        ("10mbps", "fq-codel", None, 10_240),
        ("ebe.bottleneck", "dual-pi2", None, 575_000),
        ("10mbps", "dual-pi2", "20 packets", 20),
    ],
)
def test_limits(link, queue, packets, size):
    compared = compare_scenarios(["cubic"], link, queue=queue, buffer=packets)["cubic"]
    emulated = emulated_scenario(link, queue=queue, buffer=packets)
    for plan in (_queue(compared), _queue(emulated)):
        assert size in (plan["limit_bytes"], plan["limit_packets"])


def test_marks_replace_drops():
    dropping, marking = (
        airpath.compare(
            ["cubic"], "10mbps", queue="codel", buffer="1MB", ecn=ecn, duration="20s", jobs=1
        ).runs[0]
        for ecn in (False, True)
    )
    assert dropping.metrics["congestion_loss_rate"] > 0
    assert marking.metrics["congestion_loss_rate"] == 0
    assert marking.metrics["queueing_p95_ms"] < 20


@pytest.mark.parametrize(
    ("error", "wrong", "said"),
    [
        (
            ScenarioError,
            {"queue": "codle"},
            r'queue: found "codle" \(did you mean "codel"\?\); accepted: drop-tail',
        ),
        (
            ScenarioError,
            {"queue": "codel:target=5"},
            "queue: target: found the bare number 5, which has no unit",
        ),
        (ScenarioError, {"queue": "codel:tar=5ms"}, 'queue: tar: unknown key; did you mean "target"'),
        (ScenarioError, {"queue": "priority"}, "queue: classes: required"),
        (
            UsageError,
            {"queue": "codel:x"},
            'queue: found "x" in "codel:x"; accepted: options of the form name=value',
        ),
        (
            UsageError,
            {"queue": "codel:limit=9packets", "buffer": "5packets"},
            'buffer: found "5packets" with limit=9packets of the queue; accepted: one of them',
        ),
        (
            UsageError,
            {"schemes": ["xcp", "vcp"], "queue": "codel"},
            'queue: found "codel", which has no effect: xcp, vcp have routers of their own',
        ),
        (
            UsageError,
            {"schemes": ["xcp"], "ecn": True},
            'ecn: found "true", which has no effect: xcp have',
        ),
    ],
)
def test_errors_name_the_argument(error, wrong, said):
    with pytest.raises(error, match=f"^{said}"):
        airpath.compare(**{"schemes": ["cubic"], "link": "10mbps"} | wrong)


def _queue(scenario):
    """Return the queue of the bottleneck in the plan."""
    return scenario.plan()["links"][0]["queue"]
