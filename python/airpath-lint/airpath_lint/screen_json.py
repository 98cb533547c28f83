"""The output of `tc -s -j qdisc show`, `tc -s -j class show` and `tc -j filter show`.

Values in base units are converted to the notation of `tc`, so that there is only one parser for them.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from airpath.errors import LintError
from airpath_lint.screen import NAMELESS, enter_class, enter_discipline, owner
from airpath_lint.setup import ROOT, Filter, Place, Setup, Statistics, Unread

_COUNTERS: Final = ("bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen")


class _OddError(ValueError):
    """A value that `tc` does not print."""


def _rate(value: Any) -> str:
    return f"{_integer(value)}bps"


def _time_us(value: Any) -> str:
    return f"{_integer(value)}us"


def _seconds(value: Any) -> str:
    return f"{_number(value):.9f}s"


def _percent(value: Any) -> str:
    return f"{100 * _number(value):.10f}%"


def _size(value: Any) -> str:
    return value if isinstance(value, str) and len(value) < 40 else f"{_integer(value)}b"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) and len(value) < 40 else f"{_integer(value)}"


def _decimal(value: Any) -> str:
    return f"{_number(value):.10f}"


_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "rate": _rate,
    "ceil": _rate,
    "peakrate": _rate,
    "bandwidth": _rate,
    "lat": _time_us,
    "target": _time_us,
    "interval": _time_us,
    "tupdate": _time_us,
    "burst": _size,
    "minburst": _size,
    "min": _size,
    "max": _size,
    "limit": _plain,
    "quantum": _plain,
    "flows": _plain,
    "default": _plain,
    "r2q": _plain,
    "direct_packets_stat": _plain,
    "probability": _decimal,
}
"""The conversion of the value of each key; other keys are not used."""


def read_json(text: str, source: str, setup: Setup) -> None:
    """Read the output of `tc -j` into a configuration.

    Raises
    ------
    LintError
        If it is not JSON, or not a list of disciplines, classes or filters.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = " ".join(str(error).split())
        raise LintError(
            f"{source}: not JSON: {what}; older versions of tc print some disciplines incorrectly: omit -j"
        ) from None
    if not isinstance(entries, list):
        raise LintError(
            f"{source}: found JSON that is not a list; accepted: the output of tc -s -j qdisc show"
        )
    setup.shown = True
    known = 0
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, dict) and isinstance(entry.get("kind", entry.get("class")), str):
            known += 1
            _enter(entry, number, source, setup)
    if entries and not known:
        raise LintError(
            f"{source}: no entry of the list has the key kind; accepted: the output of tc -s -j qdisc show"
        )


def _enter(entry: dict[str, Any], number: int, source: str, setup: Setup) -> None:
    place = Place(source)
    kind = str(entry.get("kind", entry.get("class")))
    handle, device = _text(entry, "handle"), _text(entry, "dev") or NAMELESS
    parent = _text(entry, "parent") or ROOT
    options = entry.get("options")
    line = f"entry {number}: {kind} {handle}"
    if "protocol" in entry:
        tree = owner(setup, device, parent)
        tree.filters_known = True
        target = _text(options, "flowid") or _text(options, "classid") if isinstance(options, dict) else ""
        if target:
            tree.filters.append(Filter(parent, target, "", None, None, place))
        return
    try:
        if "class" in entry:
            given = {**entry, **(options if isinstance(options, dict) else {})}
            shown_class = enter_class(kind, handle, device, parent, list(_words(given)), line, place, setup)
            if shown_class is not None:
                shown_class.statistics = _statistics(entry.get("stats", entry))
            return
        given = options if isinstance(options, dict) else {}
        words = list(_netem(given)) if kind == "netem" else list(_words(given))
        shown = enter_discipline(kind, handle, device, parent, words, line, place, setup)
        if shown is not None:
            shown.statistics = _statistics(entry)
    except _OddError as error:
        setup.unread.append(Unread(place, line, str(error)))


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Return parameters as words; a truth value is the key alone."""
    for key, value in options.items():
        if value is True and key in ("ecn", "adaptive"):
            yield key
        elif value is False and key == "ecn":
            yield "noecn"
        elif key in _WRITERS and not isinstance(value, bool | dict | list | None.__class__):
            yield key
            yield _named(key, value, _WRITERS[key])


def _netem(options: Mapping[str, Any]) -> Iterator[str]:
    """Return the parameters of netem as words."""

    def group(key: str, *parts: tuple[str, Callable[[Any], str]]) -> Iterator[str]:
        inner = options.get(key)
        if isinstance(inner, dict):
            for name, write in parts:
                if name in inner:
                    yield _named(f"{key}.{name}", inner[name], write)

    if "limit" in options:
        yield from ("limit", _named("limit", options["limit"], _plain))
    if "delay" in options:
        delay = list(group("delay", ("delay", _seconds), ("jitter", _seconds), ("correlation", _percent)))
        yield from ("delay", *delay) if delay else ()
    for key, name, parts in (
        ("loss-random", ("loss", "random"), ("loss", "correlation")),
        ("loss-state", ("loss", "state"), ("p13", "p31", "p32", "p23", "p14")),
        ("loss-gemodel", ("loss", "gemodel"), ("p", "r", "1-h", "1-k")),
        ("duplicate", ("duplicate",), ("duplicate", "correlation")),
        ("reorder", ("reorder",), ("reorder", "correlation")),
        ("corrupt", ("corrupt",), ("corrupt", "correlation")),
    ):
        values = list(group(key, *((part, _percent) for part in parts)))
        yield from (*name, *values) if values else ()
    rate = list(group("rate", ("rate", _rate)))
    yield from ("rate", *rate) if rate else ()
    if "seed" in options:
        yield from ("seed", _named("seed", options["seed"], _plain))
    if "slot" in options:
        yield "slot"
    if options.get("ecn") is True:
        yield "ecn"


def _named(key: str, value: Any, write: Callable[[Any], str]) -> str:
    try:
        return write(value)
    except _OddError as error:
        raise _OddError(f"{key}: {error}") from None


def _statistics(entry: Any) -> Statistics | None:
    if not isinstance(entry, dict) or "bytes" not in entry:
        return None
    return Statistics(*(_integer(entry.get(name, 0)) for name in _COUNTERS))


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) and len(value) < 100 else ""


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e20:
        raise _OddError(f"found {str(value)[:40]!r}; accepted: a number")
    return float(value) if math.isfinite(value) else 0.0


def _integer(value: Any) -> int:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**20
        else int(_number(value))
    )
