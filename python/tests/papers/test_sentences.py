"""Verdicts under each reading, and sentences with several claims."""

import json
from collections import Counter

import pytest

from airpath_papers.claim import Claim, Judgement, Verdict
from airpath_papers.figure import Figure
from airpath_papers.registry import FIGURES
from airpath_papers.report import count_rows, other_readings
from airpath_papers.rules import AtLeast
from airpath_papers.sample import sample
from airpath_papers.sentences import count_sentences, sentences, written
from airpath_papers.settings import readings

HOLDS, FAILS = sample([2.0, 2.1, 1.9]), sample([0.5, 0.6, 0.4])
YES, PART, NO = Verdict.REPRODUCED, Verdict.IN_PART, Verdict.NOT_REPRODUCED
CHOICES = ("L", "T", "O", "L, variant", "T, variant")
READINGS = readings(CHOICES)


def judged(name: str, holding: tuple[str, ...], choices=CHOICES, by=READINGS, reason="") -> Judgement:
    """Return a claim whose rule holds under some choices."""
    claim = Claim(name, "words", AtLeast(1.0), "what", None, reason=reason)
    return Judgement(claim, {choice: HOLDS if choice in holding else FAILS for choice in choices}, by)


def figure(*, claims=(), **more) -> Figure:
    return Figure("paper/fig1", "Paper", "Title", {}, None, tuple(one.claim for one in claims), **more)


class Done:
    """A reproduced figure without runs."""

    def __init__(self, claims, **more):
        self.figure = figure(claims=claims, **more)
        self.judgements = tuple(claims)


def test_choices_belong_to_the_reading_after_which_they_are_named():
    assert READINGS == {"L": ["L", "L, variant"], "T": ["T", "T, variant"], "O": ["O"]}
    assert readings(("O", "T", "O, variant"), ("O", "T")) == {"O": ["O", "O, variant"], "T": ["T"]}


@pytest.mark.parametrize(
    ("holding", "verdicts", "others"),
    [
        (("L",), {"L": YES, "T": NO, "O": NO}, "T ✗ O ✗"),
        (("L, variant",), {"L": PART, "T": NO, "O": NO}, "T ✗ O ✗"),
        # The headline reading decides, even if the rule holds under all others.
        (("T, variant", "O"), {"L": NO, "T": PART, "O": YES}, "T (✓) O ✓"),
        ((), {"L": NO, "T": NO, "O": NO}, "T ✗ O ✗"),
    ],
)
def test_each_reading_has_a_verdict_and_that_of_the_headline_is_the_claims(holding, verdicts, others):
    one = judged("claim", holding)
    assert one.by_reading == verdicts
    assert one.verdict is verdicts["L"]
    assert other_readings(one).replace("\N{NO-BREAK SPACE}", " ") == others


def test_the_note_names_the_readings_under_which_a_claim_holds():
    assert judged("claim", ("O", "T, variant")).note == "holds under “O”, “T, variant”, not under L"


def test_the_reason_is_shown_if_any_reading_disagrees():
    for holding, shown in [(("L", "O"), True), (("T", "O"), True), (("L", "T", "O"), False)]:
        assert judged("claim", holding, reason="because").note.endswith("because") is shown


def test_without_readings_all_choices_are_variants_of_one():
    one = judged("claim", ("O",), by={})
    assert (one.verdict, one.by_reading, other_readings(one)) == (PART, {}, "")


def test_a_claim_that_is_not_measured_under_the_headline_has_the_next_reading():
    one = judged("claim", ("T",), choices=("T", "O"))
    assert (one.verdict, one.by_reading) == (YES, {"T": YES, "O": NO})


def test_a_sentence_is_reproduced_if_all_of_its_claims_are():
    for second, verdict in [(("L", "T"), YES), (("T",), PART), (("L, variant",), PART)]:
        pair = [judged("a", ("L",)), judged("b", second)]
        (one,) = sentences(figure(sentences={"both": ("a", "b")}), pair)
        assert (one.name, one.verdict) == ("both", verdict)
    assert one.by_reading == {"L": PART, "T": NO, "O": NO}
    nothing = [judged("a", ()), judged("b", ())]
    assert sentences(figure(sentences={"both": ("a", "b")}), nothing)[0].verdict is NO


def test_an_alternative_can_only_make_its_sentence_reproduced_in_part():
    placed = figure(alternatives={"a": ("added",)})
    for first, added, verdict in [("L", "", YES), ("", "L", PART), ("", "", NO)]:
        (one,) = sentences(placed, [judged("a", (first,)), judged("added", (added,))])
        assert (one.name, one.verdict) == ("a", verdict)


def test_a_sentence_has_the_readings_of_all_of_its_claims():
    pair = [judged("a", ("T",)), judged("b", ("T",), choices=("L", "T"))]
    (one,) = sentences(figure(sentences={"both": ("a", "b")}), pair)
    assert one.by_reading == {"L": NO, "T": YES}


def test_counts_are_of_sentences_by_paper_and_reading():
    several = [judged("a", ("L", "T")), judged("b", ("L",)), judged("c", ("O",)), judged("ours", ("L",))]
    first = Done(several, readings=READINGS, sentences={"both": ("a", "b")}, not_in_paper=("ours",))
    other = Done([judged("d", ("one",), choices=("one", "two"), by={})])
    paper, ours = count_sentences([first, other])
    assert (paper.paper, paper.claims, paper.headline) == ("Paper", 4, Counter({YES: 2, NO: 1}))
    # The sentence without readings is not counted under any of them.
    assert paper.by_reading == {"L": {YES: 1, NO: 1}, "T": {PART: 1, NO: 1}, "O": {YES: 1, NO: 1}}
    assert (ours.paper, ours.claims, ours.headline) == ("Paper (ours)", 1, Counter({YES: 1}))
    assert count_rows(paper)[:2] == [
        ("Paper", "headline", "3", "2", "0", "1"),
        ("", "L", "2", "1", "0", "1"),
    ]
    entry = json.loads(json.dumps(written([paper])))[0]
    assert list(entry) == [
        "paper",
        "claims",
        "sentences",
        "reproduced",
        "reproduced in part",
        "not reproduced",
        "readings",
    ]
    assert entry["readings"][1] == {
        "reading": "T",
        "sentences": 2,
        "reproduced": 0,
        "reproduced in part": 1,
        "not reproduced": 1,
    }


def test_readings_of_two_questions_are_counted_on_the_sentences_of_each():
    first = Done([judged("a", ("L",)), judged("b", ("L",), choices=("L", "T"))], readings=READINGS)
    steps = {"bit": ["bit"], "symbol": ["symbol"]}
    second = Done([judged("c", ("symbol",), choices=("bit", "symbol"), by=steps)], readings=steps)
    (paper,) = count_sentences([first, second])
    # The second sentence lacks a reading of the first question.
    question = {"L": {YES: 1}, "T": {NO: 1}, "O": {NO: 1}}
    assert paper.by_reading == question | {"bit": {NO: 1}, "symbol": {YES: 1}}


def test_a_figure_that_is_ours_is_counted_apart():
    (only,) = count_sentences([Done([judged("a", ("L",))], ours=True)])
    assert only.paper == "Paper (ours)"


@pytest.mark.parametrize("one", FIGURES, ids=lambda one: one.id)
def test_sentences_and_readings_of_figures_name_claims_and_choices(one):
    claims = [claim.name for claim in one.claims]
    placed = [
        name for groups in (one.sentences, one.alternatives) for names in groups.values() for name in names
    ]
    assert len(set(placed)) == len(placed)
    assert set(placed) | set(one.not_in_paper) <= set(claims)
    for sentence in one.alternatives:
        own = [name for name in claims if one.sentence_of(name) == sentence]
        assert set(own) > set(one.alternatives[sentence]), f"{sentence} has alternatives only"
    if one.readings:
        assert sorted(choice for own in one.readings.values() for choice in own) == sorted(one.experiments)
        for claim in one.claims:
            choices = claim.choices or tuple(one.experiments)
            # The headline number is that of the first reading.
            first = next(own for own in one.readings.values() if set(own) & set(choices))
            assert choices[0] == next(choice for choice in first if choice in choices), claim.name
