"""VCP-W, figure 5: how local and long flows share the links of the parking lot; and why VCP's share so unequally."""

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.figure import Figure as Picture

from airpath.papers.claim import Claim, Runs
from airpath.papers.drawing import bars, looks_of, panels
from airpath.papers.figure import Figure, FigureRuns
from airpath.papers.rules import AtLeast, Between, Near
from airpath.papers.run_data import RunData
from airpath.papers.sample import Sample, sample
from airpath.papers.vcp_w.paper import (
    AUTHOR,
    GUARDED,
    OBEYING,
    PAPER,
    PROFILE,
    RULES,
    VCP,
    XCP,
    xcp,
)
from airpath.papers.vcp_w.parking_lot import (
    AFTER,
    BEFORE,
    LINKS,
    ONE_HOP,
    PARKING_LOT,
    R3_STARTS_S,
    RULES_NOTE,
    SETTING,
    capped,
    local_to_long,
    long_mbps,
    moved,
    on,
    ratio,
    total_mbps,
)
from airpath.plots.style import legend_above, styled
from airpath.results.formatting import mean_and_half_width
from airpath.statistics import TextTable

REPETITIONS: Final = 10
REPETITIONS_OF_CAUSES: Final = 5
NS2_LIMIT: Final = "limit 1.0 s (ns-2)"
HALF_LIMIT: Final = "limit 0.5 s"
_SHOWN: Final = ("AB", "CD")
_BLUE, _RED = "#0072b2", "#d55e00"


def _draw_of(label: str) -> Any:
    """Return the function that draws the rates on AB and CD in the first run, a row for each choice."""

    @styled
    def draw(runs: FigureRuns) -> Picture:
        picture, axes = panels(2 * len(runs.choices), columns=2)
        rest = iter(axes)
        for choice in runs.choices:
            run = runs.of(choice)(label)[0]
            for link in _SHOWN:
                panel = next(rest)
                time_s, far = run.window_time_s, long_mbps(run)
                panel.plot(time_s, total_mbps(run, link) - far, color=_BLUE, linewidth=0.9, label="local")
                panel.plot(time_s, far, color=_RED, linewidth=0.9, label="long")
                panel.axvline(R3_STARTS_S, color="#999999", linewidth=0.7, linestyle=":")
                panel.set_xlim(0, run.duration_s)
                panel.set_ylim(0, 4.2)
                panel.set_xlabel("time (s)")
                panel.set_ylabel("rate (Mbit/s)")
                legend_above(panel)
                panel.set_title(f"{link}, {choice}", loc="right", fontsize=8)
        return picture

    return draw


def _cell(values: Sequence[float]) -> str:
    one = sample(values)
    low, high = one.interval
    return mean_and_half_width({"mean": one.mean, "ci95_low": low, "ci95_high": high})


def _table_of(label: str) -> Any:
    def tables(runs: FigureRuns) -> list[TextTable]:
        def row(choice: str) -> tuple[str, ...]:
            found = runs.of(choice)(label)
            cells = [
                [local_to_long(run, link, span) for run in found]
                for link, span in (
                    *((link, BEFORE) for link in LINKS if link != "CD"),
                    *((link, AFTER) for link in LINKS),
                )
            ]
            return (choice, *(_cell(one) for one in cells))

        return [
            TextTable(
                "Local over long flows (± half-width of the 95 % interval)",
                (
                    "choice",
                    *(f"{link} before R3" for link in LINKS if link != "CD"),
                    *(f"{link} after" for link in LINKS),
                ),
                tuple(row(choice) for choice in runs.choices),
            )
        ]

    return tables


FIG5A: Final = Figure(
    id="vcp-w/fig5a",
    paper=PAPER,
    title="XCP: local and long flows on the links AB and CD of the parking lot (figures 5(a) and 5(b))",
    experiments={
        NS2_LIMIT: {XCP: on(PARKING_LOT, XCP, REPETITIONS)},
        HALF_LIMIT: {XCP: on(PARKING_LOT, xcp("500ms"), REPETITIONS)},
    },
    draw=_draw_of(XCP),
    tables=_table_of(XCP),
    claims=(
        Claim(
            "two-to-one",
            "local and long flows split each link with a ratio of 2 to 1",
            Near(2.0, 0.2),
            "local over long flows on AB, 500 to 1000 s",
            ratio(XCP, "AB", BEFORE),
        ),
        Claim(
            "five-to-one",
            "when R3 starts the ratio changes to 5 to 1",
            Near(5.0, 0.2),
            "local over long flows on AB from 1250 s on (max-min: 3.33 over 0.67 Mbit/s)",
            ratio(XCP, "AB", AFTER),
        ),
        Claim(
            "five-to-one-de",
            "the same on DE",
            Near(5.0, 0.2),
            "local over long flows on DE from 1250 s on",
            ratio(XCP, "DE", AFTER),
        ),
        Claim(
            "five-to-one-cd",
            "the same on CD, if each link is meant",
            Near(5.0, 0.2),
            "local over long flows on CD from 1250 s on",
            ratio(XCP, "CD", AFTER),
            reason="CD carries 2 Mbit/s for 60 local and 30 long flows: their fair shares are 2 to 1",
        ),
    ),
    notes=(
        "XCP's longest control interval is 1.0 s as in ns-2, less than the long flows' RTT of 2 s; 0.5 s is shown"
        " beside it.",
        SETTING,
        PROFILE,
    ),
)

FIG5C: Final = Figure(
    id="vcp-w/fig5c",
    paper=PAPER,
    title="VCP: local and long flows on the links AB and CD of the parking lot (figures 5(c) and 5(d))",
    experiments={rule: {VCP: on(PARKING_LOT, rule, REPETITIONS)} for rule in RULES},
    draw=_draw_of(VCP),
    tables=_table_of(VCP),
    claims=(
        Claim(
            "starves",
            "VCP exhibits an extremely poor fairness",
            AtLeast(8.0),
            "local over long flows on AB, 500 to 1000 s (fair: 2; poor: four times that)",
            ratio(VCP, "AB", BEFORE),
        ),
        Claim(
            "fifteen-to-one",
            "VCP splits each link with a ratio of 15 to 1",
            Near(15.0, 0.2),
            "local over long flows on AB, 500 to 1000 s",
            ratio(VCP, "AB", BEFORE),
            reason="the number depends on the rule and on how few packets long flows are left with",
        ),
        Claim(
            "fifteen-to-one-after",
            "15 to 1 on AB after R3 started",
            Near(15.0, 0.2),
            "local over long flows on AB from 1250 s on",
            ratio(VCP, "AB", AFTER),
            reason="see above",
        ),
        Claim(
            "fifteen-to-one-cd",
            "15 to 1 on CD",
            Near(15.0, 0.2),
            "local over long flows on CD from 1250 s on",
            ratio(VCP, "CD", AFTER),
        ),
        Claim(
            "unmoved",
            "the ratio does not change when R3 starts",
            Between(0.75, 1.33),
            "local over long flows on AB, after over before",
            moved(VCP, "AB"),
            reason="where the queue is full the long flows lose packets at one more link",
        ),
    ),
    notes=(
        "Each choice is a reading of VCP's sender; no single one gives all of the paper's statements.",
        RULES_NOTE,
        SETTING,
        PROFILE,
    ),
)

_ONE_CAP, _ONE, _FOUR_CAP, _FOUR = (
    f"{links}, {cap}" for links in ("one link", "four links") for cap in ("capped", "not capped")
)
_PLACES: Final = {
    _ONE_CAP: (ONE_HOP, True),
    _ONE: (ONE_HOP, False),
    _FOUR_CAP: (PARKING_LOT, True),
    _FOUR: (PARKING_LOT, False),
}


def _of(label: str) -> Any:
    return ratio(label, "AB", BEFORE)


def _factor(one: str, other: str) -> Any:
    """Return the ratio of one place over that of another, seed by seed."""

    def measure(of: Runs) -> Sample:
        pairs = zip(_of(one)(of).values, _of(other)(of).values, strict=True)
        return sample([first / second for first, second in pairs])

    return measure


def _ab(run: RunData) -> float:
    return local_to_long(run, "AB", BEFORE)


@styled
def _draw_causes(runs: FigureRuns) -> Picture:
    picture, (panel,) = panels(1, height_in=3.2)
    looks = looks_of(tuple(_PLACES))
    values = {}
    for place in _PLACES:
        samples = [sample([_ab(run) for run in runs.of(rule)(place)]) for rule in runs.choices]
        halves = [(one.interval[1] - one.interval[0]) / 2 for one in samples]
        values[place] = ([one.mean for one in samples], halves)
    bars(panel, runs.choices, values, looks, "local over long flows on AB")
    panel.axhline(2.0, color="#444444", linewidth=0.8, linestyle=":")
    return picture


def _table_causes(runs: FigureRuns) -> list[TextTable]:
    return [
        TextTable(
            "Local over long flows on AB, 500 to 1000 s (± half-width of the 95 % interval); fair is 2",
            ("choice", *_PLACES),
            tuple(
                (rule, *(_cell([_ab(run) for run in runs.of(rule)(place)]) for place in _PLACES))
                for rule in runs.choices
            ),
        )
    ]


CAUSES: Final = Figure(
    id="vcp-w/causes",
    paper=PAPER,
    title="Why long flows starve under VCP: caps of scaling and the number of links, one at a time",
    experiments={
        rule: {
            place: on(scenario, capped(rule, cap), REPETITIONS_OF_CAUSES)
            for place, (scenario, cap) in _PLACES.items()
        }
        for rule in (GUARDED, AUTHOR, OBEYING)
    },
    draw=_draw_causes,
    tables=_table_causes,
    claims=(
        Claim(
            "caps",
            "one cause is that scaling stops at 500 ms (ours)",
            AtLeast(1.5),
            "ratio on one link, capped over not capped (a cause: half as much again)",
            _factor(_ONE_CAP, _ONE),
        ),
        Claim(
            "links",
            "one cause is that long flows meet the overload of four links (ours)",
            AtLeast(1.5),
            "ratio on AB with the caps, four links over one",
            _factor(_FOUR_CAP, _ONE_CAP),
        ),
        Claim(
            "links-alone",
            "four links starve long flows without the caps (ours)",
            AtLeast(8.0),
            "ratio on AB with four links, not capped",
            _of(_FOUR),
        ),
        Claim(
            "caps-alone",
            "the caps starve long flows on one link (ours)",
            AtLeast(8.0),
            "ratio on one link, capped",
            _of(_ONE_CAP),
        ),
    ),
    notes=(
        "Ours, to tell two explanations apart. With one link the long flows keep their base RTT of 2.02 s by delay"
        " at their side and meet AB alone. The paper's own explanation, that local flows react more often, holds in"
        " all four places.",
        RULES_NOTE,
        SETTING,
        PROFILE,
    ),
)
