"""Measure how often intervals contain the true mean if runs are added until the precision suffices.

The tables of `docs/lab-notes/statistics.md`: values of known distributions, and runs of airpath sampled
with replacement from many. Deterministic; takes about three minutes on two processors.
`precision_coverage.py [RUNS]`
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

import airpath
from airpath.precision import PrecisionRule

TRIALS: Final = 20_000
RUNS: Final = 400
"""Runs of each link; their mean is taken as the true one."""
SHARES: Final = (0.02, 0.05)
LEAST: Final = (10, 30, 50)
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

DISTRIBUTIONS: Final[Mapping[str, tuple[Draw, float]]] = {
    "normal, sd 5 % of the mean": (lambda draw, size: 1 + 0.05 * draw.standard_normal(size), 1.0),
    "normal, sd 10 %": (lambda draw, size: 1 + 0.1 * draw.standard_normal(size), 1.0),
    "1 less exponential of mean 0.1": (lambda draw, size: 1 - 0.1 * draw.standard_exponential(size), 0.9),
    "1 and exponential of mean 0.1": (lambda draw, size: 1 + 0.1 * draw.standard_exponential(size), 1.1),
    "1 and log-normal of parameter 1, sd 10 %": (
        lambda draw, size: 1 + 0.05 * draw.lognormal(0.0, 1.0, size),
        1 + 0.05 * float(np.exp(0.5)),
    ),
    "1, but 0.7 in one run of 10": (
        lambda draw, size: (
            1 + 0.005 * draw.standard_normal(size) - np.where(draw.random(size) < 0.1, 0.3, 0.0)
        ),
        0.97,
    ),
}
"""Random samples, and their true mean."""
LINKS: Final[Mapping[str, tuple[list[str], str, str]]] = {
    "`lte.down`, 10 s": (["newreno", "cubic"], "lte.down", "10s"),
    "`ebe.random`, 30 s": (["cubic"], "ebe.random", "30s"),
}
METRICS: Final = ("goodput_mbps", "delay_p95_ms")


@dataclass(frozen=True, slots=True)
class Coverage:
    """The results of many trials.

    Attributes
    ----------
    at_the_end
        Fraction of trials whose last interval contains the true mean.
    at_every_look
        Fraction of trials in which all intervals do, including those after the end.
    repetitions
        Number of repetitions of each trial.
    reached
        Fraction of trials that reached the precision.
    """

    at_the_end: float
    at_every_look: float
    repetitions: np.ndarray
    reached: float


def coverage(values: np.ndarray, mean: float, rule: PrecisionRule, level: float | None = None) -> Coverage:
    """Apply a rule to one scheme in many trials.

    Parameters
    ----------
    values
        A row for each trial, a column for each possible repetition.
    mean
        The true mean.
    rule
        The rule that ends the repetitions.
    level
        One minus the confidence of each interval; that of the rule by default.
    """
    level = rule.level if level is None else level
    trials = len(values)
    done, held, reached = (np.zeros(trials, dtype=bool) for _ in range(3))
    always = np.ones(trials, dtype=bool)
    repetitions = np.zeros(trials, dtype=np.int64)
    for look in rule.looks:
        seen = values[:, :look]
        means = seen.mean(axis=1)
        half = stdtrit(look - 1, 1 - level / 2) * seen.std(axis=1, ddof=1) / np.sqrt(look)
        holds = np.abs(means - mean) <= half
        always &= holds
        enough = half <= rule.precision * np.abs(means) if rule.precision else np.abs(means) > half
        ends = ~done & (enough | (look == rule.max_repetitions))
        held[ends], reached[ends], repetitions[ends] = holds[ends], enough[ends], look
        done |= ends
    return Coverage(float(held.mean()), float(always.mean()), repetitions, float(reached.mean()))


def false_alarms(draw: np.random.Generator, rule: PrecisionRule, level: float | None = None) -> float:
    """Return how often a difference of zero is found significant at some look; values are normal."""
    values = draw.standard_normal((TRIALS, rule.max_repetitions))
    return 1.0 - coverage(values, 0.0, rule, level).at_every_look


def main(runs: int) -> None:
    """Print the tables of the page."""
    head = (
        "| values | precision | 95 % at each look: held | runs | repeated intervals: held | runs | reached |"
    )
    _say(f"{head}\n|---|---|---|---|---|---|---|")
    for name, (draw, mean) in DISTRIBUTIONS.items():
        values = draw(np.random.default_rng(1), (TRIALS, 100))
        _rows(name, values, mean)
    for name, (schemes, link, duration) in LINKS.items():
        results = airpath.compare(schemes, link, duration=duration, repetitions=runs)
        for scheme in schemes:
            of_scheme = results.summary.filter(
                np.array([one == scheme for one in results.summary["scheme"].to_pylist()])
            )
            for metric in METRICS:
                measured = of_scheme[metric].to_numpy()
                values = np.random.default_rng(1).choice(measured, (TRIALS, 100))
                away = (measured - measured.mean()) / measured.std()
                about = f"sd {100 * measured.std() / measured.mean():.1f} %, skewness {(away**3).mean():.1f}"
                _rows(f"{name}, {scheme}: {metric}, {about}", values, float(measured.mean()))
    _say(
        "\n| values, precision 5 % | at least 10: held | runs | at least 30: held | runs | 50: held | runs |"
    )
    _say("|---|---|---|---|---|---|---|")
    for name, (draw, mean) in DISTRIBUTIONS.items():
        values = draw(np.random.default_rng(1), (TRIALS, 100))
        found = [coverage(values, mean, PrecisionRule(0.05, min_repetitions=least)) for least in LEAST]
        cells = [f"{one.at_the_end:.3f} | {one.repetitions.mean():.0f}" for one in found]
        _say(f"| {name} | {' | '.join(cells)} |")
    rule = PrecisionRule(0.02)
    told = [false_alarms(np.random.default_rng(1), rule, level) for level in (0.05, None)]
    _say(f"\na difference of zero is found significant at some look: {told[0]:.3f} and {told[1]:.3f}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _rows(name: str, values: np.ndarray, mean: float) -> None:
    for share in SHARES:
        rule = PrecisionRule(share)
        usual, repeated = coverage(values, mean, rule, 0.05), coverage(values, mean, rule)
        _say(
            f"| {name} | {100 * share:g} % | {usual.at_the_end:.3f} | {usual.repetitions.mean():.0f}"
            f" | {repeated.at_the_end:.3f} | {repeated.repetitions.mean():.0f} | {repeated.reached:.2f} |"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
