"""Paired comparisons against the formulas, written out again, and against SciPy's test of related samples."""

import math
import statistics

import pytest
from scipy import stats

from airpath.statistics import paired
from airpath.statistics.paired import sign_test

FIRST = {1: 5.0, 2: 7.5, 3: 6.0, 4: 10.0}
SECOND = {1: 4.0, 2: 7.0, 3: 6.5, 4: 6.0, 9: 1e9}
DIFFERENCES = [1.0, 0.5, -0.5, 4.0]


def test_it_is_students_test_of_the_differences():
    found = paired("a", "b", (FIRST, SECOND), 0.1)
    mean, sd = statistics.mean(DIFFERENCES), statistics.stdev(DIFFERENCES)
    assert (found.first, found.second, found.n, found.df) == ("a", "b", 4, 3)
    assert (found.difference, found.sd) == pytest.approx((mean, sd))
    assert found.t == pytest.approx(mean / (sd / 2))
    half = 2.353363 * sd / 2  # t(0.95, 3)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-6)
    related = stats.ttest_rel(list(FIRST.values()), [SECOND[seed] for seed in FIRST])
    assert (found.t, found.p) == pytest.approx((related.statistic, related.pvalue))
    # Hedges' factor for 3 degrees of freedom.
    factor = math.gamma(1.5) / (math.sqrt(1.5) * math.gamma(1.0))
    assert found.g == pytest.approx(factor * mean / sd)


def test_swapping_the_samples_negates_the_result():
    there, back = paired("a", "b", (FIRST, SECOND)), paired("b", "a", (SECOND, FIRST))
    assert (back.difference, back.t, back.g) == pytest.approx((-there.difference, -there.t, -there.g))
    assert (back.low, back.high, back.p) == pytest.approx((-there.high, -there.low, there.p))


def test_a_single_pair_has_only_a_difference():
    found = paired("a", "b", ({1: 3.0, 2: math.nan}, {1: 1.0, 2: 5.0}))
    assert (found.first, found.second, found.n, found.difference, found.df) == ("a", "b", 1, 2.0, 0)
    assert all(map(math.isnan, (found.sd, found.t, found.p, found.low, found.high, found.g)))


def test_two_pairs_have_no_effect_size():
    found = paired("a", "b", ({1: 3.0, 2: 5.0}, {1: 1.0, 2: 2.0}))
    assert (found.n, found.df, found.difference) == (2, 1, 2.5)
    assert found.sd == pytest.approx(math.sqrt(0.5))
    assert math.isnan(found.g)
    assert not math.isnan(paired("a", "b", ({**FIRST, 4: math.nan}, SECOND)).g)


@pytest.mark.parametrize(("difference", "p"), [(0.1, 0.25), (-0.1, 0.25), (0.0, 1.0)])
def test_differences_that_do_not_vary_have_their_signs_only(difference, p):
    found = paired("a", "b", (dict.fromkeys((1, 2, 3), difference), dict.fromkeys((1, 2, 3), 0.0)))
    assert found.difference == pytest.approx(difference)
    assert (found.first, found.second, found.n, found.sd, found.df, found.p) == ("a", "b", 3, 0.0, 2, p)
    assert all(map(math.isnan, (found.t, found.low, found.high, found.g)))


@pytest.mark.parametrize("n", [1, 2, 10])
def test_signs_that_agree_by_chance(n):
    assert sign_test(n) == stats.binomtest(0, n).pvalue


def test_without_a_common_seed_there_is_nothing_to_compare():
    with pytest.raises(ValueError, match="a and b have no seed in common"):
        paired("a", "b", ({1: 1.0, 2: math.nan}, {2: 1.0}))
