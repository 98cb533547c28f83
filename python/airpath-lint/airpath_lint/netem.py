"""The parameters of netem, after `netem_parse_opt` of iproute2 (`tc/q_netem.c`)."""

from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, Loss, RandomLoss
from airpath_lint.options import Netem
from airpath_lint.units import RefusedError, rate_bps, share, size_bytes, time_ns, whole
from airpath_lint.words import UNKNOWN, NotUnderstoodError, Words, each_parameter, shown_unknown

_LABELS = ("p", "r", "1-h", "1-k", "p13", "p31", "p32", "p23", "p14")


def read_netem(words: Words) -> Netem:
    """Read the parameters of netem.

    Raises
    ------
    RefusedError
        If `tc` would refuse them.
    NotUnderstoodError
        If this linter does not know them.
    """
    netem = Netem()

    def limit() -> None:
        netem.limit = words.value("limit", size_bytes)

    def delay() -> None:
        netem.delay_ns = words.value("delay", time_ns)
        if words.is_number():
            netem.jitter_ns = words.value("jitter", time_ns)
            if words.is_number():
                netem.delay_correlation = words.value("delay correlation", share)

    def loss() -> None:
        if netem.loss is not None:
            raise RefusedError("netem: loss is set twice")
        netem.loss = _loss(words)

    def ecn() -> None:
        netem.ecn = True

    def correlated(name: str) -> float:
        found = words.value(name, share)
        if words.is_number():
            words.value(f"{name} correlation", share)
        return found

    def duplicate() -> None:
        netem.duplicate = correlated("duplicate")

    def corrupt() -> None:
        netem.corrupt = correlated("corrupt")

    def reorder() -> None:
        netem.reorder = correlated("reorder")

    def gap() -> None:
        netem.gap = words.value("gap", whole)

    def distribution() -> None:
        netem.distribution = words.take()
        if netem.distribution == "uniform":
            netem.distribution = ""

    def rate() -> None:
        netem.rate_bps = words.value("rate", _rate)
        while words.is_number(signed=True):
            words.take()

    def slot() -> None:
        netem.slotted = True
        while words.is_number() or words.peek() in ("distribution", "packets", "bytes", "normal", "custom"):
            words.take()

    def seed() -> None:
        netem.seed = words.value("seed", whole)

    each_parameter(
        "netem",
        words,
        {
            "limit": limit,
            "latency": delay,
            "delay": delay,
            "loss": loss,
            "drop": loss,
            "seed": seed,
            "ecn": ecn,
            "reorder": reorder,
            "corrupt": corrupt,
            "gap": gap,
            "duplicate": duplicate,
            "distribution": distribution,
            "rate": rate,
            "slot": slot,
        },
    )
    if not words.shown:
        _refuse(netem)
    return netem


def _refuse(netem: Netem) -> None:
    """Refuse the combinations that `netem_parse_opt` refuses at its end."""
    if netem.reorder and not netem.delay_ns:
        raise RefusedError("netem: reorder needs a delay, because reordered packets are those without delay")
    if netem.gap and not netem.reorder:
        raise RefusedError("netem: gap needs reorder")
    if netem.ecn and netem.loss is None:
        raise RefusedError("netem: ecn needs a loss model")
    if netem.distribution and not (netem.delay_ns and netem.jitter_ns):
        raise RefusedError("netem: distribution needs a delay and a jitter")


def _rate(text: str) -> int:
    if text.endswith("%"):
        raise NotUnderstoodError(f"netem: {text} of the device's speed, which is unknown")
    return rate_bps(text)


def _loss(words: Words) -> Loss | None:
    word = words.peek()
    if words.is_number() or word == "random":
        if word == "random":
            words.take()
        mean = words.value("loss", share)
        correlation = words.value("loss correlation", share) if words.is_number() else 0.0
        # iproute2 also treats a loss of zero as no loss model.
        return RandomLoss(mean, correlation) if mean else None
    words.take()
    if word == "state":
        found = _shares(words, 5)
        defaults = [0.0, 1 - found[0], 0.0, 1.0, 0.0]
        return FourStateLoss(*found, *defaults[len(found) :])
    if word == "gemodel":
        found = _shares(words, 4)
        return GilbertElliottLoss(*found, *[0.0, 1 - found[0], 1.0, 0.0][len(found) :])
    if UNKNOWN in word:
        raise NotUnderstoodError(f"netem: the value of loss {shown_unknown(word)} is unknown")
    raise RefusedError(f'netem: found the loss "{word}"; accepted: a percentage, random, state, gemodel')


def _shares(words: Words, most: int) -> list[float]:
    found: list[float] = []
    while len(found) < most:
        if words.shown and words.peek() in _LABELS:
            words.take()
        elif found and not words.is_number():
            break
        else:
            found.append(words.value(f"loss, number {len(found) + 1}", share))
    return found
