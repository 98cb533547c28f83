"""Expectations: passing, failing, and the effect of noise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airpath.checks.expectation import Bound, Envelope, RelativeBound, in_unit
from airpath.errors import UnitError

SEEDS = range(1, 9)


def values(*numbers: float) -> dict[int, float]:
    return dict(enumerate(numbers, 1))


@pytest.mark.parametrize(
    ("metric", "text", "number"),
    [
        ("goodput_mbps", "1500kbps", 1.5),
        ("queueing_p95_ms", "0.02s", 20.0),
        ("completion_p95_s", "250ms", 0.25),
        ("queue_mean_bytes", "2kB", 2000.0),
        ("utilisation", 0.9, 0.9),
    ],
)
def test_a_quantity_is_read_in_the_unit_of_the_metric(metric, text, number):
    assert in_unit(metric, text) == number


@pytest.mark.parametrize(
    ("metric", "text"), [("utilisation", "0.9"), ("goodput_mbps", "10"), ("timeouts", "3s")]
)
def test_another_unit_or_none_is_rejected(metric, text):
    with pytest.raises(UnitError):
        in_unit(metric, text)


def test_a_bound_is_checked_against_the_mean():
    lower, upper = Bound("goodput_mbps", True, 2.0), Bound("goodput_mbps", False, 2.0)
    assert lower.judge(values(1.0, 3.0)).passed
    assert upper.judge(values(1.0, 3.0)).passed
    assert not lower.judge(values(1.0, 2.9)).passed
    assert not upper.judge(values(1.0, 3.1)).passed
    assert "within the interval" in lower.judge(values(1.0, 2.9)).remark
    assert lower.judge(values(5.0, 5.1)).remark == ""
    assert lower.judge(values(1.0)).expected == "at least 2 Mbit/s"


def test_a_limit_met_exactly_by_equal_values_is_not_within_an_interval():
    assert Bound("utilisation", True, 0.5).judge(values(0.5, 0.5)).remark == ""
    assert RelativeBound("utilisation", True, 1.0, "cubic").judge(
        values(0.5, 0.5), values(0.5, 0.5)
    ).remark == ("cubic has 0.5000")


def test_the_text_of_a_relative_bound():
    bound, others = RelativeBound("queueing_p95_ms", False, 1.5, "bbr"), values(10.0, 20.0)
    judged = bound.judge(values(14.0, 31.0, math.nan), others)
    assert (judged.metric, judged.expected) == ("queueing_p95_ms", "at most 1.5 of bbr")
    assert judged.name == "queueing_p95_ms at most 1.5 of bbr"
    said = [
        "bbr has 15 ± 64",
        "no value in 1 of 3 runs",
        "the limit is within the interval: more repetitions",
    ]
    assert [part[: len(text)] for part, text in zip(judged.remark.split("; "), said, strict=True)] == said
    # Independent of whether it passes.
    assert "within the interval" in bound.judge(values(14.0, 28.0), others).remark
    assert "within the interval" not in bound.judge(values(1.0, 16.5), others).remark


def test_an_upper_relative_bound_is_enforced():
    bound, others = RelativeBound("queueing_p95_ms", False, 1.5, "bbr"), values(10.0, 20.0)
    assert bound.judge(values(15.0, 30.0), others).passed
    assert bound.judge(values(14.0, 30.5), others).passed
    assert not bound.judge(values(15.0, 30.1), others).passed
    assert RelativeBound("queueing_p95_ms", False, 1.0, "bbr").judge(others, others).passed
    # Zero is within these intervals, and outside the others.
    limit = RelativeBound("utilisation", False, 1.0, "bbr")
    assert "within the interval" in limit.judge(values(0.5, 0.6), values(0.55, 0.5)).remark
    assert "within the interval" not in limit.judge(values(0.50, 0.61), values(0.60, 0.71)).remark


@pytest.mark.parametrize("mine", [(3.0, 3.1), (3.0, math.nan), (math.nan, math.nan)])
@pytest.mark.parametrize("theirs", [(1.0, 2.0), (math.nan, math.nan)])
def test_each_verdict_names_its_subject(mine, theirs):
    envelope = Envelope("jain_index", 0.1, absolute=False)
    judgements = [
        (Bound("jain_index", True, 0.5).judge(values(*mine)), "at least 0.5"),
        (
            RelativeBound("jain_index", True, 0.5, "bbr").judge(values(*mine), values(*theirs)),
            "at least 0.5 of bbr",
        ),
        (envelope.judge(values(*mine), values(*theirs)), "as the baseline within 10 %"),
        (envelope.unknown(values(*mine), "why", skipped=True), "as the baseline within 10 %"),
    ]
    for judged, expected in judgements:
        assert (judged.metric, judged.expected) == ("jain_index", expected)
        assert judged.measured.n == sum(not math.isnan(value) for value in mine)
    unknown = judgements[3][0]
    assert (unknown.passed, unknown.skipped, unknown.remark) == (True, True, "why")
    assert not envelope.unknown(values(*mine), "why", skipped=False).passed


def test_the_text_of_a_baseline():
    share, quantity = (
        Envelope("queueing_p95_ms", 0.5, absolute=False),
        Envelope("queueing_p95_ms", 2.0, absolute=True),
    )
    assert share.expected == "as the baseline within 50 %"
    assert quantity.expected == "as the baseline within 2 ms"
    assert share.judge(values(10.0, 12.0), values(10.0, 12.0)).remark == "baseline 11 ± 13"
    moved = share.judge(values(11.0, 13.5), values(10.0, 12.0))
    assert moved.remark == "baseline 11 ± 13, difference 1.250 [-1.927, 4.427]"
    assert share.judge(values(11.0), values(10.0)).remark == "baseline 10, difference 1"
    doubtful = quantity.judge(values(12.0, 18.0), values(10.0, 12.0))
    assert doubtful.passed
    assert doubtful.remark.endswith("]; the interval holds zero: not sure")
    learned = share.learned(values(10.0, 12.0))
    assert (learned.metric, learned.expected, learned.remark) == (share.metric, share.expected, "learned")
    assert learned.passed
    assert not learned.skipped
    assert share.judge(values(math.nan), values(10.0)).remark == "no run has a value now"
    assert share.judge(values(10.0), values(math.nan)).remark == "the baseline has no value"
    fewer = quantity.judge(values(8.0, 2.0), values(10.0, 12.0))
    assert fewer.remark.endswith("]; the interval holds zero: not sure")


def test_a_difference_as_large_as_the_tolerance_passes():
    envelope = Envelope("queueing_p95_ms", 2.0, absolute=True)
    assert envelope.judge(values(12.0), values(10.0)).passed
    assert not envelope.judge(values(12.5), values(10.0)).passed


@pytest.mark.parametrize(
    ("metric", "by", "passed"),
    [("utilisation", 0.2, True), ("utilisation", -0.2, False), ("timeouts", 0.2, False)],
)
def test_small_differences_have_a_better_direction_too(metric, by, passed):
    judged = Envelope(metric, 0.1, absolute=False).judge(values(0.5 + by, 0.5 + by), values(0.5, 0.5))
    assert judged.passed is passed
    assert ("better" in judged.remark) is passed


def test_without_any_value_a_bound_fails():
    judged = Bound("jain_index", True, 0.5).judge(values(math.nan, math.nan))
    assert not judged.passed
    assert judged.remark == "no run has a value"


def test_a_run_without_deliveries_is_not_hidden_by_the_others():
    lower = Bound("goodput_mbps", True, 2.0).judge(values(3.0, math.nan, 3.0))
    assert not lower.passed
    assert lower.measured.n == 2
    assert lower.remark == "no value in 1 of 3 runs"
    both = Bound("goodput_mbps", True, 2.0).judge(values(1.0, math.nan, 4.0)).remark
    assert both.startswith("no value in 1 of 3 runs; the limit is within the interval")
    relative = RelativeBound("goodput_mbps", True, 0.5, "cubic")
    gone = relative.judge(values(3.0, math.nan, 3.0), values(3.0, 3.0, 3.0))
    assert not gone.passed
    assert "no value in 1 of 3 runs" in gone.remark
    # Missing values of the other scheme do not count against this one.
    assert relative.judge(values(3.0, 3.0, 3.0), values(3.0, math.nan, 3.0)).passed
    nothing = relative.judge(values(3.0), values(math.nan))
    assert not nothing.passed
    assert nothing.remark == "no run of cubic has a value"
    assert relative.judge(values(math.nan), values(3.0)).remark == "no run has a value"
    envelope, baseline = Envelope("goodput_mbps", 0.1, absolute=False), values(3.0, 3.1, 3.2)
    less = envelope.judge(values(3.0, 3.1, math.nan), baseline)
    assert not less.passed
    assert "no value in 1 of 3 runs" in less.remark
    # A missing value is no failure if the baseline lacks its seed.
    assert envelope.judge({1: 3.0, 2: 3.1, 3: 3.2, 4: math.nan}, baseline).passed


def test_a_relative_bound_is_checked_seed_by_seed():
    bound = RelativeBound("goodput_mbps", True, 0.9, "cubic")
    # In each seed exactly 0.95 of CUBIC, though seeds differ by more than that.
    others = values(1.0, 10.0, 5.0)
    judged = bound.judge({seed: 0.95 * value for seed, value in others.items()}, others)
    assert judged.passed
    assert judged.difference is not None
    assert judged.difference.pairs == 3
    assert not bound.judge({seed: 0.85 * value for seed, value in others.items()}, others).passed
    assert bound.judge(others, others).passed
    assert RelativeBound("goodput_mbps", True, 1.0, "cubic").judge(others, others).passed


def test_noise_does_not_fail_and_a_loss_does():
    envelope = Envelope("goodput_mbps", 0.03, absolute=False)
    baseline = values(10.0, 12.0, 9.0, 11.0, 10.5)
    noisy = values(10.9, 10.0, 9.4, 11.9, 8.0)
    assert envelope.judge(noisy, baseline).passed
    worse = {seed: 0.9 * value for seed, value in baseline.items()}
    assert not envelope.judge(worse, baseline).passed


def test_significant_but_small_differences_pass():
    baseline = values(10.0, 12.0, 9.0)
    slightly = {seed: value - 0.1 for seed, value in baseline.items()}
    judged = Envelope("goodput_mbps", 0.03, absolute=False).judge(slightly, baseline)
    assert judged.difference is not None
    assert judged.difference.is_sure
    assert judged.passed
    assert not Envelope("goodput_mbps", 0.005, absolute=False).judge(slightly, baseline).passed


def test_improvements_pass_and_are_reported_and_their_direction_depends_on_the_metric():
    baseline = values(10.0, 12.0, 9.0)
    more = {seed: 1.5 * value for seed, value in baseline.items()}
    faster = Envelope("goodput_mbps", 0.03, absolute=False).judge(more, baseline)
    assert faster.passed
    assert "better" in faster.remark
    assert not Envelope("queueing_p95_ms", 0.03, absolute=False).judge(more, baseline).passed
    # For a capacity neither direction is better.
    assert not Envelope("capacity_mbps", 0.03, absolute=False).judge(more, baseline).passed


def test_an_absolute_tolerance_is_in_the_unit_of_the_metric():
    baseline = values(1.0, 1.2)
    more = {seed: value + 2.0 for seed, value in baseline.items()}
    assert Envelope("queueing_p95_ms", 2.5, absolute=True).judge(more, baseline).passed
    assert not Envelope("queueing_p95_ms", 1.5, absolute=True).judge(more, baseline).passed


def test_single_runs_are_checked_by_the_difference_alone():
    envelope = Envelope("goodput_mbps", 0.1, absolute=False)
    assert envelope.judge(values(9.5), values(10.0)).passed
    assert not envelope.judge(values(8.0), values(10.0)).passed


def test_a_single_run_is_compared_with_that_of_its_seed():
    """The mean of the baseline's other seeds does not matter."""
    envelope, baseline = Envelope("goodput_mbps", 0.1, absolute=False), values(10.0, 30.0, 50.0)
    same = envelope.judge(values(10.0), baseline)
    assert same.passed
    assert same.difference is not None
    assert (same.difference.difference, same.difference.pairs) == (0.0, 1)
    assert not envelope.judge(values(5.0), baseline).passed
    assert envelope.judge({9: 29.0}, baseline).passed


def test_a_missing_value_fails_only_if_the_baseline_has_it():
    envelope = Envelope("jain_index", 0.1, absolute=False)
    assert not envelope.judge(values(math.nan), values(0.9)).passed
    assert not envelope.judge(values(0.9), {}).passed
    assert envelope.judge(values(math.nan), {}).passed


@given(st.lists(st.floats(0.001, 1e6), min_size=2, max_size=8), st.floats(0.0, 1.0))
def test_the_same_values_always_pass(numbers, tolerance):
    mine = values(*numbers)
    assert Envelope("goodput_mbps", tolerance, absolute=False).judge(mine, mine).passed
