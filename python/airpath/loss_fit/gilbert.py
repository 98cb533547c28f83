"""Gilbert's chain by maximum likelihood: packets are lost in the bad state, and only there.

The states are therefore observed, and the likelihood depends only on the number of transitions between each
pair of states. Given the first state, p and q have the likelihoods of two independent proportions.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from airpath.loss_fit.intervals import Estimate, inverse, proportion, share

LEAST_EXPECTED = 5.0
"""Smallest expected number of bursts in each cell of the chi-square test."""


@dataclass(frozen=True, slots=True)
class Transitions:
    """Transition counts between neighbouring packets: good (arrived) or bad (lost)."""

    good_good: int
    good_bad: int
    bad_good: int
    bad_bad: int

    @classmethod
    def of(cls, lost: npt.NDArray[np.bool_]) -> "Transitions":
        """Count the transitions of a sequence."""
        first, second = lost[:-1], lost[1:]
        return cls(
            int((~first & ~second).sum()),
            int((~first & second).sum()),
            int((first & ~second).sum()),
            int((first & second).sum()),
        )

    @classmethod
    def of_runs(cls, packets: int, runs: Mapping[int, int]) -> "Transitions":
        """Count the transitions of packets with these loss runs (number by length), none at an end."""
        bursts = sum(runs.values())
        within = sum((length - 1) * count for length, count in runs.items())
        return cls(packets - 1 - 2 * bursts - within, bursts, bursts, within)


@dataclass(frozen=True, slots=True)
class Gilbert:
    """The chain.

    Attributes
    ----------
    leave_good, leave_bad
        p and q: the probabilities of leaving the good and the bad state with a step.
    mean_loss
        p / (p + q).
    mean_burst
        1 / q, in steps.
    log_likelihood
        Log-likelihood of the sequence, given its first state.
    """

    leave_good: Estimate
    leave_bad: Estimate
    mean_loss: Estimate
    mean_burst: Estimate
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class Test:
    """A goodness-of-fit test: statistic, degrees of freedom, p value."""

    statistic: float
    freedom: int
    p: float


def fit_gilbert(seen: Transitions, confidence: float) -> Gilbert:
    """Fit the chain to transitions; each state must be left at least once."""
    good, bad = seen.good_good + seen.good_bad, seen.bad_good + seen.bad_bad
    p, q = proportion(seen.good_bad, good, confidence), proportion(seen.bad_good, bad, confidence)
    log_likelihood = _binomial(seen.good_bad, good) + _binomial(seen.bad_good, bad)
    return Gilbert(p, q, share(p, q), inverse(q), log_likelihood)


def against_independence(seen: Transitions, chain: Gilbert) -> Test:
    """Test whether losses are dependent: likelihood ratio of the chain to independent losses."""
    lost = seen.good_bad + seen.bad_bad
    independent = _binomial(lost, lost + seen.good_good + seen.bad_good)
    statistic = max(2 * (chain.log_likelihood - independent), 0.0)
    return Test(statistic, 1, float(stats.chi2.sf(statistic, 1)))


def burst_lengths(runs: Mapping[int, int], beyond: Callable[[int], float], parameters: int) -> Test | None:
    """Test burst lengths against a distribution by chi-square; `None` if there are too few bursts.

    Parameters
    ----------
    runs
        Number of bursts of each length.
    beyond
        P(length > n).
    parameters
        Number of parameters of the distribution that were estimated from these bursts.
    """
    lengths = np.array(sorted(runs))
    counts = np.array([runs[int(length)] for length in lengths], dtype=np.float64)
    total = float(counts.sum())
    statistic, cells, first = 0.0, 0, 1
    while True:
        last = first
        while (
            total * (beyond(first - 1) - beyond(last)) < LEAST_EXPECTED
            and total * beyond(last) >= LEAST_EXPECTED
        ):
            last += 1
        final = total * beyond(last) < LEAST_EXPECTED
        expected = total * (beyond(first - 1) - (0.0 if final else beyond(last)))
        inside = (lengths >= first) & ((lengths <= last) | final)
        if expected > 0:
            statistic += (float(counts[inside].sum()) - expected) ** 2 / expected
            cells += 1
        if final:
            break
        first = last + 1
    freedom = cells - 1 - parameters
    return Test(statistic, freedom, float(stats.chi2.sf(statistic, freedom))) if freedom > 0 else None


def geometric(leave: float) -> Callable[[int], float]:
    """Return P(length > n) of bursts that end with probability `leave` after each step."""
    return lambda n: math.pow(1 - leave, n)


def _binomial(count: int, trials: int) -> float:
    """Return the largest log-likelihood of `count` in `trials` in a given order."""
    return float(special.xlogy(count, count / trials) + special.xlogy(trials - count, 1 - count / trials))
