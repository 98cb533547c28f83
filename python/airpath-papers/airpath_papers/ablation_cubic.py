"""Ablation of CUBIC-EBE: its parts alone and together, over paired runs. Not from a paper."""

from collections.abc import Mapping
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.anova_tables import anova_tables
from airpath_papers.claim import Claim
from airpath_papers.drawing import panels
from airpath_papers.ebe_j.cubic import (
    CATCH_UP,
    CUBIC,
    CUBIC_EBE,
    DRAWN_RATES,
    ONE_WAY,
    READING,
    SETTINGS,
    TRAFFIC,
    TWO_WAY,
    Measure,
    catch_up_s,
    losses,
    second_half,
)
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import jain, of_each
from airpath_papers.rules import AtMost, Between, Positive
from airpath_papers.sample import Sample, cell, difference, ratio_of_means, sample
from airpath_papers.settings import shipped, with_options

REPETITIONS: Final = 30
BOTH: Final = "both, Upsilon 2.0 (default)"
MAINTAINER_ONLY: Final = "maintainer only"
FILTER_ONLY: Final = "filter only"
NEITHER: Final = "neither (W_max kept over timeouts)"
CUBIC_ALONE: Final = "CUBIC"

PARTS: Final[Mapping[str, Mapping[str, Any]]] = {
    NEITHER: {"profile": "none", "maintainer": "off"},
    FILTER_ONLY: {"maintainer": "off"},
    MAINTAINER_ONLY: {"profile": "none"},
    BOTH: {},
}
UPSILONS: Final = (1.1, 1.2, 1.4, 1.6)
"""Values in addition to the paper's 2.0, which is the default."""
VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    **PARTS,
    "both, filter journal": {"profile": "journal"},
    "filter only, journal": {"profile": "journal", "maintainer": "off"},
    **{f"both, Upsilon {upsilon}": {"upsilon": upsilon} for upsilon in UPSILONS},
    "threshold literal": {"rtt_threshold": "literal"},
    "x 2 each 200 ms": {"probing_growth": "interval"},
    "x 2 on CUBIC's growth": {"probing_growth": "increment"},
    "x 2 on W_max": {"probing_growth": "ceiling"},
    "no hold-off after a loss": {"hold_off": 0},
    "hold-off of 4 RTTs": {"hold_off": 4},
}
"""Differences from the default: filter `recommended`, maintainer on, Upsilon = 2.0."""

_EXPERIMENTS = {
    choice: {CUBIC_ALONE: shipped(scenario, CUBIC, REPETITIONS)}
    | {
        label: shipped(scenario, with_options(CUBIC_EBE, **options), REPETITIONS)
        for label, options in VARIANTS.items()
    }
    for choice, scenario in ((ONE_WAY, "ebe-cubic-o"), (TWO_WAY, "ebe-cubic-t"))
}

_MEASURES: Final[Mapping[str, Measure]] = {
    "utilisation": second_half,
    "catch-up (s)": catch_up_s,
    "bytes dropped": losses,
    "Jain index": jain,
}


def _against(of: Any, one: str, other: str, measure: Measure) -> Sample:
    return difference(of_each(of(one), measure), of_each(of(other), measure))


def _tables(runs: FigureRuns) -> list[TextTable]:
    by_choice = [
        table for choice in runs.choices for table in (_numbers(runs, choice), _paired(runs, choice))
    ]
    of = runs.of(runs.choices[0])
    parts = {label: of_each(of(label), second_half) for label in (CUBIC_ALONE, *PARTS)}
    return [*by_choice, *anova_tables(f"Utilisation from 100 to 200 s, {runs.choices[0]}", "", parts)]


def _numbers(runs: FigureRuns, choice: str) -> TextTable:
    of = runs.of(choice)
    return TextTable(
        f"CUBIC-EBE, {choice}: mean ± half-width of the 95 % interval over {len(of(BOTH))} runs",
        ("variant", *_MEASURES),
        tuple(
            (label, *(cell(of_each(of(label), measure)) for measure in _MEASURES.values()))
            for label in runs.labels(choice)
        ),
    )


def _paired(runs: FigureRuns, choice: str) -> TextTable:
    of = runs.of(choice)

    def number(label: str, measure: Measure) -> str:
        values = _against(of, label, CUBIC_ALONE, measure)
        return f"{values}, p = {values.p_value:.2g}"

    return TextTable(
        f"CUBIC-EBE, {choice}: paired differences from CUBIC with the p value of their t test",
        ("variant", *_MEASURES),
        tuple(
            (label, *(number(label, measure) for measure in _MEASURES.values()))
            for label in runs.labels(choice)
            if label != CUBIC_ALONE
        ),
    )


@styled
def _draw(runs: FigureRuns) -> Picture:
    choice = runs.choices[0]
    labels = [label for label in runs.labels(choice) if label != CUBIC_ALONE]
    of = runs.of(choice)
    picture, axes = panels(3, height_in=3.2, columns=3)
    places = list(range(len(labels)))[::-1]
    for (title, measure, scale, better), panel in zip(
        (
            ("utilisation (points)", second_half, 100.0, 1),
            ("catch-up (s)", catch_up_s, 1.0, -1),
            ("bytes dropped (points)", losses, 100.0, -1),
        ),
        axes,
        strict=True,
    ):
        samples = [_against(of, label, CUBIC_ALONE, measure) for label in labels]
        means = [scale * one.mean for one in samples]
        halves = [scale * (one.interval[1] - one.interval[0]) / 2 for one in samples]
        panel.barh(
            places,
            means,
            0.7,
            xerr=halves,
            color=["#009e73" if better * mean > 0 else "#d55e00" for mean in means],
            error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )
        panel.axvline(0, color="#444444", linewidth=0.8)
        panel.set_yticks(places, labels if panel is axes[0] else [""] * len(labels))
        base = sample(of_each(of(CUBIC_ALONE), measure)).mean
        panel.set_xlabel(f"{title}\nCUBIC {scale * base:.1f}")
    return picture


def _share_of_gain(of: Any, label: str) -> Sample:
    """Return the mean gain of a variant relative to that of both parts."""
    gains = [_against(of, one, CUBIC_ALONE, second_half).values for one in (label, BOTH)]
    return ratio_of_means(*gains)


CUBIC_ABLATION: Final = Figure(
    id="ebe/ablation-cubic",
    ours=True,
    paper="EBE, ablation",
    title="Ablation of CUBIC-EBE: components and strength of probing, compared with CUBIC",
    experiments=_EXPERIMENTS,
    draw=_draw,
    tables=_tables,
    claims=(
        Claim(
            "maintainer-does-the-work",
            "the maintainer causes the gain: without the filter utilisation is the same",
            Between(-0.02, 0.02),
            "utilisation from 100 to 200 s, maintainer only minus both",
            lambda of: _against(of, MAINTAINER_ONLY, BOTH, second_half),
        ),
        Claim(
            "filter-alone",
            "the filter alone reaches at most a third of the gain",
            AtMost(1 / 3),
            "utilisation from 100 to 200 s above CUBIC's, filter only over both; from the means",
            lambda of: _share_of_gain(of, FILTER_ONLY),
            reason=(
                "the filter keeps W_max from falling with each loss, and below W_max CUBIC of 2008 grows as"
                " steeply as its curve, as in Linux"
            ),
        ),
        Claim(
            "filter-helps-alone",
            "the filter alone is above CUBIC",
            Positive(),
            "utilisation from 100 to 200 s, filter only minus CUBIC",
            lambda of: _against(of, FILTER_ONLY, CUBIC_ALONE, second_half),
        ),
        Claim(
            "filter-alone-is-slow",
            "the filter alone does not halve the time to catch up",
            Positive(),
            "catch-up, filter only minus half of CUBIC's",
            lambda of: difference(
                of_each(of(FILTER_ONLY), catch_up_s),
                [one / 2 for one in of_each(of(CUBIC_ALONE), catch_up_s)],
            ),
            unit="s",
        ),
        Claim(
            "price",
            "the cost of the maintainer is losses",
            Positive(),
            "share of bytes dropped from 100 to 200 s, both minus CUBIC",
            lambda of: _against(of, BOTH, CUBIC_ALONE, losses),
        ),
        Claim(
            "price-in-fairness",
            "and fairness",
            Positive(),
            "Jain index of the long flows over the whole run, CUBIC minus both",
            lambda of: _against(of, CUBIC_ALONE, BOTH, jain),
        ),
        Claim(
            "smaller-upsilon",
            "Upsilon = 1.2 drops less than half as much as 2.0",
            Positive(),
            "share of bytes dropped from 100 to 200 s, half of that at 2.0 minus that at 1.2",
            lambda of: difference(
                [one / 2 for one in of_each(of(BOTH), losses)], of_each(of("both, Upsilon 1.2"), losses)
            ),
        ),
        Claim(
            "literal-threshold",
            "with the printed threshold the maintainer is hardly ever active",
            Between(-0.03, 0.03),
            "utilisation from 100 to 200 s, literal threshold minus filter only",
            lambda of: _against(of, "threshold literal", FILTER_ONLY, second_half),
        ),
        Claim(
            "literal-growth",
            "doubling each 200 ms, the literal reading, drops more",
            Positive(),
            "share of bytes dropped from 100 to 200 s, doubling each 200 ms minus default",
            lambda of: _against(of, "x 2 each 200 ms", BOTH, losses),
        ),
    ),
    notes=(
        "The default is filter `recommended`, maintainer with the queueing-delay threshold, Upsilon = 2.0,"
        " one segment more for each acknowledged one while it is on, inactive for one RTT after a loss."
        " “Neither” differs from CUBIC: timeouts keep W_max.",
        "Utilisation, catch-up and drops from 100 to 200 s; the Jain index is of the long flows over the"
        " whole run.",
        DRAWN_RATES,
        TRAFFIC,
        READING,
        CATCH_UP,
        SETTINGS,
        "The figure shows setting O.",
    ),
)


FIGURES = (CUBIC_ABLATION,)
"""The figures of this module."""
