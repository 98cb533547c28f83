"""Formulas on moments against a library that works on samples, and cases computed by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from airpath.metrics.summary import summary
from airpath.statistics import (
    Group,
    analyse,
    analyse_metric,
    analysis_text,
    eta_squared,
    games_howell,
    hedges_g,
    omega_squared,
    one_way,
    paired,
    total,
    tukey_hsd,
    welch,
)

RANDOM = np.random.default_rng(20)
SAMPLES = {
    "a": RANDOM.normal(10, 1, 30),
    "b": RANDOM.normal(10.6, 3, 24),
    "c": RANDOM.normal(12, 0.5, 17),
    "d": RANDOM.normal(12.1, 2, 5),
}
GROUPS = [Group.of(name, samples) for name, samples in SAMPLES.items()]
close = pytest.approx


def pairs_of(comparisons):
    return {(pair.first, pair.second): pair for pair in comparisons}


def test_descriptives():
    group = Group.of("x", [1.0, 2.0, math.nan, 6.0])
    assert (group.n, group.mean, group.minimum, group.maximum) == (3, 3, 1, 6)
    assert group.sd == close(math.sqrt(7))
    assert group.standard_error == close(math.sqrt(7 / 3))
    low, high = group.interval()
    assert (low, high) == close(stats.t.interval(0.95, 2, 3, math.sqrt(7 / 3)))
    everything = np.concatenate(list(SAMPLES.values()))
    assert total(GROUPS).mean == close(everything.mean())
    assert total(GROUPS).sd == close(everything.std(ddof=1))
    assert Group.of("x", [0.1] * 30).sd == 0


def test_analysis_of_variance_of_samples():
    expected = stats.f_oneway(*SAMPLES.values())
    assert (one_way(GROUPS).f, one_way(GROUPS).p) == close((expected.statistic, expected.pvalue))


def test_welch_of_two_groups_is_the_square_of_his_t():
    test = stats.ttest_ind(SAMPLES["a"], SAMPLES["b"], equal_var=False)
    result = welch(GROUPS[:2])
    assert (result.f, result.df_within, result.p) == close((test.statistic**2, test.df, test.pvalue))


def test_welch_of_samples():
    pytest.importorskip("scipy", minversion="1.16")  # the version that introduced it
    expected = stats.f_oneway(*SAMPLES.values(), equal_var=False)
    assert (welch(GROUPS).f, welch(GROUPS).p) == close((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("equal", [True, False], ids=["tukey", "games-howell"])
def test_comparisons_of_samples(equal):
    expected = stats.tukey_hsd(*SAMPLES.values(), equal_var=equal)
    interval = expected.confidence_interval(0.99)
    compared = pairs_of(tukey_hsd(GROUPS) if equal else games_howell(GROUPS))
    names = list(SAMPLES)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i == j:
                continue
            pair = compared[first, second]
            assert pair.difference == close(expected.statistic[i, j])
            assert pair.p == close(expected.pvalue[i, j], abs=1e-9)
            assert (pair.low, pair.high) == close((interval.low[i, j], interval.high[i, j]))
            assert pair.significant == (pair.p < 0.01)


def test_effect_sizes():
    anova = one_way([Group.of("a", [1.0, 2.0, 3.0]), Group.of("b", [3.0, 4.0, 5.0])])
    # Between: 2 groups of 3, each 1 from the mean: 6. Within: 2 + 2. Therefore F = 6 / (4 / 4).
    assert (anova.ss_between, anova.ss_within, anova.f) == close((6, 4, 6))
    assert eta_squared(anova) == close(0.6)
    assert omega_squared(anova) == close((6 - 1) / (10 + 1))
    g = hedges_g(Group("a", 3, 2.0, 1.0), Group("b", 3, 4.0, 1.0))
    # J for 4 degrees of freedom: Γ(2) / (√2 Γ(1.5)) = 1 / (√2 · √π / 2), about 1 - 3/(4 · 4 - 1).
    assert g == close(-2 / (math.sqrt(2) * math.sqrt(math.pi) / 2))
    assert g == close(-2 * (1 - 3 / 15), rel=0.01)


def test_pairs_are_matched_by_seed():
    ours = {1: 5.0, 2: 7.0, 3: 6.0, 4: math.nan, 9: 1.0}
    theirs = {3: 5.0, 2: 5.5, 1: 4.0, 4: 1.0, 8: 1.0}
    result = paired("a", "b", (ours, theirs), alpha=0.05)
    expected = stats.ttest_rel([5, 7, 6], [4, 5.5, 5])
    interval = expected.confidence_interval(0.95)
    assert (result.n, result.df) == (3, 2)
    assert (result.t, result.p) == close((expected.statistic, expected.pvalue))
    assert (result.low, result.high) == close((interval.low, interval.high))
    assert result.difference == close(3.5 / 3)
    with pytest.raises(ValueError, match="no seed in common"):
        paired("a", "b", ({1: 1.0}, {2: 1.0}))


def test_pairing_detects_differences_hidden_by_common_variation():
    shared = RANDOM.normal(10, 5, 30)
    ours = dict(enumerate(shared + 0.1 + RANDOM.normal(0, 0.05, 30)))
    theirs = dict(enumerate(shared))
    groups = [Group.of("ours", ours.values()), Group.of("theirs", theirs.values())]
    assert one_way(groups).p > 0.5
    result = paired("ours", "theirs", (ours, theirs))
    assert result.p < 1e-6
    assert result.low > 0


def test_constant_samples_raise_no_error():
    flat = [Group.of("a", [1.0, 1.0]), Group.of("b", [1.0, 1.0])]
    assert math.isnan(one_way(flat).f)
    assert math.isnan(welch(flat).f)
    assert all(pair.p == 1 and not pair.significant for pair in (*tukey_hsd(flat), *games_howell(flat)))
    assert math.isnan(eta_squared(one_way(flat)))
    assert math.isnan(hedges_g(*flat))
    apart = [Group.of("a", [1.0, 1.0]), Group.of("b", [2.0, 2.0])]
    assert (one_way(apart).f, one_way(apart).p) == (math.inf, 0)
    assert all(pair.p == 0 and pair.low == pair.high == pair.difference for pair in tukey_hsd(apart))
    constant = paired("a", "b", ({1: 2.0, 2: 3.0}, {1: 1.0, 2: 2.0}))
    assert (constant.difference, constant.p) == (1, 0.5)
    assert all(map(math.isnan, (constant.t, constant.low, constant.high)))
    equal = paired("a", "b", ({1: 2.0, 2: 3.0}, {1: 2.0, 2: 3.0}))
    assert math.isnan(equal.t)
    assert equal.p == 1
    assert paired("a", "b", ({1: 2.0}, {1: 1.0})).n == 1
    text = analysis_text(analyse("nothing", flat))
    assert "nan" not in text
    text = analysis_text(analyse("apart", apart))
    assert "inf" in text
    assert "Within the groups nothing varies: F is infinite" in text


@pytest.mark.parametrize("value", [0.97, 0.1, 1e9 / 3, -0.3])
def test_rounding_makes_no_difference_between_equal_groups(value):
    equal = [Group.of(name, [value] * n) for name, n in (("a", 3), ("b", 5), ("c", 7))]
    anova = one_way(equal)
    assert anova.ss_total == 0
    assert math.isnan(anova.f)
    assert all(pair.difference == 0 and pair.p == 1 for pair in (*tukey_hsd(equal), *games_howell(equal)))
    assert (total(equal).mean, total(equal).sd) == (value, 0)


def test_groups_of_equal_means_have_no_statistic():
    equal = [Group(name, n, 0.97, sd) for name, n, sd in (("a", 3, 0.1), ("b", 5, 0.3), ("c", 7, 0.7))]
    assert one_way(equal).f == welch(equal).f == 0
    assert one_way(equal).p == welch(equal).p == 1


def test_too_few_samples_are_rejected():
    with pytest.raises(ValueError, match="two groups"):
        one_way(GROUPS[:1])
    with pytest.raises(ValueError, match="no group has two samples"):
        one_way([Group.of("a", [1.0]), Group.of("b", [2.0])])
    with pytest.raises(ValueError, match="too few samples in b"):
        welch([Group.of("a", [1.0, 2.0]), Group.of("b", [2.0])])
    with pytest.raises(ValueError, match="the group a has no samples"):
        Group.of("a", [math.nan])


def summary_of(values):
    rows = []
    for scheme, samples in values.items():
        for number, value in enumerate(samples):
            metrics = {"throughput_mbps": value, "jain_index": math.nan}
            rows.append((scheme, number, 100 + number, metrics))
    return summary(rows)


def test_a_metric_of_a_summary():
    table = summary_of({"xcp": [7.3, 7.4, 7.5], "xcp-ebe": [10.0, 10.1, 9.9], "xcp-b": [9.9, 9.8, 10.0]})
    analysis = analyse_metric(table, "throughput_mbps")
    assert [group.name for group in analysis.groups] == ["xcp", "xcp-ebe", "xcp-b"]
    assert (analysis.title, analysis.unit, analysis.alpha) == ("throughput", "Mbit/s", 0.01)
    assert [(pair.first, pair.second, pair.n) for pair in analysis.pairs] == [
        ("xcp", "xcp-ebe", 3),
        ("xcp", "xcp-b", 3),
        ("xcp-ebe", "xcp-b", 3),
    ]
    two = analyse_metric(table, "throughput_mbps", schemes=["xcp-b", "xcp"])
    assert [group.name for group in two.groups] == ["xcp-b", "xcp"]
    with pytest.raises(ValueError, match="the group xcp has no samples"):
        analyse_metric(table, "jain_index")
    with pytest.raises(KeyError):
        analyse_metric(table, "happiness")


PAPER = """\
Descriptives: utilization (Mbit/s)
          N        Mean  Std. Deviation     Std. Error
------------------------------------------------------
XCP      30  7.38412353    0.0300169579  0.00548032164
XCP-b    30  9.89277975    0.0317115625  0.00578971271
XCP-EBE  30  10.0024855    0.0291591356  0.00532370544
Total    90  9.09312960      1.21642347    0.128222292

ANOVA: utilization (Mbit/s)
                Sum of Squares  df   Mean Square          F  Sig.
-----------------------------------------------------------------
Between Groups      131.612108   2    65.8060542  71608.850  .000
Within Groups     0.0799499883  87  0.000918965382
Total               131.692058  89
"""


def test_the_layout_is_that_of_the_paper():
    groups = [
        Group("XCP", 30, 7.384123529430856, 0.030016957852316),
        Group("XCP-b", 30, 9.892779745886358, 0.031711562547082),
        Group("XCP-EBE", 30, 10.002485510593097, 0.029159135611505),
    ]
    text = analysis_text(analyse("utilization", groups, unit="Mbit/s"))
    lines = [line.split() for line in text.splitlines()]
    for line in PAPER.splitlines():
        if not line.startswith("-"):
            assert line.split() in lines
    row = next(line for line in lines if line[:2] == ["XCP-b", "XCP-EBE"])
    assert row == [
        "XCP-b",
        "XCP-EBE",
        "-0.109705765*",
        "0.00782715522",
        ".000",
        "-0.133121870",
        "-0.0862896591",
    ]
    assert "* The mean difference is significant at the .01 level." in text
    assert "99% CI Lower" in text
