"""SARBE, figure 2: estimates while reverse traffic compresses the acknowledgments."""

from collections.abc import Callable
from typing import Final

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.estimate_measures import spread, within
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, of_each
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import cell, difference, sample
from airpath_papers.sarbe.drawing import estimates_over_time
from airpath_papers.sarbe.paper import (
    DYNAPARA,
    DYNAPARA_TIMED,
    PAPER,
    RENO,
    SARBE,
    STAND_INS,
    TRANSPORT,
    WESTWOOD,
    WHICH_WESTWOOD,
    of_the_era,
)
from airpath_papers.sarbe.settings import (
    CHOICES,
    ESTIMATORS,
    SETTING,
    STRETCHES,
    available_mbps,
    estimate,
    experiments,
)
from airpath_papers.settings import title

REVERSE: Final[Span] = (35.0, 120.0)
"""The reverse FTP sends from 30 to 120 s; its slow start is left out."""
NEAR_MBPS: Final = 1.0
"""Our reading of "quite near": half of the excess that the paper reports for Westwood."""
MANY_TIMES: Final = 3.0
"""Our reading of "many times"."""

_STRETCHES = tuple(
    (max(start, REVERSE[0]), min(end, REVERSE[1]))
    for start, end in STRETCHES
    if start < REVERSE[1] and end > REVERSE[0]
)


def _mean(run: RunData, label: str) -> float:
    return float(within(*estimate(run, label), REVERSE).mean())


def _available(run: RunData) -> float:
    time_s, _ = estimate(run, SARBE)
    return float(available_mbps(within(time_s, time_s, REVERSE)).mean())


def _spread(run: RunData, label: str) -> float:
    return spread(*estimate(run, label), _STRETCHES)


def _values(of: Runs, label: str, measure: Callable[[RunData, str], float] = _mean) -> list[float]:
    return of_each(of(label), lambda run: measure(run, label))


def _times_sarbe(of: Runs, label: str) -> list[float]:
    return [one / other for one, other in zip(_values(of, label), _values(of, SARBE), strict=True)]


def _table(runs: FigureRuns) -> list[TextTable]:
    available = _available(runs.of(runs.choices[0])(SARBE)[0])
    return [
        TextTable(
            "Mean estimate from 35 to 120 s in Mbit/s (± half-width of the 95 % interval); available are"
            f" {available:.2f} Mbit/s",
            ("estimator", *runs.choices),
            tuple(
                (title(label), *(cell(_values(runs.of(choice), label)) for choice in runs.choices))
                for label in ESTIMATORS
            ),
        )
    ]


_EXPERIMENTS = experiments("sarbe-compression", {"flows.1.scheme": of_the_era(RENO)})
_NOTES = (
    SETTING,
    "The reverse FTP is NewReno; the load is that of figure 1.",
    CHOICES,
    TRANSPORT,
    WHICH_WESTWOOD,
    STAND_INS,
)

FIG2A: Final = Figure(
    id="sarbe/fig2a",
    paper=PAPER,
    title="Estimates under acknowledgment compression, Westwood and SARBE",
    experiments=_EXPERIMENTS,
    draw=lambda runs: estimates_over_time(runs, (WESTWOOD, SARBE)),
    tables=_table,
    claims=(
        Claim(
            "westwood-high",
            "Westwood estimates over 2 Mbit/s more than SARBE",
            AtLeast(2),
            "mean estimate under reverse traffic, Westwood minus SARBE",
            lambda of: difference(_values(of, WESTWOOD), _values(of, SARBE)),
            unit="Mbit/s",
        ),
        Claim(
            "sarbe-near",
            "SARBE is quite near the available bandwidth",
            AtMost(NEAR_MBPS),
            "mean estimate under reverse traffic, absolute difference of SARBE and available",
            lambda of: sample(of_each(of(SARBE), lambda run: abs(_mean(run, SARBE) - _available(run)))),
            unit="Mbit/s",
            reason="bursts of FTP packets between those of the load raise the mean of fine samples",
        ),
    ),
    notes=_NOTES,
)

FIG2B: Final = Figure(
    id="sarbe/fig2b",
    paper=PAPER,
    title="Estimates under acknowledgment compression, DynaPara and SARBE",
    experiments=_EXPERIMENTS,
    draw=lambda runs: estimates_over_time(runs, (DYNAPARA, DYNAPARA_TIMED, SARBE)),
    tables=_table,
    alternatives={"many-times": ("timed-many-times",)},
    claims=(
        Claim(
            "many-times",
            "DynaPara's estimates are many times more than SARBE's",
            AtLeast(MANY_TIMES),
            "mean estimate under reverse traffic, DynaPara-like over SARBE",
            lambda of: sample(_times_sarbe(of, DYNAPARA)),
        ),
        Claim(
            "timed-many-times",
            "the same with the timed stand-in for DynaPara",
            AtLeast(MANY_TIMES),
            "mean estimate under reverse traffic, DynaPara-like, timed, over SARBE",
            lambda of: sample(_times_sarbe(of, DYNAPARA_TIMED)),
            reason=(
                "a coefficient over an RTT gives samples of no length hardly any weight: the stand-in is"
                " anti-aliased"
            ),
        ),
        Claim(
            "fluctuates",
            "DynaPara's estimates fluctuate",
            Positive(),
            "standard deviation over time while the load holds, DynaPara-like minus SARBE",
            lambda of: difference(_values(of, DYNAPARA, _spread), _values(of, SARBE, _spread)),
            unit="Mbit/s",
        ),
    ),
    notes=_NOTES,
)
