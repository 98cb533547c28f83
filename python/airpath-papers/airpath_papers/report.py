"""The results as one self-contained HTML page: no scripts, no requests, everything escaped."""

import base64
import functools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from airpath_papers.claim import Judgement, Verdict
from airpath_papers.sentences import Counts, count_sentences, sentences

if TYPE_CHECKING:
    from airpath_papers.reproduce import Reproduced


def report_html(done: "Sequence[Reproduced]") -> str:
    """Return the page: a mark for each sentence, verdicts by paper and reading, then the figures."""
    counts = count_sentences(done)
    return _template().render(
        counts=[row for one in counts for row in count_rows(one)],
        total=_in_words(sum((one.headline for one in counts), Counter())),
        papers=list(dict.fromkeys(one.figure.paper for one in done)),
        figures=[_figure(one) for one in done],
        verdicts=[verdict.value for verdict in Verdict],
    )


def _in_words(verdicts: Counter[Verdict]) -> str:
    """Return how many sentences have each verdict, as a sentence; empty without any."""
    if not verdicts.total():
        return ""
    counts = f"{verdicts[Verdict.REPRODUCED]} of {verdicts.total()} sentences are reproduced"
    for other in (Verdict.IN_PART, Verdict.NOT_REPRODUCED):
        counts += f", {verdicts[other]} {other.value}" if verdicts[other] else ""
    return f"{counts}."


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("airpath_papers", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("template.html")


def count_rows(one: Counts) -> list[tuple[str, ...]]:
    """Return the rows of the table of verdicts for a paper: that of the headline, one for each reading."""
    under = {"headline": one.headline, **one.by_reading}
    return [
        (
            one.paper if reading == "headline" else "",
            reading,
            str(verdicts.total()),
            *(str(verdicts[verdict]) for verdict in Verdict),
        )
        for reading, verdicts in under.items()
    ]


def other_readings(judgement: Judgement) -> str:
    """Return the verdicts under the readings other than the headline, with signs; empty without any."""
    others = list(judgement.by_reading.items())[1:]
    return " ".join(f"{reading}\N{NO-BREAK SPACE}{_SIGNS[verdict]}" for reading, verdict in others)


_SIGNS: Final = {Verdict.REPRODUCED: "✓", Verdict.IN_PART: "(✓)", Verdict.NOT_REPRODUCED: "✗"}


def _figure(one: "Reproduced") -> dict[str, Any]:
    found = sentences(one.figure, one.judgements)
    return {
        "id": one.figure.id.replace("/", "-"),
        "name": one.figure.id,
        "paper": one.figure.paper,
        "title": one.figure.heading,
        "picture": None if one.svg is None else base64.b64encode(one.svg).decode("ascii"),
        "readings": list(one.figure.readings),
        "claims": [
            {
                **_claim(judgement),
                # Claims of one sentence are shown together, the alternatives marked.
                "sentence": sentence.name if len(sentence.judgements) > 1 else "",
                "alternative": judgement.claim.name in sentence.alternatives,
            }
            for sentence in found
            for judgement in sentence.judgements
        ],
        "sentences": [
            {
                "sign": _SIGNS[sentence.verdict],
                "kind": _kind(sentence.verdict),
                "statement": sentence.judgements[0].claim.statement,
            }
            for sentence in found
        ],
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
        "kind": _kind(judgement.verdict),
        "note": judgement.note,
        "others": other_readings(judgement),
        "choices": [
            {
                "name": choice,
                "number": str(values),
                "n": values.n,
                "agrees": choice in agreeing or (choice in claim.beside and rule.holds(values)),
            }
            for choice, values in judgement.samples.items()
        ],
    }


def _kind(verdict: Verdict) -> str:
    """Return the class of a verdict in the style sheet."""
    return verdict.name.lower().replace("_", "-")


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"
