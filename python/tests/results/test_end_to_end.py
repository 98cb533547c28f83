"""Signal delay, end-to-end delay and self-inflicted delay: closed forms, and instant by instant."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import airpath
from airpath.metrics.end_to_end import NAMES, age, omniscient
from airpath.metrics.run import columns
from airpath.metrics.signal_delay import STEP_NS, signal_delay
from airpath.results import RunResult
from airpath.scenario import Scenario

from .synthetic import flow, plan

MS = 1_000_000
SECOND = 1000 * MS

PACKETS = st.lists(st.tuples(st.integers(0, 40 * MS), st.integers(0, 30 * MS)), min_size=1, max_size=40)


def run(rate: Any, scheme: str, interval: str = "100ms", *, packets: bool = True) -> RunResult:
    """Run one flow over a link for 10 s, the first two of which are warm-up."""
    content = {
        "name": "one",
        "duration": "10s",
        "record": {"warm_up": "2s", "interval": interval, "packets": packets},
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {
                "rate": rate,
                "delay": "20ms",
                "queue": {"kind": "drop-tail", "limit": "100 packets"},
            },
        },
        "flows": [{"name": "flow", "scheme": scheme}],
    }
    return airpath.run(Scenario.from_dict(content)).runs[0]


def instants(packets: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    sent = np.array([one for one, _ in packets])
    return sent, sent + np.array([delay for _, delay in packets])


@given(PACKETS)
def test_signal_delay_matches_a_per_packet_computation(packets: list[tuple[int, int]]) -> None:
    sent, received = instants(packets)
    asked = [
        int(received[sent >= at].min()) - at for at in range(int(sent.min()), int(sent.max()) + 1, STEP_NS)
    ]
    p95 = sorted(asked)[math.ceil(0.95 * len(asked)) - 1]
    assert signal_delay(sent, received) == pytest.approx(p95 / 1e9, abs=1e-12)


@given(PACKETS)
def test_age_matches_the_receivers_view(packets: list[tuple[int, int]]) -> None:
    sent, received = instants(packets)
    span = int(received.min()), int(received.max())
    if span[0] == span[1]:
        assert math.isnan(age(sent, received, span))
        return
    # In the middle of small steps: between two receptions the age grows with time.
    times = np.linspace(*span, 20_001)[:-1] + (span[1] - span[0]) / 40_000
    newest = np.where(received <= times[:, None], sent, sent.min()).max(axis=1)
    asked = np.sort(times - newest)
    step = (span[1] - span[0]) / 20_000
    exact = age(sent, received, span) * 1e9
    near = [asked[math.ceil(0.95 * 20_000) - 1 + off] for off in (-45, 44)]
    assert near[0] - step - 1 <= exact <= near[1] + step + 1


def test_an_empty_input_has_no_delay() -> None:
    none = np.array([], dtype=np.int64)
    assert math.isnan(signal_delay(none, none))
    assert signal_delay(np.array([5]), np.array([7])) == 2e-9


def test_messages_wait_for_the_next_packet() -> None:
    # One packet in 10 ms, each of which takes 30 ms: messages wait up to 9 ms before.
    sent = np.arange(1001) * 10 * MS
    assert signal_delay(sent, sent + 30 * MS) == pytest.approx(0.039)
    # A packet that overtakes another arrives first.
    assert signal_delay(np.array([0, 1 * MS]), np.array([50 * MS, 20 * MS])) == pytest.approx(0.020)


def test_at_a_constant_rate_a_window_inflicts_its_queue() -> None:
    # A packet of 1500 bytes takes 1 ms. Of 60 in flight 41 fill the pipe: 20 ms each way, and 1 ms.
    found = run("12mbps", "fixed:window=60packets")
    packets = columns(found.packets)
    first, second = sorted(set(np.round(packets["queueing_s"][packets["received_s"] > 2] * 1e3, 6)))
    # An acknowledgment acknowledges two packets, which leave together; its 52 bytes take their transmission
    # time.
    assert second == pytest.approx(60 - 41 - 52 * 8 / 12_000, abs=1e-5)
    assert first == pytest.approx(second - 1, abs=1e-5)
    # A message created a millisecond before the next pair waits for that pair.
    assert found.metrics["signal_delay_p95_ms"] == pytest.approx(21 + first + 1, abs=1e-5)
    # The age of the received data is uniform between that of a first packet and, 2 ms later, of the next.
    assert found.metrics["end_to_end_delay_p95_ms"] == pytest.approx(21 + first + 0.95 * 2, abs=1e-3)
    # That of an omniscient sender, whose packets leave one by one, is uniform over 1 ms.
    assert found.metrics["self_inflicted_delay_ms"] == pytest.approx(first + 0.95 * 2 - 0.95, abs=1e-3)


def on_and_off(offered: list[int], steps: list[list[int]], repeat_ns: int | None) -> tuple[Any, Any]:
    """Return a plan and the series of its link, in intervals of half a second."""
    of = plan([flow("one")], duration_s=len(offered) / 2)
    of["links"][0] |= {
        "rate": {"kind": "steps", "steps": steps, "repeat_after_ns": repeat_ns},
        "delay_ns": {"kind": "constant", "value": 20.0 * MS},
        "jitter_ns": None,
        "loss": 0.0,
        "bursts": None,
        "arq": None,
    }
    time_s = np.arange(1, len(offered) + 1) / 2
    return of, {"link": np.zeros(len(offered), int), "time_s": time_s, "offered_bytes": np.array(offered)}


def test_an_omniscient_sender_waits_for_an_idle_link() -> None:
    # 12 Mbit/s for a second, then nothing for a second.
    of, series = on_and_off([750_000, 750_000, 0, 0] * 10, [[0, 12_000_000], [SECOND, 0]], 2 * SECOND)
    sources = np.array([True])
    best = omniscient(of, series, sources, 0, 1500)
    assert best is not None
    sent, received = best
    assert len(sent) == 10_000
    assert set(received - sent) == {21 * MS}
    assert sent[999:1001].tolist() == [999 * MS, 2000 * MS]
    # Of 2 s the oldest twentieth is the last 100 ms before the first packet of the next second arrives: then
    # the last packet before is as old as its own path delay (21 ms), the rest (1 s) and the transmission of
    # the next one (1 ms).
    p95 = age(sent, received, (1 * SECOND + 20 * MS, 19 * SECOND + 20 * MS))
    assert p95 == pytest.approx(1.022 - 0.1, abs=1e-9)


def test_an_unknown_bound_is_not_reported() -> None:
    of, series = on_and_off([750_000, 0] * 4, [[0, 12_000_000], [SECOND // 2, 0]], SECOND)
    sources = np.array([True])
    assert omniscient(of, series, sources, 0, 1500) is not None
    link = of["links"][0]
    for name, value in (
        ("loss", 0.1),
        ("bursts", {"kind": "any"}),
        ("arq", {"retries": 3}),
        ("delay_ns", None),
        ("jitter_ns", {"kind": "constant", "value": 1.0}),
        ("delay_ns", {"kind": "uniform", "low": 0.0, "high": 1.0}),
        ("rate", {"kind": "unlimited"}),
        ("rate", {"kind": "opportunities", "trace": 0, "once": False}),
        ("rate", {"kind": "steps", "steps": [[0, 1], [SECOND // 3, 0]]}),
        ("rate", {"kind": "uniform", "low_bps": 1, "high_bps": 2, "hold_ns": SECOND // 3}),
    ):
        assert omniscient(of | {"links": [link | {name: value}]}, series, sources, 0, 1500) is None, name
    assert omniscient(of, series, sources, 0, 0) is None
    assert omniscient(of, {name: column[:0] for name, column in series.items()}, sources, 0, 1500) is None
    two = of | {"flows": [*of["flows"], flow("two") | {"path": [1]}]}
    assert omniscient(two, series, np.array([True, True]), 0, 1500) is None


@pytest.mark.parametrize("scheme", ["cubic", "bbr"])
def test_no_scheme_is_faster_than_the_omniscient_sender(scheme: str) -> None:
    steps = {
        "kind": "steps",
        "steps": [["0s", "12mbps"], ["1s", "2mbps"], ["1.5s", "0bps"], ["1.8s", "12mbps"]],
        "repeat_after": "2s",
    }
    stepwise = run(steps, scheme).metrics
    recorded = run({"kind": "link", "name": "lte.down"}, scheme, interval="1ms").metrics
    for metrics in (stepwise, recorded):
        # Within one packet at 2 Mbit/s, and one interval.
        assert metrics["self_inflicted_delay_ms"] > -7
        assert metrics["end_to_end_delay_p95_ms"] > metrics["self_inflicted_delay_ms"] + 20


def test_without_recorded_packets_there_is_no_such_delay() -> None:
    found = run("12mbps", "cubic", packets=False)
    assert all(math.isnan(found.metrics[name]) for name in NAMES)
    # The intervals of a trace that is too coarse for the metric.
    coarse = run({"kind": "link", "name": "lte.down"}, "cubic").metrics
    assert math.isnan(coarse["self_inflicted_delay_ms"])
    assert coarse["end_to_end_delay_p95_ms"] > coarse["delay_mean_ms"] > 20
