"""The mean loss and the mean length of a burst of netem's loss models.

Every model except the old correlated one is a chain of states with a probability of loss in each. A burst is
a run of losses in consecutive packets; its mean length is P(loss) / P(loss, then none).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

_GRID = 20_000
_ROUNDS = 400
MOST_CORRELATION = 0.99
"""The largest correlation for which the mean of the correlated model is computed."""


Chain = tuple[list[float], list[list[float]], list[float]]
"""The stationary distribution of the states, the transition probabilities, and the loss in each state."""


class _ChainLoss(ABC):
    """A loss model that is a chain of states."""

    __slots__ = ()

    @property
    def mean_loss(self) -> float:
        """The fraction of packets that are lost."""
        states, _, loss = self._chain()
        return _mean_loss(states, loss)

    @property
    def mean_burst(self) -> float:
        """The mean burst of losses, packets."""
        return _mean_burst(*self._chain())

    @abstractmethod
    def _chain(self) -> Chain: ...


@dataclass(frozen=True, slots=True)
class RandomLoss:
    """`loss random P [C]`: each packet independently, or (deprecated) by a correlated number.

    Attributes
    ----------
    share
        P, from 0 to 1.
    correlation
        C, from 0 to 1.
    """

    share: float
    correlation: float = 0.0

    @property
    def mean_loss(self) -> float:
        """The fraction of packets that are really lost; NaN if it is not computed."""
        return correlated_mean(self.share, self.correlation)

    @property
    def mean_burst(self) -> float:
        """The mean burst of losses, packets; NaN with a correlation."""
        if self.correlation:
            return math.nan
        return math.inf if self.share == 1 else 1 / (1 - self.share)


@dataclass(frozen=True, slots=True)
class GilbertElliottLoss(_ChainLoss):
    """`loss gemodel p r 1-h 1-k`.

    Attributes
    ----------
    p, r
        Probabilities of going from good to bad and back, for each packet.
    loss_bad, loss_good
        1-h and 1-k: the losses in the states.
    """

    p: float
    r: float
    loss_bad: float = 1.0
    loss_good: float = 0.0

    def _chain(self) -> Chain:
        total = self.p + self.r
        # If neither state is ever left, the chain stays in the good one, where netem begins.
        bad = self.p / total if total else 0.0
        return [1 - bad, bad], [[1 - self.p, self.p], [self.r, 1 - self.r]], [self.loss_good, self.loss_bad]


@dataclass(frozen=True, slots=True)
class FourStateLoss(_ChainLoss):
    """`loss state p13 p31 p32 p23 p14`: 1 good, 2 good within a burst, 3 lost in a burst, 4 lost alone."""

    p13: float
    p31: float
    p32: float = 0.0
    p23: float = 1.0
    p14: float = 0.0

    def _chain(self) -> Chain:
        # The kernel compares one random number with each in turn and takes the first that is larger
        # (`loss_4state`, sch_netem.c).
        alone = min(self.p14, 1.0)
        burst = min(self.p13, 1 - alone)
        within = min(self.p32, 1.0)
        out = min(self.p31, 1 - within)
        moves = [
            [1 - alone - burst, 0.0, burst, alone],
            [0.0, 1 - self.p23, self.p23, 0.0],
            [out, within, 1 - out - within, 0.0],
            [1.0, 0.0, 0.0, 0.0],
        ]
        return _stationary(moves), moves, [0.0, 0.0, 1.0, 1.0]


Loss = RandomLoss | GilbertElliottLoss | FourStateLoss


@lru_cache(maxsize=64)
def correlated_mean(share: float, correlation: float) -> float:
    """Return the mean loss of netem's correlated numbers x' = (1-c) u + c x, lost where x' <= share.

    The distribution F of x is the fixed point of F(x) = c/(1-c) times the integral of F from (x-(1-c))/c to
    x/c.

    Parameters
    ----------
    share
        The configured loss, from 0 to 1.
    correlation
        c, from 0 to 1.

    Returns
    -------
    float
        The fraction of packets lost; NaN for c above 0.99, where it is not computed.
    """
    if not correlation or share in (0.0, 1.0):
        return share
    if correlation > MOST_CORRELATION:
        return math.nan
    x = np.linspace(0.0, 1.0, _GRID + 1)
    upper, lower = x / correlation, (x - (1 - correlation)) / correlation
    distribution: npt.NDArray[np.float64] = x.copy()
    for _ in range(_ROUNDS):
        steps = (distribution[1:] + distribution[:-1]) / (2 * _GRID)
        integral = np.concatenate([[0.0], np.cumsum(steps)])

        def up_to(
            at: npt.NDArray[np.float64], integral: npt.NDArray[np.float64] = integral
        ) -> npt.NDArray[np.float64]:
            return np.where(at > 1, integral[-1] + (at - 1), np.interp(at, x, integral, left=0.0))

        moved = correlation / (1 - correlation) * (up_to(upper) - up_to(lower))
        if float(np.max(np.abs(moved - distribution))) < 1e-10:
            break
        distribution = moved
    return float(np.interp(share, x, distribution))


def _mean_loss(states: list[float], loss: list[float]) -> float:
    return sum(state * lost for state, lost in zip(states, loss, strict=True))


def _mean_burst(states: list[float], moves: list[list[float]], loss: list[float]) -> float:
    mean = _mean_loss(states, loss)
    ends = sum(
        state * lost * sum(move * (1 - next_lost) for move, next_lost in zip(row, loss, strict=True))
        for state, lost, row in zip(states, loss, moves, strict=True)
    )
    if not mean:
        return math.nan
    return mean / ends if ends else math.inf


def _stationary(moves: list[list[float]]) -> list[float]:
    """Return the frequency of each state, starting in the good one: the mean over the first many steps."""
    step = np.array(moves)
    spread = (np.eye(len(moves)) + step) / 2
    # Repeated squaring covers far more steps than any state lasts; averaging with the identity prevents
    # oscillation.
    for _ in range(64):
        spread = spread @ spread
        spread /= spread.sum(axis=1, keepdims=True)
    return [float(one) for one in spread[0]]
