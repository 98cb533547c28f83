"""EBE-J, figures 11 and 12 and section IV-C: 30 runs of each scheme, analysis of variance, Tukey's test."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.plots.style import styled
from airpath.statistics import TextTable
from airpath_papers.anova_tables import anova_tables, tukey_p
from airpath_papers.claim import Claim
from airpath_papers.drawing import bars, looks_of, panels
from airpath_papers.ebe_j.choices import (
    DATA_SHARE,
    LONGER_TIMEOUT,
    NO_HALVING,
    TODAYS_SENDER,
    data_share,
    longer_timeout,
    no_halving,
    todays_sender,
)
from airpath_papers.ebe_j.paper import (
    FIXED_SCHEDULE,
    LATE_REACTION,
    PAPER,
    SETTINGS,
    TIMEOUTS,
    TRAFFIC,
    TWO_WAY_LIMIT,
)
from airpath_papers.experiment import Experiment
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import jain, of_each, throughput_mbps
from airpath_papers.rules import AtMost, Near, NotSignificant, Positive, Rule
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, deviation, difference, least, sample
from airpath_papers.settings import (
    ALL_SETTINGS,
    ONE_WAY,
    TWO_WAY,
    VCP_SCHEMES,
    WIDE_REVERSE,
    XCP_SCHEMES,
    dumbbell,
    readings,
    shipped,
    title,
    with_options,
)

REPETITIONS: Final = 30

PAPER_MBPS: Final = {"xcp": 7.3841, "xcp-b": 9.8928, "xcp-ebe": 10.0025}
"""Figure 11: mean throughput in Mbit/s."""
PAPER_JAIN: Final = {"xcp": 0.97371, "xcp-b": 0.99588, "xcp-ebe": 0.99480}
"""Figure 12: mean Jain index."""

RANDOM_T: Final = "T, random rates"
RANDOM_O: Final = "O, random rates"


def _random(setting: str, scheme: str) -> Experiment:
    return shipped(f"ebe-dumbbell-random-{setting.lower()}", scheme, REPETITIONS)


_XCP = {
    setting: {scheme: dumbbell(setting, scheme, REPETITIONS) for scheme in XCP_SCHEMES}
    for setting in ALL_SETTINGS
} | {
    LONGER_TIMEOUT: longer_timeout(REPETITIONS),
    TODAYS_SENDER: todays_sender(REPETITIONS),
    NO_HALVING: no_halving(REPETITIONS),
    DATA_SHARE: data_share(REPETITIONS),
    RANDOM_T: {scheme: _random(TWO_WAY, scheme) for scheme in XCP_SCHEMES},
    RANDOM_O: {scheme: _random(ONE_WAY, scheme) for scheme in XCP_SCHEMES},
}
_VCP = (
    {
        setting: {scheme: dumbbell(setting, scheme, REPETITIONS) for scheme in VCP_SCHEMES}
        for setting in ALL_SETTINGS
    }
    | {
        f"{setting}, unscaled": {
            scheme: dumbbell(setting, with_options(scheme, rtt_scaling="unscaled"), REPETITIONS)
            for scheme in VCP_SCHEMES
        }
        for setting in (WIDE_REVERSE, TWO_WAY)
    }
    | {
        RANDOM_T: {scheme: _random(TWO_WAY, scheme) for scheme in VCP_SCHEMES},
        RANDOM_O: {scheme: _random(ONE_WAY, scheme) for scheme in VCP_SCHEMES},
    }
)

Measure = Callable[[RunData], float]


def _tukey(of: Any, schemes: Sequence[str], one: str, other: str, measure: Measure) -> Sample:
    """Return `one` minus `other` with the p value of Tukey's test among `schemes`, as the paper tests it.

    The interval is that of the paired differences, which is narrower.
    """
    groups = {scheme: of_each(of(scheme), measure) for scheme in schemes}
    return Sample(difference(groups[one], groups[other]).values, tukey_p(groups, one, other))


def _above(
    one: str, other: str, statement: str, measure: Measure, what: str, rule: Rule | None = None, **more: Any
) -> Claim:
    return Claim(
        f"{one}-against-{other}",
        statement,
        rule or Positive(),
        f"{what}, {title(one)} minus {title(other)}; p by Tukey's test",
        lambda of: _tukey(of, XCP_SCHEMES, one, other, measure),
        **more,
    )


def _level(
    scheme: str, published: Mapping[str, float], measure: Measure, what: str, relative: float, **more: Any
) -> Claim:
    return Claim(
        f"{scheme}-level",
        f"{title(scheme)}: a mean of {published[scheme]:g}",
        Near(published[scheme], relative),
        f"{what}, {title(scheme)}",
        lambda of: sample(of_each(of(scheme), measure)),
        **more,
    )


def _spread(scheme: str) -> Claim:
    return Claim(
        f"{scheme}-spread",
        f"{title(scheme)}: a standard deviation of 0.03 over 30 runs",
        AtMost(0.1),
        f"standard deviation of the throughput of {title(scheme)} over runs",
        lambda of: deviation(of_each(of(scheme), throughput_mbps)),
        unit="Mbit/s",
        choices=(*ALL_SETTINGS, LONGER_TIMEOUT, TODAYS_SENDER, RANDOM_T, RANDOM_O),
    )


def _tables_of(
    schemes: Sequence[str], measures: Mapping[tuple[str, str], Measure]
) -> Callable[[FigureRuns], list[TextTable]]:
    def tables(runs: FigureRuns) -> list[TextTable]:
        return [
            table
            for choice in runs.choices
            for (what, unit), measure in measures.items()
            for table in anova_tables(
                f"{what}, {choice}",
                unit,
                {scheme: of_each(runs.of(choice)(scheme), measure) for scheme in schemes},
            )
        ]

    return tables


def _bars_of(schemes: Sequence[str], measure: Measure, ylabel: str, published: Mapping[str, float]) -> Any:
    """Return the function that plots the means of each choice together with the published values."""

    @styled
    def draw(runs: FigureRuns) -> Picture:
        picture, (axes,) = panels(1, height_in=2.6)
        looks = looks_of(schemes)
        values = {}
        for scheme in schemes:
            samples = [sample(of_each(runs.of(choice)(scheme), measure)) for choice in runs.choices]
            values[scheme] = (
                [one.mean for one in samples],
                [(one.interval[1] - one.interval[0]) / 2 for one in samples],
            )
        bars(axes, runs.choices, values, looks, ylabel)
        for scheme, number in published.items():
            axes.axhline(number, color=looks[scheme].colour, linewidth=0.8, linestyle="--")
        if measure is jain:
            lowest = min(
                mean - half
                for means, halves in values.values()
                for mean, half in zip(means, halves, strict=True)
            )
            axes.set_ylim(min(lowest, 0.96) - 0.01, 1.0)
        return picture

    return draw


_UNWRITTEN: Final = (
    "in L two fifths of the bytes are acknowledgments of the reverse flows, and the negative feedback shared"
    " to them is written on no packet, as in ns-2: the link settles above the configured capacity. Shared by"
    " the bytes of data packets only (“L, data share”), the mean is 7.49"
)
_MEAN: Final = "mean throughput (all departures from the bottleneck)"
_JAIN: Final = "Jain index of the long flows over the whole run"
_NOTES: Final = (
    FIXED_SCHEDULE,
    TRAFFIC,
    SETTINGS,
    TIMEOUTS,
    LATE_REACTION,
    "“Random rates”: each run samples its own rates, the literal reading of the text.",
    "Dashed: the numbers of the paper, if any.",
)

FIG11: Final = Figure(
    id="ebe-j/fig11",
    paper=PAPER,
    title="Analysis of variance of XCP's bandwidth utilisation",
    experiments=_XCP,
    readings=readings(_XCP),
    sentences={
        "spread": [f"{scheme}-spread" for scheme in XCP_SCHEMES],
        "differ": ("xcp-b-against-xcp", "xcp-ebe-against-xcp", "xcp-ebe-against-xcp-b"),
    },
    draw=_bars_of(XCP_SCHEMES, throughput_mbps, "throughput (Mbit/s)", PAPER_MBPS),
    tables=_tables_of(XCP_SCHEMES, {("Bandwidth Utilisation", "Mbit/s"): throughput_mbps}),
    claims=(
        *(
            _level(
                scheme,
                PAPER_MBPS,
                throughput_mbps,
                _MEAN,
                0.05,
                unit="Mbit/s",
                choices=(*ALL_SETTINGS, LONGER_TIMEOUT, TODAYS_SENDER, NO_HALVING, DATA_SHARE),
                reason=reason,
            )
            for scheme, reason in (("xcp", _UNWRITTEN), ("xcp-b", TWO_WAY_LIMIT), ("xcp-ebe", TWO_WAY_LIMIT))
        ),
        *(_spread(scheme) for scheme in XCP_SCHEMES),
        _above("xcp-b", "xcp", "XCP-b is significantly above XCP", throughput_mbps, _MEAN, unit="Mbit/s"),
        _above("xcp-ebe", "xcp", "XCP-EBE is significantly above XCP", throughput_mbps, _MEAN, unit="Mbit/s"),
        _above(
            "xcp-ebe", "xcp-b", "XCP-EBE is significantly above XCP-b", throughput_mbps, _MEAN, unit="Mbit/s"
        ),
    ),
    notes=_NOTES,
)

FIG12: Final = Figure(
    id="ebe-j/fig12",
    paper=PAPER,
    title="Analysis of variance of XCP's fairness",
    experiments=_XCP,
    readings=readings(_XCP),
    sentences={"fairer": ("xcp-b-against-xcp", "xcp-ebe-against-xcp")},
    alternatives={"xcp-level": ("xcp-lowest",)},
    draw=_bars_of(XCP_SCHEMES, jain, "Jain index", PAPER_JAIN),
    tables=_tables_of(XCP_SCHEMES, {("Jain Fairness Index", ""): jain}),
    claims=(
        *(
            _level(
                scheme,
                PAPER_JAIN,
                jain,
                _JAIN,
                0.01,
                choices=(*ALL_SETTINGS, LONGER_TIMEOUT, TODAYS_SENDER, NO_HALVING, DATA_SHARE),
                reason=reason,
            )
            for scheme, reason in (
                (
                    "xcp",
                    "in O and L single runs are as unfair, in T none of 30 (minimum .979); with random"
                    " rates the mean is below the paper's number in T (.956), but not in O",
                ),
                ("xcp-b", ""),
                ("xcp-ebe", ""),
            )
        ),
        Claim(
            "xcp-lowest",
            f"XCP: as low as {PAPER_JAIN['xcp']:g}",
            AtMost(PAPER_JAIN["xcp"]),
            f"{_JAIN}, XCP, the least fair of the runs",
            lambda of: least(of_each(of("xcp"), jain)),
            choices=(*ALL_SETTINGS, NO_HALVING),
        ),
        _above("xcp-b", "xcp", "XCP-b is significantly fairer than XCP", jain, _JAIN),
        _above("xcp-ebe", "xcp", "XCP-EBE is significantly fairer than XCP", jain, _JAIN),
        _above(
            "xcp-b",
            "xcp-ebe",
            "XCP-b and XCP-EBE do not differ significantly (p = 0.237)",
            jain,
            _JAIN,
            NotSignificant(),
            reason="in T, with saturating two-way traffic XCP-EBE's limit cycle reduces its fairness",
        ),
    ),
    notes=_NOTES,
)

VCP_ANOVA: Final = Figure(
    id="ebe-j/anova-vcp",
    paper=PAPER,
    title="Section IV-C: analysis of variance for VCP and VCP-EBE; the paper gives no numbers",
    experiments=_VCP,
    readings=readings(_VCP),
    sentences={"better": ("throughput", "fairness")},
    draw=_bars_of(VCP_SCHEMES, throughput_mbps, "throughput (Mbit/s)", {}),
    tables=_tables_of(
        VCP_SCHEMES, {("Bandwidth Utilisation", "Mbit/s"): throughput_mbps, ("Jain Fairness Index", ""): jain}
    ),
    claims=(
        Claim(
            "throughput",
            "VCP-EBE is significantly above VCP in utilisation",
            Positive(),
            f"{_MEAN}, VCP-EBE minus VCP",
            lambda of: difference(
                of_each(of("vcp-ebe"), throughput_mbps), of_each(of("vcp"), throughput_mbps)
            ),
            unit="Mbit/s",
        ),
        Claim(
            "fairness",
            "VCP-EBE is significantly above VCP in fairness",
            Positive(),
            f"{_JAIN}, VCP-EBE minus VCP",
            lambda of: difference(of_each(of("vcp-ebe"), jain), of_each(of("vcp"), jain)),
        ),
    ),
    notes=_NOTES,
)
