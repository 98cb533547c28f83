"""Analysis of variance, Tukey's comparisons and Jain's index against vectors computed independently.

The vectors are those of the folder that the environment variable AIRPATH_VECTORS names, by default the
project's own. Their tolerance, which the file states: relative 1e-6, of probabilities absolute 1e-6.
"""

import json
import os
from pathlib import Path

import pytest

from airpath.metrics import jain_index
from airpath.statistics import Group, grand_mean, one_way, total, tukey_hsd

FOLDER = Path(os.environ.get("AIRPATH_VECTORS", Path(__file__).parents[3] / "vectors"))
VECTORS = json.loads((FOLDER / "anova.json").read_text(encoding="utf-8"))
SHARES = json.loads((FOLDER / "sarbe.json").read_text(encoding="utf-8"))["jain"]
CASES = {
    "utilisation": VECTORS["ebe_utilization"],
    "fairness": VECTORS["ebe_fairness"],
    **{f"case {number}": case for number, case in enumerate(VECTORS["cases"])},
}


def close(expected):
    return pytest.approx(expected, rel=1e-6, abs=1e-12)


def groups_of(case):
    moments = zip(case["means"], case["sds"], strict=True)
    return [Group(str(number), case["n"], mean, sd) for number, (mean, sd) in enumerate(moments)]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_analysis_of_variance(case):
    groups = groups_of(case)
    anova = one_way(groups)
    assert grand_mean(groups) == close(case["grand_mean"])
    assert anova.ss_between == close(case["ss_between"])
    assert anova.ss_within == close(case["ss_within"])
    assert anova.ss_total == close(case["ss_total"])
    assert [anova.df_between, anova.df_within] == case["df"]
    assert anova.ms_between == close(case["ms_between"])
    assert anova.ms_within == close(case["ms_within"])
    assert close(case["F"]) == anova.f
    assert anova.p == pytest.approx(case["p"], abs=1e-6)
    assert total(groups).sd == close(case["total_sd"])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_tukey(case):
    compared = {(pair.first, pair.second): pair for pair in tukey_hsd(groups_of(case), case["alpha"])}
    assert len(compared) == 2 * len(case["pairs"])
    for expected in case["pairs"]:
        pair = compared[str(expected["i"]), str(expected["j"])]
        assert pair.difference == close(expected["diff"])
        assert pair.standard_error == close(expected["se"])
        assert pair.q == close(expected["q"])
        assert pair.p == pytest.approx(expected["p"], abs=1e-6)
        assert pair.low == close(expected["lo"])
        assert pair.high == close(expected["hi"])
        mirror = compared[str(expected["j"]), str(expected["i"])]
        assert (mirror.difference, mirror.low, mirror.high) == (-pair.difference, -pair.high, -pair.low)
        if pair.q > 0:  # the critical value, from the interval
            critical = (pair.high - pair.difference) / pair.standard_error * 2**0.5
            assert critical == close(case["q_crit"])


def test_the_paper_says_so():
    # EBE-J, Figs. 11 and 12: F and the one pair that does not differ.
    assert one_way(groups_of(CASES["utilisation"])).f == pytest.approx(71608.850, abs=5e-4)
    pairs = {(pair.first, pair.second): pair for pair in tukey_hsd(groups_of(CASES["fairness"]))}
    assert not pairs["1", "2"].significant
    assert pairs["1", "2"].p == pytest.approx(0.237, abs=5e-4)
    assert pairs["0", "1"].significant


@pytest.mark.parametrize("case", SHARES, ids=lambda case: f"{len(case['x'])} shares")
def test_jain(case):
    assert jain_index(case["x"]) == pytest.approx(case["index"], rel=1e-9)
