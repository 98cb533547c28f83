"""The resolved loss models, against closed forms and against random samples of netem's own rule."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, RandomLoss
from airpath_lint.reordering import reordered_share
from airpath_lint.rules.loss import gemodel


def test_closed_forms():
    assert GilbertElliottLoss(0.01, 0.1).mean_loss == pytest.approx(1 / 11)
    assert GilbertElliottLoss(0.01, 0.1).mean_burst == pytest.approx(10)
    # A Bernoulli model: r is 1 - p.
    alone = GilbertElliottLoss(0.05, 0.95)
    assert (alone.mean_loss, alone.mean_burst) == pytest.approx((0.05, 1 / 0.95))
    assert (RandomLoss(0.05).mean_loss, RandomLoss(0.05).mean_burst) == pytest.approx((0.05, 1 / 0.95))
    two = FourStateLoss(0.01, 0.1)
    assert (two.mean_loss, two.mean_burst) == pytest.approx((1 / 11, 10))


def test_states_that_are_never_left():
    assert GilbertElliottLoss(0, 0).mean_loss == 0
    assert GilbertElliottLoss(0.1, 0).mean_loss == pytest.approx(1)
    assert math.isinf(GilbertElliottLoss(0.1, 0).mean_burst)
    assert FourStateLoss(1, 0, 0, 0, 0).mean_loss == pytest.approx(1)
    assert FourStateLoss(0, 0, 0, 0, 0).mean_loss == 0


def runs(lost):
    """Return the mean loss and the mean run of losses."""
    ends = np.count_nonzero(lost[:-1] & ~lost[1:])
    return lost.mean(), lost.sum() / max(ends, 1)


def test_gilbert_and_elliott_as_sampled_by_the_kernel():
    p, r, bad, good = 0.02, 0.15, 0.7, 0.01
    random = np.random.default_rng(1)
    moves, losses = random.random(400_000), random.random(400_000)
    lost, state = np.zeros(400_000, bool), False
    for k in range(400_000):
        # The loss depends on the state before the transition (loss_gilb_ell).
        lost[k] = losses[k] < (bad if state else good)
        state = moves[k] >= r if state else moves[k] < p
    mean, burst = runs(lost)
    loss = GilbertElliottLoss(p, r, bad, good)
    assert loss.mean_loss == pytest.approx(mean, rel=0.03)
    assert loss.mean_burst == pytest.approx(burst, rel=0.03)


def test_four_states_as_sampled_by_the_kernel():
    p13, p31, p32, p23, p14 = 0.02, 0.2, 0.3, 0.4, 0.01
    lost, state = np.zeros(400_000, bool), 1
    for k, u in enumerate(np.random.default_rng(2).random(400_000)):
        if state == 1:
            state = 4 if u < p14 else 3 if u < p14 + p13 else 1
        elif state == 2:
            state = 3 if u < p23 else 2
        elif state == 3:
            state = 2 if u < p32 else 1 if u < p32 + p31 else 3
        else:
            state = 1
        lost[k] = state in (3, 4)
    mean, burst = runs(lost)
    loss = FourStateLoss(p13, p31, p32, p23, p14)
    assert loss.mean_loss == pytest.approx(mean, rel=0.03)
    assert loss.mean_burst == pytest.approx(burst, rel=0.03)


@pytest.mark.parametrize(("asked", "correlation"), [(0.1, 0.25), (0.1, 0.5), (0.3, 0.75), (0.02, 0.1)])
def test_correlated_loss_differs_from_the_configured_loss(asked, correlation):
    x, count, lost = 0.5, 1_000_000, 0
    for u in np.random.default_rng(3).random(count):
        x = (1 - correlation) * u + correlation * x
        lost += x <= asked
    mean = RandomLoss(asked, correlation).mean_loss
    # Successive numbers are correlated, so the variance of a count is larger than for independent losses.
    spread = math.sqrt(mean * (1 - mean) / count * (1 + correlation) / (1 - correlation))
    assert abs(mean - lost / count) < 5 * spread
    assert mean < 0.8 * asked


def test_a_correlation_too_close_to_one_has_no_mean():
    assert math.isnan(RandomLoss(0.1, 0.999).mean_loss)


@pytest.mark.parametrize(
    ("spacing", "jitter", "distribution"),
    [(1.2e6, 10e6, ""), (0.12e6, 10e6, ""), (15e6, 10e6, ""), (5e6, 10e6, "normal")],
)
def test_reordered_packets(spacing, jitter, distribution):
    random, count = np.random.default_rng(4), 500_000
    drawn = random.normal(0, jitter, count) if distribution else random.uniform(-jitter, jitter, count)
    arrival = drawn + spacing * np.arange(count)
    earliest_later = np.minimum.accumulate(arrival[::-1])[::-1]
    found = np.mean(earliest_later[1:] < arrival[:-1])
    assert reordered_share(spacing, jitter, distribution) == pytest.approx(found, abs=0.003)


def test_packets_further_apart_than_the_jitter_is_wide_keep_their_order():
    assert reordered_share(20.1e6, 10e6) == 0
    assert reordered_share(1e6, 0) == 0
    assert reordered_share(1e6, 1e6, "pareto") is None


def test_the_suggestion_has_the_same_mean_and_burst():
    p, r = (float(word.rstrip("%")) / 100 for word in gemodel(0.01, 5).split()[2:])
    loss = GilbertElliottLoss(p, r)
    assert (loss.mean_loss, loss.mean_burst) == pytest.approx((0.01, 5), rel=1e-3)


PAGE = Path(__file__).parents[3] / "docs" / "reference" / "lint.md"


def test_the_numbers_of_the_page():
    rows = re.findall(
        r"^\| ([\d.]+) %, correlation (\d+) % \| ([\d.]+) % \|$", PAGE.read_text(), re.MULTILINE
    )
    assert len(rows) == 4
    for asked, correlation, lost in rows:
        mean = RandomLoss(float(asked) / 100, float(correlation) / 100).mean_loss
        assert 100 * mean == pytest.approx(float(lost), rel=0.03)
