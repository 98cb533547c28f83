"""The precision of means and differences, for the terminal, for the report, and as JSON."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from airpath.metrics import METRICS
from airpath.precision.reached import Decision, PairPrecision, Reached, SchemePrecision
from airpath.precision.rule import LARGEST_MOST
from airpath.results.formatting import NO_VALUE, SAME, mean_and_half_width, number

if TYPE_CHECKING:
    from airpath.views.model import Section

HEAD = ("scheme", "mean", "share of the mean", "n", "enough")
PAIR_HEAD = ("schemes", "difference", "negligible below", "n", "result")


def precision_lines(reached: Reached) -> list[str]:
    """Return one line for a fixed number of repetitions, else the reason for stopping and the open questions.

    Single runs have no lines.
    """
    if reached.rule is None:
        return _fixed(reached)
    lines = [_ended(reached)]
    lines += [_missed(one) for one in reached.schemes if not one.is_reached]
    if reached.pairs:
        lines.append(_decided(reached))
    lines += [_open(reached, pair) for pair in reached.pairs if pair.decision is Decision.OPEN]
    lines += [f"{scheme}: no run has a value of {reached.metric}" for scheme in reached.without_value]
    return lines


def precision_json(reached: Reached) -> dict[str, Any]:
    """Return the precision for ``json.dumps``; a missing value is null."""
    rule = reached.rule
    return {
        "metric": reached.metric,
        "confidence": 1.0 - reached.level,
        "repetitions": reached.repetitions,
        "end": reached.end,
        "rule": None if rule is None else rule.facts(),
        "looks": None if rule is None else list(rule.looks),
        "schemes": [
            {
                "scheme": one.scheme,
                "n": one.n,
                "mean": _known(one.mean),
                "half_width": _interval(one.half_width),
                "share": _interval(one.share),
                "reached": one.is_reached,
                "repetitions_needed": one.needed,
            }
            for one in reached.schemes
        ],
        "without_value": list(reached.without_value),
        "differences": [
            {
                "first": pair.first,
                "second": pair.second,
                "n": pair.n,
                "difference": _known(pair.difference),
                "half_width": _interval(pair.half_width),
                "margin": _known(pair.margin),
                "decision": str(pair.decision),
                "repetitions_needed": pair.needed,
            }
            for pair in reached.pairs
        ],
    }


def precision_section(reached: Reached, name: Callable[[str], str] = str) -> "Section":
    """Return the section of the report; `name` returns the display name of a scheme."""
    from airpath.views.model import Section  # imported here because it loads the registry of schemes

    heading = METRICS[reached.metric].heading
    rows = [
        (name(one.scheme), _mean(one), _within(one.share), str(one.n), _enough(one))
        for one in reached.schemes
    ]
    tables: list[dict[str, Any]] = [{"title": heading, "head": HEAD, "rows": rows}]
    if reached.pairs:
        pairs = [
            (
                f"{name(pair.first)} less {name(pair.second)}",
                _plus_minus(pair.difference, pair.half_width),
                number(pair.margin),
                str(pair.n),
                str(pair.decision) if pair.decision is not Decision.OPEN else f"open{_needs(pair.needed)}",
            )
            for pair in reached.pairs
        ]
        tables.append({"title": f"Differences of {heading}", "head": PAIR_HEAD, "rows": pairs})
    return Section("precision", "Enough repetitions?", _note(reached), precision_lines(reached), tables)


def _note(reached: Reached) -> str:
    if (rule := reached.rule) is None:
        return (
            "± is the half-width of the 95 % confidence interval of the mean (Student's t). The number of"
            " repetitions needed is an estimate: it follows from the measured standard deviation."
        )
    looks = ", ".join(map(str, rule.looks))
    return (
        "Repetitions were added until the requested precision was reached, with looks at fixed numbers of"
        f" repetitions: {looks}. The intervals of this section have a confidence of 95 % for all looks"
        " together, so they are wider than those of the summary: repeated confidence intervals after Jennison"
        f" and Turnbull (1989), with {100 * (1 - reached.level):.2f} % at each look. The level is not"
        " adjusted for the number of schemes and pairs."
    )


def _fixed(reached: Reached) -> list[str]:
    known = [one for one in reached.schemes if not math.isnan(one.share)]
    if not known:
        return []
    text = f"{_title(reached)} {_known_within(known, '95 %')}"
    if all(one.is_reached for one in known):
        return [text]
    missed = [one for one in known if not one.is_reached]
    most = max(missed, key=lambda one: math.inf if one.needed is None else one.needed)
    return [f"{text}; for {_within(most.target)} {_needed(most.needed, most.share)}"]


def _ended(reached: Reached) -> str:
    rule = reached.rule
    assert rule is not None
    known = [one for one in reached.schemes if not math.isnan(one.share)]
    within = f"; {_title(reached)} {_known_within(known, '95 % at all looks')}" if known else ""
    why = {
        "precision": "the precision was reached",
        "limit": "the limit; the precision was not reached",
        "interrupted": "interrupted",
    }
    if reached.end == "precision" and not known:
        return f"stopped after {reached.repetitions} repetitions: no run has a value of {reached.metric}"
    return f"stopped after {reached.repetitions} repetitions ({why[reached.end]}){within}"


def _missed(one: SchemePrecision) -> str:
    return (
        f"{one.scheme}: {_within(one.share)} of the mean, not {_within(one.target)};"
        f" {_needed(one.needed, one.share)}"
    )


def _decided(reached: Reached) -> str:
    """Return how many differences are significant, negligible and open."""
    assert reached.rule is not None
    counts = Counter(pair.decision for pair in reached.pairs)
    known = {
        Decision.DIFFERENT: "significant",
        Decision.ALIKE: f"known to be below {100 * (reached.rule.difference or 0.0):g} %",
        Decision.OPEN: "open",
    }
    parts = [f"{counts[decision]} {text}" for decision, text in known.items() if counts[decision]]
    return f"differences of {_title(reached)} between {len(reached.schemes)} schemes: {', '.join(parts)}"


def _open(reached: Reached, pair: PairPrecision) -> str:
    unit = METRICS[reached.metric].unit
    return (
        f"{pair.first} less {pair.second}: {_plus_minus(pair.difference, pair.half_width)}"
        f"{unit and ' ' + unit} is neither significant nor known to be below {number(pair.margin)};"
        f" {_needed(pair.needed, pair.half_width)}"
    )


def _needed(needed: int | None, width: float) -> str:
    """Return the estimated number of repetitions; there always is one if the current width is finite."""
    if needed is None and math.isfinite(width):
        return f"an estimated {LARGEST_MOST} repetitions or more are needed"
    if needed is None:
        return "the number of repetitions needed cannot be estimated"
    return f"an estimated {needed} repetitions are needed"


def _enough(one: SchemePrecision) -> str:
    if one.target is None:
        return NO_VALUE
    return "yes" if one.is_reached else f"no{_needs(one.needed)}"


def _needs(needed: int | None) -> str:
    return "" if needed is None else f", an estimated {needed} needed"


def _title(reached: Reached) -> str:
    return METRICS[reached.metric].title


def _known_within(known: Sequence[SchemePrecision], confidence: str) -> str:
    """Return the precision of the means: those that vary, then those that do not."""
    varying = [one for one in known if one.share > 0.0]
    same = [one.scheme for one in known if one.share == 0.0]
    if not varying:
        return f"is {SAME}"
    text = f"is known within {_range(varying)} of the mean ({confidence})"
    return f"{text}; {SAME}: {', '.join(same)}" if same else text


def _range(known: Sequence[SchemePrecision]) -> str:
    """Return the relative half-widths of the schemes with the best and the worst known means."""
    best, worst = min(known, key=lambda one: one.share), max(known, key=lambda one: one.share)
    if len(known) == 1:
        return _within(worst.share)
    return f"{_within(best.share)} ({best.scheme}) to {_within(worst.share)} ({worst.scheme})"


def _within(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return NO_VALUE
    return SAME if share == 0.0 else f"± {100 * share:.2g} %"


def _mean(one: SchemePrecision) -> str:
    return _plus_minus(one.mean, one.half_width)


def _plus_minus(mean: float, half_width: float) -> str:
    return mean_and_half_width({"mean": mean, "ci95_low": mean - half_width, "ci95_high": mean + half_width})


def _interval(width: float) -> float | None:
    """Return a width for JSON; null if all seeds give the same value."""
    return _known(width) if width else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
