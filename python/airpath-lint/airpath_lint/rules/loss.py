"""netem's loss models."""

import math
from collections.abc import Iterator

from airpath_lint.findings import Finding
from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, RandomLoss
from airpath_lint.options import Netem
from airpath_lint.rules.context import Context, on, percent
from airpath_lint.setup import Discipline, Tree

BURST = 5.0
"""The mean burst that is suggested if none is known, packets."""
MUCH = 0.2
"""A mean loss that is hardly intended."""


def loss_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about losses."""
    for tree, one in context.disciplines():
        if isinstance(one.options, Netem):
            match one.options.loss:
                case RandomLoss() as loss:
                    yield from _random(tree, one, loss)
                case GilbertElliottLoss() as loss:
                    yield from _gilbert_elliott(tree, one, loss)
                case FourStateLoss() as loss:
                    yield from _four_states(tree, one, loss)


def gemodel(mean_loss: float, mean_burst: float) -> str:
    """Return the arguments of netem for a mean loss and a mean burst."""
    r = 1 / mean_burst
    p = r * mean_loss / (1 - mean_loss)
    return f"loss gemodel {100 * p:.4g}% {100 * r:.4g}%"


def _random(tree: Tree, one: Discipline, loss: RandomLoss) -> Iterator[Finding]:
    if not 0 < loss.share < 0.5:
        return
    bursts = f"{gemodel(loss.share, BURST)}: {percent(loss.share)} in bursts of {BURST:g}"
    if loss.correlation:
        really = loss.mean_loss
        what = "" if math.isnan(really) else f"; the actual loss is {percent(really)}"
        said = f"loss {percent(loss.share)} with a correlation of {percent(loss.correlation)}{what}"
        yield on("loss-correlation", tree, one, said, bursts)
        return
    yield on(
        "independent-loss",
        tree,
        one,
        f"{percent(loss.share)} of packets are lost independently of each other",
        f"{bursts}; `airpath fit` estimates both numbers from a capture",
    )


def _gilbert_elliott(tree: Tree, one: Discipline, loss: GilbertElliottLoss) -> Iterator[Finding]:
    said = (
        f"p {percent(loss.p)}, r {percent(loss.r)}, 1-h {percent(loss.loss_bad)}, 1-k"
        f" {percent(loss.loss_good)}:"
        f" {percent(loss.mean_loss)} are lost"
    )
    if loss.loss_good >= loss.loss_bad:
        right = f"{100 * (1 - loss.loss_bad):.4g}% {100 * (1 - loss.loss_good):.4g}%"
        yield on(
            "gemodel-swapped",
            tree,
            one,
            f"{said}, the loss in the bad state does not exceed that in the good one",
            f"1-h and 1-k, in this order: if {percent(loss.loss_bad)} and {percent(loss.loss_good)}"
            " are h and k,"
            f" write {right}",
        )
        return
    yield from _bursts(tree, one, loss, said)


def _four_states(tree: Tree, one: Discipline, loss: FourStateLoss) -> Iterator[Finding]:
    yield from _bursts(tree, one, loss, f"{percent(loss.mean_loss)} are lost")


def _bursts(
    tree: Tree, one: Discipline, loss: GilbertElliottLoss | FourStateLoss, said: str
) -> Iterator[Finding]:
    mean = loss.mean_loss
    if not 0 < mean < 1:
        return
    if mean > MUCH:
        wished = loss.p if isinstance(loss, GilbertElliottLoss) else loss.p13
        instead = gemodel(wished, max(loss.mean_burst, 1)) if 0 < wished < MUCH else "smaller p, or larger r"
        yield on(
            "gemodel-mean", tree, one, said, (f"{instead}, if a mean loss of {percent(wished)} is intended")
        )
    # Independent losses of the same mean occur in bursts of 1/(1 - mean).
    elif loss.mean_burst < 1.02 / (1 - mean):
        yield on(
            "gemodel-without-bursts",
            tree,
            one,
            f"{said}, in runs of {loss.mean_burst:.3g} packets, like independent losses",
            f"{gemodel(mean, BURST)} for bursts of {BURST:g}",
        )
