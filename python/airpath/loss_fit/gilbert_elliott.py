"""Gilbert and Elliott's chain by maximum likelihood: losses in both states, which are hidden.

The likelihood is a product of two-by-two matrices, one for each packet. A run of equal packets is a power of
one matrix, and neighbouring powers are multiplied in pairs. An evaluation therefore costs as many steps as
there are runs, and works on whole arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from airpath.loss_fit.intervals import Estimate

Numbers = npt.NDArray[np.float64]

LOGITS = (-16.0, 12.0)
"""Search bounds of probabilities, as log(x / (1 - x)): the search cannot begin or end at 0 or 1."""


@dataclass(frozen=True, slots=True)
class GilbertElliott:
    """The chain.

    Attributes
    ----------
    leave_good, leave_bad
        p and q: the probabilities of leaving the good and the bad state with a step.
    loss_good, loss_bad
        The probabilities of losing a packet in each state.
    log_likelihood
        Log-likelihood of the sequence, with a stationary first state.
    """

    leave_good: Estimate
    leave_bad: Estimate
    loss_good: Estimate
    loss_bad: Estimate
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class Runs:
    """A sequence of losses as runs of equal ones.

    Attributes
    ----------
    lengths, lost
        Length of each run, and whether its packets were lost.
    distinct, place
        The distinct lengths, ascending, and the index of each run's length among them.
    """

    lengths: npt.NDArray[np.int64]
    lost: npt.NDArray[np.bool_]
    distinct: npt.NDArray[np.int64]
    place: npt.NDArray[np.intp]

    @classmethod
    def of(cls, lost: npt.NDArray[np.bool_]) -> "Runs":
        """Return the runs of a sequence."""
        ends = np.flatnonzero(np.append(lost[1:] != lost[:-1], True))
        lengths = np.diff(ends, prepend=-1)
        distinct, place = np.unique(lengths, return_inverse=True)
        return cls(lengths, lost[ends], distinct, place)


def fit_gilbert_elliott(
    runs: Runs, starts: list[tuple[float, ...]], confidence: float
) -> GilbertElliott | None:
    """Fit all four probabilities; `None` if the sequence does not determine them.

    Intervals are normal on the scale of log(x / (1 - x)), with the curvature of the likelihood there
    (observed information).

    Parameters
    ----------
    runs
        The sequence.
    starts
        Starting points of the search: p, q, loss in the good state, loss in the bad state.
    confidence
        Confidence of the intervals.
    """

    def cost(point: Numbers) -> float:
        return -log_likelihood(runs, *_logistic(point))

    found = [
        optimize.minimize(cost, _logits(start), method="L-BFGS-B", bounds=[LOGITS] * 4) for start in starts
    ]
    best = min(found, key=lambda one: float(one.fun))
    deviation = deviations(cost, best.x)
    if deviation is None:
        return None
    half = stats.norm.isf((1 - confidence) / 2) * deviation
    values, lows, highs = _logistic(best.x), _logistic(best.x - half), _logistic(best.x + half)
    p, q, good, bad = (Estimate(float(values[k]), float(lows[k]), float(highs[k])) for k in range(4))
    if good.value > bad.value:
        p, q, good, bad = q, p, bad, good
    return GilbertElliott(p, q, good, bad, -float(best.fun))


def log_likelihood(runs: Runs, p: float, q: float, loss_good: float, loss_bad: float) -> float:
    """Return the log-likelihood of a sequence under a chain that begins in its stationary distribution.

    One step is a transition, then a loss with the probability of the new state.
    """
    steps = np.array([[1 - p, p], [q, 1 - q]])
    loss = np.array([loss_good, loss_bad])
    arrived = _powers(steps * (1 - loss), runs.distinct)
    lost = _powers(steps * loss, runs.distinct)
    matrices = np.where(runs.lost, lost[0][..., runs.place], arrived[0][..., runs.place])
    logarithm = float(np.where(runs.lost, lost[1][runs.place], arrived[1][runs.place]).sum())
    while (count := matrices.shape[-1]) > 1:
        if count % 2:
            matrices = np.concatenate([matrices, np.eye(2)[..., np.newaxis]], axis=-1)
        matrices, scale = _scaled(_product(matrices[..., 0::2], matrices[..., 1::2]))
        logarithm += float(scale.sum())
    start = np.array([q, p]) / (p + q)
    return logarithm + float(np.log(max((start @ matrices[..., 0]).sum(), 1e-300)))


def run_lengths(chain: GilbertElliott) -> Callable[[int], float]:
    """Return P(length > n) of the chain's bursts of losses."""
    p, q = chain.leave_good.value, chain.leave_bad.value
    steps = np.array([[1 - p, p], [q, 1 - q]])
    loss = np.array([chain.loss_good.value, chain.loss_bad.value])
    lost = steps * loss
    begun = np.array([q, p]) / (p + q) @ (steps * (1 - loss)) @ lost
    begun /= begun.sum()
    return lambda n: float((begun @ np.linalg.matrix_power(lost, n)).sum())


def _logits(probabilities: tuple[float, ...]) -> Numbers:
    """Return log(x / (1 - x)) of each within the bounds of the search; that of 0 and 1 is infinite."""
    inner = np.clip(probabilities, 1e-15, 1 - 1e-15)
    logits: Numbers = np.clip(np.log(inner / (1 - inner)), *LOGITS)
    return logits


def _powers(matrix: Numbers, exponents: npt.NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Return powers of a matrix, each divided by its largest entry, and the logarithms of these entries.

    The matrix indices are the first two axes, so that a product takes a few operations on whole arrays.
    """
    powers = np.repeat(np.eye(2)[..., np.newaxis], len(exponents), axis=-1)
    logs = np.zeros(len(exponents))
    square, log_square = matrix[..., np.newaxis], np.zeros(1)
    for bit in range(int(exponents[-1]).bit_length()):
        here = (exponents >> bit) & 1 == 1
        powers[..., here], scale = _scaled(_product(powers[..., here], square))
        logs[here] += scale + log_square
        square, scale = _scaled(_product(square, square))
        log_square = 2 * log_square + scale
    return powers, logs


def _product(one: Numbers, other: Numbers) -> Numbers:
    product: Numbers = one[:, 0, np.newaxis] * other[0] + one[:, 1, np.newaxis] * other[1]
    return product


def _scaled(matrices: Numbers) -> tuple[Numbers, Numbers]:
    largest = np.maximum(matrices.max(axis=(0, 1)), 1e-300)
    return matrices / largest, np.log(largest)


def deviations(cost: Callable[[Numbers], float], at: Numbers, step: float = 1e-3) -> Numbers | None:
    """Return standard deviations from the curvature of a cost; `None` if `at` is not a minimum."""
    n = len(at)
    second = np.empty((n, n))
    directions = np.eye(n) * step
    for i in range(n):
        for j in range(i, n):
            corners = [
                cost(at + one * directions[i] + other * directions[j]) * one * other
                for one in (1, -1)
                for other in (1, -1)
            ]
            second[i, j] = second[j, i] = sum(corners) / (4 * step**2)
    if not np.isfinite(second).all() or np.linalg.eigvalsh(second)[0] <= 0:
        return None
    deviations: Numbers = np.sqrt(np.diag(np.linalg.inv(second)))
    return deviations


def _logistic(x: Numbers) -> Numbers:
    # Intervals of undetermined parameters end where the exponential would overflow: the result there is 0.
    result: Numbers = np.where(x > -700, 1 / (1 + np.exp(-np.maximum(x, -700))), 0.0)
    return result
