"""The precision of means and differences, against numbers computed by hand."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from precision_coverage import coverage
from scipy.special import stdtrit

from airpath.metrics import METRICS, summary
from airpath.precision import PrecisionRule
from airpath.precision.reached import Decision, judge, repetitions_needed, stops_after
from airpath.views.precision import precision_json, precision_lines

GOODPUT = "goodput_mbps"


def runs(**values: list[float]) -> pa.Table:
    """Return a summary in which schemes have this goodput."""
    nothing = dict.fromkeys(METRICS, math.nan)
    return summary(
        (scheme, number, 7 + number, {**nothing, GOODPUT: value})
        for scheme, of_scheme in values.items()
        for number, value in enumerate(of_scheme)
    )


def rule(precision=0.02, difference=None, least=3, most=100) -> PrecisionRule:
    return PrecisionRule(precision, difference, GOODPUT, least, most)


def test_without_a_rule_intervals_are_the_usual_ones():
    # Mean 10, sd 1, n = 3: t(0.975, 2) = 4.302653, half-width 2.484138.
    reached = judge(runs(cubic=[9.0, 10.0, 11.0]))
    (cubic,) = reached.schemes
    assert (cubic.n, cubic.mean) == (3, 10.0)
    assert cubic.half_width == pytest.approx(2.484138, rel=1e-6)
    assert cubic.share == pytest.approx(0.2484138, rel=1e-6)
    assert not cubic.is_reached
    # t(0.975, n - 1) / sqrt(n) is 0.5061 of 17 values, 0.4973 of 18: 0.5 takes 18.
    assert cubic.needed == 18
    assert reached.end == "fixed"


def test_with_a_rule_they_have_its_level():
    asked = rule(0.5)
    (cubic,) = judge(runs(cubic=[9.0, 10.0, 11.0]), asked).schemes
    assert asked.level < 0.02
    assert cubic.half_width == pytest.approx(stdtrit(2, 1 - asked.level / 2) / math.sqrt(3))


def test_constant_values_are_known():
    reached = judge(runs(cubic=[3.0] * 3, bbr=[0.0] * 3), rule(0.001, 0.001))
    assert [one.share for one in reached.schemes] == [0.0, 0.0]
    assert [pair.decision for pair in reached.pairs] == [Decision.DIFFERENT]
    assert reached.end == "precision"


def test_a_varying_mean_of_zero_is_never_known():
    (one,) = judge(runs(cubic=[-1.0, 0.0, 1.0]), rule()).schemes
    assert (one.share, one.needed) == (math.inf, None)
    assert not one.is_reached


def test_single_runs_have_no_precision():
    reached = judge(runs(cubic=[1.0], bbr=[2.0]))
    assert not any(one.is_reached for one in reached.schemes)
    assert precision_lines(reached) == []


def test_schemes_without_a_value_are_omitted_and_named():
    reached = judge(runs(cubic=[math.nan] * 3, bbr=[5.0] * 3), rule())
    assert reached.end == "precision"
    assert reached.without_value == ("cubic",)
    assert precision_lines(reached)[-1] == "cubic: no run has a value of goodput_mbps"
    nothing = judge(runs(cubic=[math.nan] * 3), rule(None, 0.1))
    assert precision_lines(nothing)[0] == "stopped after 3 repetitions: no run has a value of goodput_mbps"


@pytest.mark.parametrize(
    ("first", "second", "decision"),
    [
        ([10.0, 10.1, 9.9] * 5, [8.0, 8.1, 7.9] * 5, Decision.DIFFERENT),
        ([10.0, 10.01, 9.99] * 5, [10.01, 10.0, 9.99] * 5, Decision.ALIKE),
        ([10.0, 12.0, 8.0] * 5, [12.0, 8.0, 10.0] * 5, Decision.OPEN),
        # Significant and negligible: reported as significant.
        ([10.001, 10.002, 10.003] * 5, [10.0] * 15, Decision.DIFFERENT),
    ],
)
def test_the_precision_of_a_difference(first, second, decision):
    (pair,) = judge(runs(cubic=first, bbr=second), rule(None, 0.02)).pairs
    assert pair.decision is decision
    assert pair.margin == pytest.approx(0.02 * (np.mean(first) + np.mean(second)) / 2)
    if decision is Decision.OPEN:
        assert pair.needed is not None
        assert pair.needed > 15
    else:
        assert pair.needed is None


def test_a_difference_of_runs_that_have_no_seed_in_common_is_open():
    nan = math.nan
    (pair,) = judge(runs(a=[1.0, 1.0, nan, nan], b=[nan, nan, 1.0, 1.0]), rule(None, 0.02)).pairs
    assert (pair.n, pair.decision, pair.needed) == (0, Decision.OPEN, None)


def test_differences_are_counted():
    steady, moving = [10.0, 10.01, 9.99] * 5, [10.0, 12.0, 8.0] * 5
    told = precision_lines(judge(runs(a=steady, b=[10.01, 10.0, 9.99] * 5, c=moving), rule(None, 0.02)))
    assert told[1] == "differences of goodput between 3 schemes: 1 known to be below 2 %, 2 open"
    assert told[2].startswith("a less c: 0.0 ± ")
    assert "Mbit/s is neither significant nor known to be below 0.2" in told[2]
    assert len(told) == 4


def test_pairs_are_compared_seed_by_seed():
    shared = np.random.default_rng(1).normal(10.0, 3.0, 12)
    table = runs(cubic=list(shared), bbr=list(shared - 0.1 + 0.001 * np.arange(12)))
    (pair,) = judge(table, rule(None, 0.001)).pairs
    assert pair.decision is Decision.DIFFERENT
    assert pair.difference == pytest.approx(0.0945)


def test_the_end_of_an_interrupted_round_is_reported():
    values = list(np.random.default_rng(1).normal(10.0, 3.0, 6))
    reached = judge(runs(cubic=values, bbr=values[:4]), rule())
    assert (reached.repetitions, reached.end) == (4, "interrupted")
    assert precision_lines(reached)[0].startswith("stopped after 4 repetitions (interrupted); goodput is")


def test_the_limit_is_reported_with_the_required_number():
    values = list(np.random.default_rng(1).normal(10.0, 3.0, 8))
    reached = judge(runs(cubic=values, bbr=[2.0] * 8), rule(least=3, most=8))
    assert reached.end == "limit"
    cubic, bbr = reached.schemes
    head, line = precision_lines(reached)
    assert head.startswith(
        "stopped after 8 repetitions (the limit; the precision was not reached); goodput is known within ± "
    )
    assert head.endswith(" % of the mean (95 % at all looks); the same in all seeds: bbr")
    assert line == (
        f"cubic: ± {100 * cubic.share:.2g} % of the mean, not ± 2 %; an estimated {cubic.needed} repetitions"
        " are needed"
    )
    assert cubic.needed is not None
    assert cubic.needed > 8
    assert bbr.needed is None


def test_one_line_reports_the_precision_of_a_fixed_number():
    wide = judge(runs(cubic=[9.0, 10.0, 11.0], bbr=[10.0, 10.01, 10.02]))
    assert precision_lines(wide) == [
        "goodput is known within ± 0.25 % (bbr) to ± 25 % (cubic) of the mean (95 %); for ± 5 % an"
        " estimated 18 repetitions are needed"
    ]
    assert precision_lines(judge(runs(bbr=[10.0, 10.01, 10.02]))) == [
        "goodput is known within ± 0.25 % of the mean (95 %)"
    ]


def test_unreachable_and_unknown_precision_is_reported():
    (line,) = precision_lines(judge(runs(cubic=[-1.0, 0.0, 1.0])))
    assert line.endswith("for ± 5 % the number of repetitions needed cannot be estimated")
    (line,) = precision_lines(judge(runs(cubic=[-1e4, 1.0, 1e4])))
    assert line.endswith("for ± 5 % an estimated 1000000 repetitions or more are needed")
    # A scheme of a single run, after an interrupt, does not change the precision of the other.
    (line,) = precision_lines(judge(runs(cubic=[9.0, 10.0, 11.0], bbr=[1.0])))
    assert line.endswith("for ± 5 % an estimated 18 repetitions are needed")


def test_values_equal_in_all_seeds_have_neither_interval_nor_share():
    table = runs(cubic=[2.0] * 3, bbr=[1.0, 1.0 + 1e-14, 1.0])
    reached = judge(table)
    assert precision_lines(reached) == ["goodput is the same in all seeds"]
    told = precision_json(reached)["schemes"]
    assert [(one["half_width"], one["share"], one["reached"]) for one in told] == [(None, None, True)] * 2


def test_json_contains_no_nan():
    table = runs(cubic=[math.nan, 1.0], bbr=[-1.0, 1.0])
    told = precision_json(judge(table, rule(0.02, 0.02, least=2)))
    cubic, bbr = told["schemes"]
    assert (cubic["half_width"], cubic["share"], cubic["reached"]) == (None, None, False)
    assert bbr["share"] is None
    assert told["differences"][0]["half_width"] is None
    assert told["looks"][0] == 2


@given(
    st.floats(1e-6, 1e6),
    st.floats(1e-4, 10.0),
    st.sampled_from([0.05, 0.01, 0.001]),
)
def test_the_required_number_is_the_smallest_sufficient_one(sd, share, level):
    wanted = share * sd
    needed = repetitions_needed(sd, wanted, level)

    def half(n):
        return stdtrit(n - 1, 1 - level / 2) * sd / math.sqrt(n)

    if needed is None:
        assert half(1_000_000) > wanted
    else:
        assert half(needed) <= wanted
        assert needed == 2 or half(needed - 1) > wanted


def test_no_number_suffices_if_nothing_is_known():
    assert repetitions_needed(1.0, 0.0, 0.05) is None
    assert repetitions_needed(math.nan, 1.0, 0.05) is None
    assert repetitions_needed(1.0, math.nan, 0.05) is None


def test_the_rule_stops_at_the_first_sufficient_look():
    asked = rule(0.05, least=10, most=100)
    values = np.random.default_rng(3).normal(10.0, 1.0, (30, 100))
    stops = [stops_after(runs(cubic=list(row)), asked) for row in values]
    # The computation of the page's figures agrees.
    assert stops == list(coverage(values, 10.0, asked).repetitions)
    assert len(set(stops)) > 1
    assert stops_after(runs(cubic=list(values[0][:12])), rule(0.001, least=10)) is None
