"""Samples: which is the least certain, and functions of means by the jackknife."""

import math
import statistics

import pytest

from airpath_papers.sample import Sample, deviation, least, least_sure, of_means, ratio_of_means, sample

SURE = sample([1.0, 1.1, 0.9, 1.05])
DOUBTFUL = sample([1.0, -0.5, 2.0, 0.3])
BELOW = sample([-1.0, -1.1, -0.9, -1.05])
NOTHING = sample([math.nan])


def test_the_least_certain_has_the_largest_p_and_negative_values_come_first():
    assert DOUBTFUL.mean > 0
    for samples in ((SURE, DOUBTFUL), (DOUBTFUL, SURE)):
        assert least_sure(samples) is DOUBTFUL
    for samples in ((SURE, BELOW, DOUBTFUL), (BELOW, DOUBTFUL, SURE)):
        assert least_sure(samples) is BELOW
    assert least_sure((SURE, NOTHING, BELOW)) is NOTHING
    certain = Sample((1.0, 1.1), p=0.0)
    assert least_sure((certain, SURE)) is SURE


def test_of_single_runs_the_least_certain_is_the_smallest():
    large, small = sample([2.0]), sample([1.0])
    assert least_sure((large, small)) is small
    assert least_sure((small, large)) is small
    assert (least([3.0, 2.0, 4.0]).values, least([3.0, 2.0, 4.0]).n) == ((2.0,), 3)


def test_a_deviation_is_that_of_a_sample():
    values = [1.0, 2.0, 4.0, 8.0]
    assert deviation(values).mean == pytest.approx(statistics.stdev(values), rel=0.2)  # less the bias
    pseudo = [
        4 * statistics.stdev(values) - 3 * statistics.stdev(values[:k] + values[k + 1 :]) for k in range(4)
    ]
    low, high = sample(pseudo).interval
    assert deviation(values).interval[1] - deviation(values).interval[0] == pytest.approx(high - low)


def test_three_runs_have_an_interval_and_two_do_not():
    assert math.isnan(ratio_of_means([1.0, 2.0], [1.0, 1.5]).interval[0])
    assert ratio_of_means([1.0, 2.0], [1.0, 1.5]).mean == pytest.approx(3 / 2.5)
    three = ratio_of_means([1.0, 2.0, 3.0], [1.0, 1.5, 2.5])
    assert three.n == 3
    assert three.interval[0] < three.mean < three.interval[1]


def test_of_a_linear_function_the_jackknife_is_students():
    found = of_means(lambda a, b: a - b, [3.0, 5.0, 4.0], [1.0, 1.0, 2.0])
    assert found.interval == pytest.approx(sample([2.0, 4.0, 2.0]).interval)
    assert found.p_value == pytest.approx(sample([2.0, 4.0, 2.0]).p_value)
