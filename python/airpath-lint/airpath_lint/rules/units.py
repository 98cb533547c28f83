"""Units that tc interprets differently from common usage."""

from collections.abc import Iterator

from airpath_lint.findings import Finding
from airpath_lint.rules.context import Context, on, percent, rate_text, size_text, tc_rate, time_text
from airpath_lint.setup import Discipline, TrafficClass, Tree
from airpath_lint.units import number_of, rate_bps, share, size_bytes, time_ns, unit_of

_RATES = ("rate", "ceil", "peakrate", "bandwidth")
_TIMES = ("delay", "jitter", "latency", "target", "interval")
_SIZES = ("burst", "minburst", "limit", "quantum")
_SHARES = ("loss", "loss, number 1", "duplicate", "corrupt", "reorder")


def unit_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about units; the output of tc contains none that a user wrote."""
    for tree in context.trees:
        for discipline in tree.disciplines:
            yield from _units(tree, discipline)
        for found in tree.classes.values():
            yield from _units(tree, found)


def _units(tree: Tree, one: Discipline | TrafficClass) -> Iterator[Finding]:
    for name, text in one.given.items():
        number, unit = number_of(text), unit_of(text)
        if name in _RATES:
            yield from _rate(tree, one, name, text)
        elif name in _TIMES and not unit and time_ns(text):
            said = f"{name} {text} is {time_text(time_ns(text))}"
            yield on(
                "time-without-unit",
                tree,
                one,
                said,
                f"{name} {number}us, or {name} {number}ms if milliseconds were meant",
            )
        elif name in _SIZES and unit.endswith("bit"):
            size = size_bytes(text)
            yield on(
                "size-in-bits",
                tree,
                one,
                f"{name} {text} is {size} bytes ({size_text(size)})",
                f"{name} {size}b",
            )
        elif name in _SHARES and not unit and 0 < share(text) < 0.01:
            said = f"{name.split(',')[0]} {text} is {percent(share(text))}"
            instead = f"{text}%, or {100 * float(number):g}% if a share was meant"
            yield on("loss-without-percent", tree, one, said, instead)


def _rate(tree: Tree, one: Discipline | TrafficClass, name: str, text: str) -> Iterator[Finding]:
    number, unit = number_of(text), unit_of(text)
    bits = rate_bps(text)
    if unit.endswith("bps"):
        meant = f"{number}{unit.removesuffix('bps')}bit"
        said = f"{name} {text} is {rate_text(bits)}"
        yield on(
            "rate-in-bytes", tree, one, said, f"{name} {meant}, or {name} {tc_rate(bits)} if bytes were meant"
        )
    elif not unit:
        yield on(
            "rate-without-unit",
            tree,
            one,
            f"{name} {text} is {rate_text(bits)}",
            f"{name} with kbit, mbit or gbit",
        )
