"""Adding runs until they suffice leaves intervals with their nominal confidence.

A short version of `tools/precision_coverage.py`, whose figures are on `docs/lab-notes/statistics.md`.
"""

import numpy as np
import pytest
from precision_coverage import DISTRIBUTIONS, coverage, false_alarms

from airpath.precision import PrecisionRule

TRIALS = 4000
NORMAL = ("normal, sd 5 % of the mean", "normal, sd 10 %")


def drawn(name):
    draw, mean = DISTRIBUTIONS[name]
    return draw(np.random.default_rng(5), (TRIALS, 100)), mean


@pytest.mark.parametrize("name", NORMAL)
@pytest.mark.parametrize("share", [0.02, 0.05])
def test_intervals_cover_normal_values_at_every_look(name, share):
    values, mean = drawn(name)
    found = coverage(values, mean, PrecisionRule(share))
    # 95 %, less the error of Student's t with few values (half a per cent) and three standard deviations of
    # the count.
    assert found.at_every_look == pytest.approx(0.95, abs=0.005 + 3 * (0.05 * 0.95 / TRIALS) ** 0.5)
    assert found.at_the_end > 0.97


def test_ordinary_intervals_at_every_look_do_not_cover_normal_values():
    values, mean = drawn(NORMAL[1])
    found = coverage(values, mean, PrecisionRule(0.05), 0.05)
    assert found.at_every_look < 0.85
    assert found.at_the_end < 0.95


@pytest.mark.parametrize(
    ("name", "least"), [("1 less exponential of mean 0.1", 0.9), ("1 and exponential of mean 0.1", 0.9)]
)
def test_intervals_cover_skewed_values_better_than_ordinary_ones(name, least):
    values, mean = drawn(name)
    repeated, usual = (coverage(values, mean, PrecisionRule(0.05), level) for level in (None, 0.05))
    assert repeated.at_the_end > max(least, usual.at_the_end + 0.02)


def test_a_difference_of_zero_is_rarely_significant():
    draw = np.random.default_rng(1)
    rule = PrecisionRule(0.02)
    assert false_alarms(draw, rule) == pytest.approx(0.05, abs=0.01)
    assert false_alarms(draw, rule, 0.05) > 0.15
