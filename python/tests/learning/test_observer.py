"""Observations of artificial steps: each number against its formula, which is written out again."""

import math

import numpy as np
import pytest

from airpath.learning import FEATURES, PRIVILEGED_FEATURES, QUANTITIES
from airpath.learning.observations import RECENT_STEPS, Observer

STEP = {
    "delivery_rate_mbps": 6.0,
    "sending_rate_mbps": 7.0,
    "loss_share": 0.25,
    "rtt_ms": 60.0,
    "rtt_smoothed_ms": 50.0,
    "rtt_min_ms": 40.0,
    "in_flight_packets": 30.0,
    "window_packets": 40.0,
    "capacity_mbps": 12.0,
    "utilisation": 0.5,
    "queue_bytes": 45_000.0,
}
BOUNDS = {
    "delivery_rate": (0, 1),
    "sending_rate": (0, 1),
    "delivery_ratio": (0, 1),
    "rtt_excess": (0, 10),
    "smoothed_rtt_excess": (0, 10),
    "minimum_rtt": (0, 1),
    "loss": (0, 1),
    "window_used": (0, 2),
    "window": (0, 1),
    "window_over_bdp": (-1, 1),
    "capacity": (0, 1),
    "utilisation": (0, 1),
    "queue": (0, 10),
}
EVERYONE = np.array([True, True])


def step(**more):
    """Return the same step of two environments; `more` is of the second."""
    return {name: np.array([STEP.get(name, 0.0), (STEP | more).get(name, 0.0)]) for name in QUANTITIES}


def observer(history=1):
    made = Observer(2, history, privileged=True, mss_bytes=1250)
    made.begin(EVERYONE, step(delivery_rate_mbps=0.0))
    return made


def seen(made, environment=0, back=0):
    """Return the numbers that one environment observed a number of steps ago, by name."""
    rows = made.observations()[environment].reshape(-1, len(BOUNDS))
    return dict(zip(BOUNDS, rows[-1 - back].tolist(), strict=True))


def test_each_number_matches_its_formula():
    made = observer()
    made.update(EVERYONE, step())
    made.update(EVERYONE, step(delivery_rate_mbps=3.0))
    assert seen(made, 1) == pytest.approx(
        {
            "delivery_rate": math.log2(4) / 16,
            "sending_rate": math.log2(8) / 16,
            "delivery_ratio": 0.5,
            "rtt_excess": 0.5,
            "smoothed_rtt_excess": 0.25,
            "minimum_rtt": math.log2(41) / 16,
            "loss": 0.25,
            "window_used": 0.75,
            "window": math.log2(41) / 16,
            # 6 Mbit/s for 40 ms are 24 packets of 10 kbit.
            "window_over_bdp": math.log2(40 / 24) / 4,
            "capacity": math.log2(13) / 16,
            "utilisation": 0.5,
            # 360 kbit at 12 Mbit/s take 30 ms.
            "queue": 0.75,
        },
        rel=1e-6,
    )


def test_observations_stay_within_the_declared_bounds():
    features = (*FEATURES, *PRIVILEGED_FEATURES)
    assert {one.name: (one.low, one.high) for one in features} == BOUNDS
    assert [one.formula[:24] for one in features if one.name in ("sending_rate", "capacity")] == [
        "log2(1 + sending_rate_mb",
        "log2(1 + capacity_mbps /",
    ]
    low, high = Observer.bounds(features, 2)
    assert low.tolist() == [ends[0] for ends in BOUNDS.values()] * 2
    assert high.tolist() == [ends[1] for ends in BOUNDS.values()] * 2
    made = observer()
    made.update(EVERYONE, {name: np.array([1e30, 1e-30]) for name in QUANTITIES})
    made.update(EVERYONE, step(rtt_ms=1e9, rtt_min_ms=1.0, in_flight_packets=1e9, queue_bytes=1e12))
    found = seen(made, 1)
    assert {name: found[name] for name in ("rtt_excess", "window_used", "queue")} == {
        "rtt_excess": 10,
        "window_used": 2,
        "queue": 10,
    }


def test_quotients_with_nothing_are_zero():
    made = Observer(2, 1, privileged=True, mss_bytes=1250)
    made.begin(EVERYONE, {name: np.zeros(2) for name in QUANTITIES})
    assert set(seen(made).values()) == {0.0}


def test_the_largest_rate_is_that_of_the_last_ten_steps():
    assert RECENT_STEPS == 10
    made = observer()
    made.update(EVERYONE, step(delivery_rate_mbps=60.0))
    for _ in range(9):
        made.update(EVERYONE, step())
    assert seen(made, 1)["delivery_ratio"] == pytest.approx(0.1)
    made.update(EVERYONE, step())
    assert seen(made, 1)["delivery_ratio"] == 1.0


def test_the_newest_step_is_last_and_only_selected_environments_advance():
    made = observer(history=3)
    only = np.array([False, True])
    for loss in (0.1, 0.2, 0.3, 0.4):
        made.update(only, step(loss_share=loss))
    assert [seen(made, 1, back)["loss"] for back in (0, 1, 2)] == pytest.approx([0.4, 0.3, 0.2])
    assert [seen(made, 0, back)["loss"] for back in (0, 1, 2)] == [0.25, 0.0, 0.0]
    made.begin(only, step(loss_share=0.9, delivery_rate_mbps=0.0))
    assert [seen(made, 1, back)["loss"] for back in (0, 1, 2)] == pytest.approx([0.9, 0.0, 0.0])
    # The delivered data of the previous episode is forgotten.
    assert seen(made, 1)["window_over_bdp"] == 0.0
    assert seen(made, 0)["loss"] == 0.25


def test_an_observation_is_a_copy():
    made = observer()
    made.observations()[:] = 7.0
    assert seen(made)["utilisation"] == 0.5
