"""SARBE, figure 1: estimates under a load that changes in steps."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import numpy as np

from airpath.statistics import TextTable
from airpath_papers.claim import Claim, Runs
from airpath_papers.estimate_measures import mean_absolute_error, response_s, settling_s, spread, within
from airpath_papers.figure import Figure, FigureRuns
from airpath_papers.measures import Span, of_each
from airpath_papers.rules import AtLeast, AtMost, Positive
from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample, cell, difference, sample
from airpath_papers.sarbe.drawing import estimates_over_time
from airpath_papers.sarbe.paper import (
    DYNAPARA,
    DYNAPARA_TIMED,
    PAPER,
    SARBE,
    STAND_INS,
    TRANSPORT,
    WESTWOOD,
    WHICH_WESTWOOD,
)
from airpath_papers.sarbe.settings import (
    CHOICES,
    ESTIMATORS,
    HOLD_S,
    LOAD_MBPS,
    SETTING,
    STEPS,
    STRETCHES,
    available_mbps,
    estimate,
    experiments,
)
from airpath_papers.settings import title

FROM_S: Final = 5.0
"""Time from which errors are measured: slow start is over."""
VERY_SLOW_S: Final = 5.0
"""Our reading of "very slow": a fifth of the duration of a load."""
RAPID_S: Final = 1.0
"""Our reading of "rapidly": a twenty-fifth of it."""
CLOSE: Final = 0.10
"""Our reading of "closely": the mean absolute error, relative to the available bandwidth."""

Measure = Callable[[RunData, str], float]


def _error(run: RunData, label: str) -> float:
    time_s, values = estimate(run, label)
    span = (FROM_S, run.duration_s)
    return mean_absolute_error(within(time_s, values, span), available_mbps(within(time_s, time_s, span)))


def _spread(run: RunData, label: str) -> float:
    return spread(*estimate(run, label), STRETCHES)


def _response_to(number: int) -> Measure:
    def response(run: RunData, label: str) -> float:
        before, after = STEPS[number]
        return response_s(*estimate(run, label), before, after)

    return response


def _settling_after(number: int) -> Measure:
    def settling(run: RunData, label: str) -> float:
        after: Span = STEPS[number][1]
        level = float(available_mbps(np.array([after[1]]))[0])
        return settling_s(*estimate(run, label), level, after)

    return settling


def _mean_over_steps(of_step: Callable[[int], Measure]) -> Measure:
    return lambda run, label: float(np.nanmean([of_step(number)(run, label) for number in range(len(STEPS))]))


_response, _settling = _mean_over_steps(_response_to), _mean_over_steps(_settling_after)


def _values(of: Runs, label: str, measure: Measure) -> list[float]:
    return of_each(of(label), lambda run: measure(run, label))


def _level(label: str, measure: Measure) -> Callable[[Runs], Sample]:
    return lambda of: sample(_values(of, label, measure))


def _against_sarbe(label: str, measure: Measure) -> Callable[[Runs], Sample]:
    return lambda of: difference(_values(of, label, measure), _values(of, SARBE, measure))


def _steps_won(of: Runs) -> list[float]:
    """Return the number of steps after which SARBE settles sooner than Westwood."""
    pairs = [
        zip(
            _values(of, SARBE, _settling_after(step)),
            _values(of, WESTWOOD, _settling_after(step)),
            strict=True,
        )
        for step in range(len(STEPS))
    ]
    by_step = [[float(sarbe < westwood) for sarbe, westwood in runs] for runs in pairs]
    return [sum(run) for run in zip(*by_step, strict=True)]


def _tables(runs: FigureRuns) -> list[TextTable]:
    return [_table(runs, choice) for choice in runs.choices]


def _table(runs: FigureRuns, choice: str) -> TextTable:
    of = runs.of(choice)

    steps = [f"{one:g} to {other:g}" for one, other in pairwise(LOAD_MBPS)]
    measures = [
        *(_settling_after(number) for number in range(len(STEPS))),
        _settling,
        _response,
        _error,
        _spread,
    ]
    return TextTable(
        f"{choice}: seconds until the estimate stays within 10 % of the available bandwidth, for each step"
        f" of the load (Mbit/s; {HOLD_S:g} means never), and other measures",
        (
            "estimator",
            *steps,
            "mean of steps",
            "90 % of its own way (s)",
            "mean absolute error",
            "spread (Mbit/s)",
        ),
        tuple((title(label), *(cell(_values(of, label, one)) for one in measures)) for label in ESTIMATORS),
    )


_SLOW = (
    "a filter with tau = 1 s covers 90 % of a step in little more than 2 s; if it needs longer to come"
    " within 10 %, it is biased, not slow"
)
_RESPONSE = "seconds until an estimate has covered 90 % of its own way after a step, mean over five steps"

FIG1: Final = Figure(
    id="sarbe/fig1",
    paper=PAPER,
    title="Estimates of the available bandwidth, Westwood, DynaPara and SARBE",
    experiments=experiments("sarbe-steps"),
    draw=lambda runs: estimates_over_time(runs, (WESTWOOD, DYNAPARA, DYNAPARA_TIMED, SARBE)),
    tables=_tables,
    sentences={"westwood-slow": ("westwood-very-slow", "westwood-slower")},
    alternatives={"settles-sooner": ("settles-sooner-mostly",), "dynapara-inaccurate": ("timed-inaccurate",)},
    claims=(
        Claim(
            "westwood-very-slow",
            "Westwood is very slow to obtain changes of the available bandwidth",
            AtLeast(VERY_SLOW_S),
            f"{_RESPONSE}, Westwood",
            _level(WESTWOOD, _response),
            unit="s",
            reason=_SLOW,
        ),
        Claim(
            "westwood-slower",
            "Westwood is slower than SARBE",
            Positive(),
            f"{_RESPONSE}, Westwood minus SARBE",
            _against_sarbe(WESTWOOD, _response),
            unit="s",
        ),
        Claim(
            "settles-sooner",
            "SARBE reaches persistent changes sooner than Westwood",
            Positive(),
            "seconds until the estimate stays within 10 % of the available bandwidth, mean over five steps,"
            " Westwood minus SARBE",
            _against_sarbe(WESTWOOD, _settling),
            unit="s",
            reason="if most packets belong to the load, samples scatter and SARBE leaves the 10 % again",
        ),
        Claim(
            "settles-sooner-mostly",
            "the same, step by step",
            AtLeast(3),
            "number of steps, of five, after which SARBE is within 10 % sooner than Westwood",
            lambda of: sample(_steps_won(of)),
            unit="steps",
        ),
        Claim(
            "dynapara-fluctuates",
            "DynaPara's estimate fluctuates where SARBE's does not",
            Positive(),
            "standard deviation over time while the load holds, DynaPara-like minus SARBE",
            _against_sarbe(DYNAPARA, _spread),
            unit="Mbit/s",
            reason="the stand-in smooths at least as much as SARBE's filter of steady noise",
        ),
        Claim(
            "dynapara-inaccurate",
            "DynaPara is inaccurate when the load occupies the bottleneck",
            Positive(),
            "mean absolute error, DynaPara-like minus SARBE, share of the available bandwidth",
            _against_sarbe(DYNAPARA, _error),
        ),
        Claim(
            "timed-inaccurate",
            "the same with the timed stand-in for DynaPara",
            Positive(),
            "mean absolute error, DynaPara-like, timed, minus SARBE, share of the available bandwidth",
            _against_sarbe(DYNAPARA_TIMED, _error),
            reason="averaged over an RTT it is the most accurate here",
        ),
        Claim(
            "sarbe-rapid",
            "SARBE reaches persistent changes rapidly",
            AtMost(RAPID_S),
            f"{_RESPONSE}, SARBE",
            _level(SARBE, _response),
            unit="s",
        ),
        Claim(
            "sarbe-close",
            "SARBE closely follows the available bandwidth",
            AtMost(CLOSE),
            "mean absolute error of SARBE, share of the available bandwidth",
            _level(SARBE, _error),
            reason="packets of FTP and load alternate, and the mean of fine samples exceeds data over time",
        ),
    ),
    notes=(SETTING, CHOICES, TRANSPORT, WHICH_WESTWOOD, STAND_INS),
)
