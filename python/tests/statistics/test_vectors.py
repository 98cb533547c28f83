"""Analysis of variance and Tukey's comparisons against independently computed vectors.

The vectors are in the folder that the environment variable AIRPATH_VECTORS names, by default the project's
own. Another folder may contain other points in the same format, or lack the file. Their tolerance, which the
file states: relative 1e-6, of probabilities absolute 1e-6.
"""

import json
import os
from pathlib import Path

import pytest

from airpath.statistics import Group, grand_mean, one_way, total, tukey_hsd

NAME = "anova.json"
OWN = Path(__file__).parents[3] / "vectors"
PUBLISHED = {"utilisation": "ebe_utilization", "fairness": "ebe_fairness"}
"""The cases of EBE-J, Figs. 11 and 12, and their names in the file."""


class Tally:
    """A counter of comparisons that keeps the worst, as `crates/vectors` does."""

    def __init__(self):
        self.held, self.broken, self.worst = 0, [], (0.0, "")

    def hold(self, what, value, expected, *, relative=1e-6, absolute=1e-12):
        """Count a number as within the tolerance of `expected`, or not; a NaN is not."""
        error = abs(value - expected)
        tolerance = max(relative * abs(expected), absolute)
        told = f"{what}: {value:e}, expected {expected:e}"
        if error / tolerance >= self.worst[0]:
            self.worst = (error / tolerance, told)
        if error <= tolerance:
            self.held += 1
        else:
            self.broken.append(told)

    def check_probability(self, what, value, expected):
        self.hold(what, value, expected, relative=0.0, absolute=1e-6)

    def finish(self):
        """Print the count of correct numbers and the worst error; fail if one is wrong, or there are none."""
        count = self.held + len(self.broken)
        share, where = self.worst
        held = f"{self.held} of {count} numbers held"
        print(f"\n{NAME}: {held}; worst error {share:.1e} of the tolerance ({where})")  # noqa: T201 it is the result
        assert not self.broken, f"{NAME}: {len(self.broken)} broken, first {self.broken[0]}"
        assert count, f"{NAME} holds nothing to compare"


def cases_of(folder):
    vectors = json.loads((folder / NAME).read_text(encoding="utf-8"))
    named = {name: vectors[key] for name, key in PUBLISHED.items() if key in vectors}
    return named | {f"case {number}": case for number, case in enumerate(vectors.get("cases", []))}


def groups_of(case):
    moments = zip(case["means"], case["sds"], strict=True)
    return [Group(str(number), case["n"], mean, sd) for number, (mean, sd) in enumerate(moments)]


def check_analysis_of_variance(tally, name, case):
    groups = groups_of(case)
    anova = one_way(groups)
    values = {
        "grand_mean": grand_mean(groups),
        "ss_between": anova.ss_between,
        "ss_within": anova.ss_within,
        "ss_total": anova.ss_total,
        "ms_between": anova.ms_between,
        "ms_within": anova.ms_within,
        "F": anova.f,
        "total_sd": total(groups).sd,
    }
    for quantity, value in values.items():
        tally.hold(f"{quantity} of {name}", value, case[quantity])
    for number, value in enumerate((anova.df_between, anova.df_within)):
        tally.hold(f"df[{number}] of {name}", value, case["df"][number], relative=0.0)
    tally.check_probability(f"p of {name}", anova.p, case["p"])


def check_tukey(tally, name, case):
    compared = {(pair.first, pair.second): pair for pair in tukey_hsd(groups_of(case), case["alpha"])}
    assert len(compared) == 2 * len(case["pairs"])
    for expected in case["pairs"]:
        one, other = str(expected["i"]), str(expected["j"])
        pair, mirror = compared[one, other], compared[other, one]
        what = f"of {one} and {other}, {name}"
        values = {
            "diff": pair.difference,
            "se": pair.standard_error,
            "q": pair.q,
            "lo": pair.low,
            "hi": pair.high,
        }
        for quantity, value in values.items():
            tally.hold(f"{quantity} {what}", value, expected[quantity])
        tally.check_probability(f"p {what}", pair.p, expected["p"])
        assert (mirror.difference, mirror.low, mirror.high) == (-pair.difference, -pair.high, -pair.low)
        if pair.q > 0:  # the critical value, from the interval
            critical = (pair.high - pair.difference) / pair.standard_error * 2**0.5
            tally.hold(f"q_crit {what}", critical, case["q_crit"])


def test_every_case_holds():
    named = os.environ.get("AIRPATH_VECTORS")
    folder = Path(named) if named else OWN
    assert folder.is_dir(), f"AIRPATH_VECTORS names no folder: {folder}"
    if named and not (folder / NAME).exists():
        pytest.skip(f"{NAME}: not in this folder")
    tally = Tally()
    for name, case in cases_of(folder).items():
        check_analysis_of_variance(tally, name, case)
        check_tukey(tally, name, case)
    tally.finish()


@pytest.mark.usefixtures("capsys")  # the output here is no result
def test_the_tally_fails_for_wrong_missing_or_invalid_numbers():
    for value in (1.0 + 2e-6, float("nan")):
        tally = Tally()
        tally.hold("x", 1.0, 1.0)
        tally.hold("y", value, 1.0)
        with pytest.raises(AssertionError, match="1 broken, first y"):
            tally.finish()
    with pytest.raises(AssertionError, match="nothing to compare"):
        Tally().finish()


def test_numbers_quoted_from_the_paper():
    # EBE-J, Figs. 11 and 12: F and the one pair without a difference.
    cases = cases_of(OWN)
    assert one_way(groups_of(cases["utilisation"])).f == pytest.approx(71608.850, abs=5e-4)
    pairs = {(pair.first, pair.second): pair for pair in tukey_hsd(groups_of(cases["fairness"]))}
    assert not pairs["1", "2"].significant
    assert pairs["1", "2"].p == pytest.approx(0.237, abs=5e-4)
    assert pairs["0", "1"].significant
