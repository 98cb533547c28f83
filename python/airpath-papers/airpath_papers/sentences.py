"""The sentences of the papers, and how many of them are reproduced under each reading.

A sentence may have several claims (`airpath_papers.figure.Figure.sentences`) and is counted once. It is
**reproduced** if all of its claims are, except alternatives; **reproduced in part** if only some of them are,
or some only in part, or only alternatives; otherwise **not reproduced**.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath_papers.claim import Judgement, Verdict
from airpath_papers.figure import Figure

if TYPE_CHECKING:
    from airpath_papers.reproduce import Reproduced


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper about one figure."""

    name: str
    """Its name within the figure."""
    judgements: tuple[Judgement, ...]
    """Its evaluated claims; at least one."""
    alternatives: frozenset[str] = frozenset()
    """Names of the claims that can only make it reproduced in part."""

    @property
    def verdict(self) -> Verdict:
        """The verdict under the headline reading."""
        return self._joint([one.verdict for one in self.judgements])

    @property
    def by_reading(self) -> dict[str, Verdict]:
        """The verdict under each reading for which all of its claims are measured, headline first."""
        verdicts = [one.by_reading for one in self.judgements]
        return {
            reading: self._joint([one[reading] for one in verdicts])
            for reading in verdicts[0]
            if all(reading in one for one in verdicts)
        }

    def _joint(self, verdicts: Sequence[Verdict]) -> Verdict:
        own = [
            verdict
            for one, verdict in zip(self.judgements, verdicts, strict=True)
            if one.claim.name not in self.alternatives
        ]
        if own and all(verdict is Verdict.REPRODUCED for verdict in own):
            return Verdict.REPRODUCED
        if all(verdict is Verdict.NOT_REPRODUCED for verdict in verdicts):
            return Verdict.NOT_REPRODUCED
        return Verdict.IN_PART


def sentences(figure: Figure, judgements: Iterable[Judgement]) -> list[Sentence]:
    """Group evaluated claims of a figure by sentence, in the order of their first claims."""
    groups: dict[str, list[Judgement]] = {}
    for one in judgements:
        groups.setdefault(figure.sentence_of(one.claim.name), []).append(one)
    return [
        Sentence(name, tuple(group), frozenset(figure.alternatives.get(name, ())))
        for name, group in groups.items()
    ]


@dataclass(frozen=True)
class Counts:
    """Verdicts on the sentences of one paper."""

    paper: str
    """The paper; followed by “(ours)” for experiments and statements that are not in it."""
    claims: int
    """Number of claims."""
    headline: Counter[Verdict]
    """Verdicts on its sentences, each under the headline reading of its figure."""
    by_reading: dict[str, Counter[Verdict]]
    """Verdicts under each reading, on those sentences that have all readings of the same question."""


def count_sentences(done: "Sequence[Reproduced]") -> list[Counts]:
    """Return the verdicts on the sentences of each paper, in the order of the figures."""
    papers: dict[str, list[Sentence]] = {}
    for one in done:
        for ours in (False, True):
            mine = [each for each in one.judgements if _is_ours(one.figure, each) is ours]
            name = f"{one.figure.paper} (ours)" if ours else one.figure.paper
            papers.setdefault(name, []).extend(sentences(one.figure, mine))
    return [_counts(paper, found) for paper, found in papers.items() if found]


def _is_ours(figure: Figure, judgement: Judgement) -> bool:
    return figure.ours or judgement.claim.name in figure.not_in_paper


def _counts(paper: str, found: Sequence[Sentence]) -> Counts:
    verdicts = [one.by_reading for one in found]
    together = dict.fromkeys(tuple(one) for one in verdicts)
    # A question is answered by readings that are measured together; some sentences have only part of them.
    questions = [one for one in together if not any(set(one) < set(other) for other in together)]
    return Counts(
        paper,
        sum(len(one.judgements) for one in found),
        Counter(one.verdict for one in found),
        {
            # Readings are compared on the same sentences.
            reading: Counter(one[reading] for one in verdicts if set(question) <= set(one))
            for question in questions
            for reading in question
        },
    )


def written(found: Iterable[Counts]) -> list[dict[str, Any]]:
    """Return the contents of `counts.json`: for each paper, numbers of claims, sentences and verdicts."""
    return [
        {
            "paper": one.paper,
            "claims": one.claims,
            **_written(one.headline),
            "readings": [{"reading": reading, **_written(each)} for reading, each in one.by_reading.items()],
        }
        for one in found
    ]


def _written(verdicts: Counter[Verdict]) -> dict[str, int]:
    return {"sentences": verdicts.total(), **{verdict.value: verdicts[verdict] for verdict in Verdict}}
