"""Samples, rules and verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fabricated import run_data
from scipy import stats

from airpath_papers.anova_tables import anova_tables, tukey_p
from airpath_papers.claim import Claim, Judgement, Verdict, judge
from airpath_papers.rules import AtLeast, AtMost, Between, Near, NotSignificant, Positive
from airpath_papers.sample import (
    FewerRuns,
    Sample,
    deviation,
    difference,
    least,
    least_sure,
    of_means,
    ratio_of_means,
    sample,
)
from airpath_papers.satellite.censored import faster

SURE = sample([1.0, 1.1, 0.9, 1.05])
DOUBTFUL = sample([1.0, -1.1, 0.9, -0.3])
SINGLE = sample([1.0])
NOTHING = sample([math.nan])


def no_runs(_scheme):
    return []


def test_interval_and_test_are_those_of_student():
    values = [1.0, 2.0, 4.0, 4.5]
    expected = stats.ttest_1samp(values, 0.0)
    assert sample(values).p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert sample(values).interval == pytest.approx((interval.low, interval.high))


def test_equal_differences_have_the_p_value_of_their_signs():
    assert sample([0.5, 0.5]).p_value == 0.5
    assert sample([0.5] * 10).p_value == sample([0.1] * 10).p_value == 2**-9
    assert not Positive().holds(sample([0.5] * 7))
    assert Positive().holds(sample([0.5] * 8))
    assert "their signs alone give p = 0.25" in Positive().obstacle(sample([0.5] * 3))
    assert sample([0.0, 0.0]).p_value == 1.0


def test_a_function_of_two_means_includes_both_uncertainties():
    draw = np.random.default_rng(3).normal
    covered = 0
    for _ in range(400):
        before, after = draw(2.0, 0.3, 10), draw(1.0, 0.15, 10)
        low, high = of_means(lambda one, other: (one - other) / one, before.tolist(), after.tolist()).interval
        covered += low <= 0.5 <= high
    assert 0.91 <= covered / 400 <= 0.98  # 95 %, less the error of normal intervals of a ratio of ten runs


def test_equal_differences_show_neither_equality_nor_certainty():
    assert not NotSignificant().holds(sample([0.5] * 5))
    assert NotSignificant().holds(sample([0.0] * 5))
    assert not AtLeast(0.1, surely=True).holds(sample([0.5] * 5))
    assert AtLeast(0.1).holds(sample([0.5] * 5))
    # Equal except for the rounding of the values they were computed from.
    assert sample([1.1 - 1.0, 0.3 - 0.2, 4.1 - 4.0]).p_value == 0.25


def test_a_function_of_two_means_without_a_value_is_no_error():
    assert math.isnan(ratio_of_means([1.0, 2.0, 3.0], [0.0] * 3).mean)
    hanging = ratio_of_means([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])  # depends on one run
    assert (hanging.mean, hanging.n, math.isnan(hanging.interval[0])) == (6.0, 3, True)
    assert ratio_of_means([2.0, math.nan, 2.0, 2.0], [1.0] * 4).mean == 2.0
    assert ratio_of_means([math.nan], [1.0]).n == 0


def test_the_least_certain_difference_has_the_weakest_test():
    equal, clear, doubtful = sample([0.1] * 3), sample([1.0, 1.1, 0.9]), sample([1.0, -0.9, 1.2])
    assert least_sure([equal, clear, doubtful]) is doubtful
    assert least_sure([equal, clear]) is equal  # three signs against a t of 17
    assert least_sure([clear, sample([-1.0, -1.1, -0.9])]).mean < 0
    assert least_sure([sample([0.3]), SINGLE]).mean == 0.3
    assert math.isnan(least_sure([clear, NOTHING]).mean)


def test_runs_without_a_value_are_counted():
    some = sample([5.0, 6.0, math.nan, math.nan, math.nan])
    words = Claim("name", "words", AtMost(10), "what", lambda _of: some)
    assert judge(words, {"first": no_runs}).note == "3 of 5 runs had no value"
    by_choice = {"first": sample([20.0, 21.0]), "second": some}
    in_part = Claim("name", "words", AtMost(10), "what", lambda of: by_choice[of("label")])
    note = judge(in_part, {name: (lambda _label, name=name: name) for name in by_choice}).note
    assert "3 of 5 runs had no value under “second”" in note


def test_differences_are_paired():
    assert difference([3, 5], [1, 4]).values == (2.0, 1.0)


def test_the_least_of_runs_is_of_all_of_them_and_has_no_interval():
    lowest = least([0.9, 0.7, 0.8])
    assert (lowest.mean, lowest.n) == (0.7, 3)
    assert math.isnan(lowest.interval[0])
    assert math.isnan(lowest.p_value)
    note = judge(claim(AtMost(0.75)), {"first": lambda _scheme: [run_data()]}).note
    assert "a single run" in note
    of_many = Claim("name", "words", AtMost(0.75), "what", lambda _of: lowest)
    assert judge(of_many, {"first": lambda _scheme: [run_data()]}).note == ""


def test_jackknife_of_the_deviation_covers_it():
    values = np.random.default_rng(1).normal(0, 2, 400)
    jackknife = deviation(values.tolist())
    assert jackknife.n == 400
    assert jackknife.mean == pytest.approx(values.std(ddof=1), rel=0.01)
    low, high = jackknife.interval
    # For normal numbers the deviation itself has a relative deviation of 1/sqrt(2n).
    assert (high - low) / 2 == pytest.approx(1.96 * values.std(ddof=1) / math.sqrt(800), rel=0.2)
    two = deviation([1.0, 2.0])
    assert (two.n, math.isnan(two.mean)) == (2, True)
    note = judge(Claim("name", "words", AtMost(0.75), "what", lambda _of: two), {"first": no_runs}).note
    assert "undefined for so few runs" in note


def test_ratio_of_means_is_not_that_of_ratios():
    rng = np.random.default_rng(3)
    one, other = rng.uniform(2, 4, 500).tolist(), rng.uniform(0.1, 1.9, 500).tolist()
    ratio = ratio_of_means(one, other)
    assert ratio.n == 500
    assert ratio.mean == pytest.approx(np.mean(one) / np.mean(other), rel=0.001)
    assert np.mean(np.divide(one, other)) > ratio.interval[1]
    # The delta method, for independent numbers.
    spread = np.hypot(np.std(one) / np.mean(one), np.std(other) / np.mean(other))
    assert ratio.deviation == pytest.approx(ratio.mean * spread, rel=0.1)


def test_ratio_of_means_of_one_run_has_no_interval():
    single = ratio_of_means([6.0], [2.0])
    assert (single.mean, single.n) == (3.0, 1)
    assert all(math.isnan(end) for end in single.interval)


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (Near(1.0, 0.05), SURE, sample([1.06])),
        (Between(0.5, 1.5), SURE, sample([1.6])),
        (AtLeast(1.0), SURE, sample([0.99])),
        (AtMost(1.02), SURE, sample([1.03])),
        (AtLeast(0.8, surely=True), SURE, sample([1.0, 1.1, 0.9, 0.4])),
        (AtMost(1.2, surely=True), SURE, sample([1.0, 1.1, 0.9, 1.6])),
        (AtLeast(0.5, surely=True), SURE, SINGLE),
        (Positive(), SURE, DOUBTFUL),
        (Positive(), SURE, SINGLE),
        (Positive(), SURE, least([1.0, 2.0])),
        (Positive(), Sample((0.1, 0.2, 0.3), p=0.001), Sample((0.1, 0.2, 0.3), p=0.02)),
        (NotSignificant(), DOUBTFUL, SURE),
        (NotSignificant(), Sample((0.1,), p=0.5), SINGLE),
    ],
)
def test_rules(rule, yes, no):
    assert rule.holds(yes)
    assert not rule.holds(no)
    assert not rule.holds(NOTHING)
    assert str(rule)


def claim(rule=None, **more):
    return Claim(
        "name",
        "the paper's words",
        rule or AtLeast(1.0),
        "what",
        lambda of: sample([of("scheme")[0].duration_s]),
        **more,
    )


def choices(**durations: float):
    return {
        name: (lambda _scheme, duration=duration: [run_data(duration_s=duration)])
        for name, duration in durations.items()
    }


def test_a_claim_that_holds_in_the_headline_is_reproduced():
    judged = judge(claim(), choices(first=2.0, second=0.5))
    assert judged.verdict is Verdict.REPRODUCED
    assert "not under “second”" in judged.note
    assert judged.headline.mean == 2.0


def test_a_claim_that_holds_elsewhere_is_partly_reproduced_with_place_and_reason():
    judged = judge(claim(reason="because"), choices(first=0.5, second=2.0, third=0.1))
    assert judged.verdict is Verdict.IN_PART
    assert "holds under “second”, not under first" in judged.note
    assert "because" in judged.note
    assert judged.headline.mean == 0.5


def test_each_choice_has_a_verdict_of_its_own():
    judged = judge(claim(), choices(first=0.5, second=2.0))
    assert judged.verdict_under("first") is Verdict.NOT_REPRODUCED
    assert judged.verdict_under("second") is Verdict.REPRODUCED


def test_a_claim_that_holds_nowhere_is_not_reproduced_with_a_reason():
    judged = judge(claim(reason="because"), choices(first=0.5, second=0.6))
    assert judged.verdict is Verdict.NOT_REPRODUCED
    assert judged.note.endswith("because")


def test_a_reproduced_claim_prints_no_reason():
    assert "because" not in judge(claim(reason="because"), choices(first=2.0)).note


def test_a_claim_can_be_restricted_to_choices_and_their_order():
    judged = judge(claim(choices=("second", "first")), choices(first=0.5, second=2.0, third=0.1))
    assert list(judged.samples) == ["second", "first"]
    assert judged.verdict is Verdict.REPRODUCED


def test_single_runs_and_missing_numbers_are_reported():
    assert "a single run" in judge(claim(), choices(first=2.0)).note
    missing = judge(claim(), choices(first=math.nan))
    assert missing.verdict is Verdict.NOT_REPRODUCED
    assert "no run had a value" in missing.note


def few(values, done=2, usual=30, **more):
    return replace(sample(values), fewer=FewerRuns(done, usual), **more)


def judged(rule, *numbers, reason="because"):
    """Return the verdict on numbers under as many choices."""
    samples = {"abc"[k]: number for k, number in enumerate(numbers)}
    return Judgement(Claim("name", "words", rule, "what", None, reason=reason), samples)


TOO_FEW = "evaluated from 2 of 30 runs, too few for a verdict"


@pytest.mark.parametrize("rule", [Positive(), AtLeast(2.0), Near(2.0, 0.1), Between(1.4, 2.0)], ids=str)
def test_fewer_runs_than_usual_are_reported_if_they_settle_nothing(rule):
    doubtful = judged(rule, few([1.0, 1.2]))
    assert doubtful.verdict is Verdict.NOT_REPRODUCED
    assert doubtful.note == f"{TOO_FEW}; reason for 30 runs: because"
    assert judged(rule, few([1.0, 1.2]), reason="").note == TOO_FEW
    # The usual number of runs: the reason is about them.
    assert judged(rule, sample([1.0, 1.2])).note == "because"


def test_claims_settled_by_few_runs_are_settled():
    assert judged(AtLeast(1.0), few([1.0, 1.2])).note == ""
    assert judged(AtLeast(3.0), few([1.0, 1.0001])).note == "because"
    # Equal numbers of a few runs: their spread is unknown.
    assert TOO_FEW in judged(AtLeast(3.0), few([1.0, 1.0])).note
    assert judged(Positive(), few([-1.0, -1.0001])).note == "because"
    assert judged(Positive(), few([1.0, 1.0001])).note == ""


def test_no_difference_in_few_runs_is_no_proof_of_equality():
    equal = judged(NotSignificant(), few([1.0, -1.2]))
    assert (equal.verdict, equal.note) == (Verdict.REPRODUCED, TOO_FEW)


def test_few_runs_are_reported_with_a_partial_verdict():
    note = judged(AtLeast(1.5), few([1.0, 1.2]), few([2.0, 2.2])).note
    assert note.startswith("holds under “b”, not under a; evaluated from 2 of 30 runs")


def test_one_run_shows_no_significance():
    one = judged(Positive(), SINGLE, reason="")
    assert (one.verdict, one.note) == (Verdict.NOT_REPRODUCED, "one run shows no significance")


def test_a_test_that_cannot_reach_the_level_is_reported():
    three = replace(faster([1.0] * 3, [2.0] * 3), fewer=FewerRuns(3, 30))
    note = judged(Positive(), three, reason="").note
    assert note == (
        "evaluated from 3 of 30 runs, too few for a verdict;"
        " with so few runs the test cannot fall below p = 0.25"
    )
    assert judged(Positive(), faster([1.0] * 8, [2.0] * 8)).verdict is Verdict.REPRODUCED


GROUPS = {"a": [1.0, 1.2, 0.9], "b": [2.0, 2.1, 1.8], "c": [2.05, 1.9, 2.2]}


def test_tukey_is_among_all_groups():
    expected = stats.tukey_hsd(*GROUPS.values()).pvalue
    assert tukey_p(GROUPS, "b", "c") == pytest.approx(expected[1, 2])
    assert tukey_p(GROUPS, "a", "b") == pytest.approx(expected[0, 1])
    assert math.isnan(tukey_p({"a": [1.0], "b": [2.0]}, "a", "b"))


def test_tables_are_those_of_the_paper_and_more():
    titles = [table.title for table in anova_tables("throughput", "Mbit/s", GROUPS)]
    for part in ("Descriptives", "ANOVA", "Tukey", "Robust", "Games-Howell", "Effect", "Paired"):
        assert any(part in title for title in titles), part
    assert anova_tables("throughput", "Mbit/s", {"a": [1.0], "b": [2.0]}) == []


def test_additional_results_do_not_affect_the_claim():
    rule, agrees, does_not = AtLeast(1.0), sample([2.0, 2.1, 1.9]), sample([0.5, 0.6, 0.4])
    words = Claim("name", "words", rule, "what", None, beside=("kernel",))
    for headline, kernel, verdict in [
        (does_not, agrees, Verdict.NOT_REPRODUCED),
        (agrees, does_not, Verdict.REPRODUCED),
    ]:
        judgement = Judgement(words, {"ns-2": headline, "kernel": kernel})
        assert judgement.verdict is verdict
        assert (judgement.judged, judgement.beside) == ({"ns-2": headline}, {"kernel": kernel})
        assert "kernel" not in judgement.note


def test_a_verdict_is_from_too_few_runs_only_if_it_depends_on_them():
    few = FewerRuns(2, 10)
    doubtful = replace(sample([0.5, 1.4]), fewer=few)
    holds, fails = replace(sample([2.0, 2.5]), fewer=few), replace(sample([0.1, 0.1001]), fewer=few)
    assert judged(AtLeast(1.0), holds, doubtful).unsettled is None
    assert judged(AtLeast(1.0), doubtful).unsettled == few
    assert judged(AtLeast(1.0), fails).unsettled is None
    assert judged(AtLeast(1.0), fails, doubtful).unsettled == few


def test_one_run_without_a_value_is_reported():
    words = Claim("name", "words", AtLeast(1.0), "what", None)
    assert Judgement(words, {"a": sample([2.0, 2.1, math.nan])}).note == "1 of 3 runs had no value"
    assert Judgement(words, {"a": sample([math.nan, math.nan])}).note == "no run had a value"
