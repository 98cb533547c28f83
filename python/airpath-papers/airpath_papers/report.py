"""The results as one self-contained HTML page: no scripts, no requests, everything escaped."""

import base64
import functools
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from airpath.results.formatting import NO_VALUE, mean_and_half_width
from airpath_papers.claim import Judgement, Verdict
from airpath_papers.sample import Sample

if TYPE_CHECKING:
    from airpath_papers.reproduce import Reproduced


def report_html(done: "Sequence[Reproduced]") -> str:
    """Return the page: contents with the verdicts of each figure, then the figures."""
    return _template().render(
        papers=list(dict.fromkeys(one.figure.paper for one in done)),
        figures=[_figure(one) for one in done],
        verdicts=[verdict.value for verdict in Verdict],
    )


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("airpath_papers", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("template.html")


def _figure(one: "Reproduced") -> dict[str, Any]:
    counts = Counter(judgement.verdict.value for judgement in one.judgements)
    return {
        "id": one.figure.id.replace("/", "-"),
        "name": one.figure.id,
        "paper": one.figure.paper,
        "title": one.figure.heading,
        "picture": None if one.svg is None else base64.b64encode(one.svg).decode("ascii"),
        "claims": [_claim(judgement) for judgement in one.judgements],
        "counts": [counts[verdict.value] for verdict in Verdict],
        "tables": one.tables,
        "notes": (*one.drawn.invalid, *one.figure.notes),
        "repetitions": _range([each.repetitions for each in one.figure.all_experiments()]),
    }


def _claim(judgement: Judgement) -> dict[str, Any]:
    claim = judgement.claim
    agreeing, rule = judgement.agreeing, claim.rule
    return {
        "statement": claim.statement,
        "measured": claim.measured + (f" ({claim.unit})" if claim.unit else ""),
        "rule": str(claim.rule),
        "verdict": judgement.verdict.value,
        "kind": judgement.verdict.name.lower().replace("_", "-"),  # class of the style sheet
        "note": judgement.note,
        "choices": [
            {
                "name": choice,
                "number": number(values),
                "n": values.n,
                "agrees": choice in agreeing or (choice in claim.beside and rule.holds(values)),
            }
            for choice, values in judgement.samples.items()
        ],
    }


def number(values: Sample) -> str:
    """Return the mean ± half-width of the 95 % interval; of a single run, the number alone."""
    if math.isnan(values.mean):
        return NO_VALUE
    low, high = values.interval
    return mean_and_half_width({"mean": values.mean, "ci95_low": low, "ci95_high": high})


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"
