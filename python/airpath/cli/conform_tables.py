"""Tables and lines that `airpath conform` prints."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from airpath.conform.examination import Breach, Examination, Replay, RuleVerdict

if TYPE_CHECKING:
    from airpath.checks import Checked

KEPT, BROKEN, NOT_REQUIRED = "kept", "broken", "not required"
_GRADES: Final = {True: "interface", False: "good sense"}
_SEGMENT: Final = 1448
"""The segments of all lists, bytes."""
_OPERATIONS: Final = {
    "duplicate": "an acknowledgment without new data arrives",
    "lose": "the oldest packet is lost",
    "timeout": "the retransmission timer expires",
    "congestion_experienced": "the receiver echoes a CE mark",
    "spurious": "the last signal proves spurious",
}


def rules_table(examination: Examination, verdicts: Sequence[RuleVerdict]) -> Table:
    """Return the rules of a controller with their verdicts."""
    table = Table(title=examination.scheme, title_justify="left")
    for heading in ("grade", "rule", "verdict"):
        table.add_column(heading)
    table.add_column(f"lists of {examination.lists}", justify="right")
    for number, one in enumerate(verdicts):
        is_first = number == 0 or verdicts[number - 1].is_interface != one.is_interface
        if is_first and number:
            table.add_section()
        verdict = BROKEN if one.is_broken else KEPT if one.binds else NOT_REQUIRED
        lists = str(one.lists) if one.is_broken else ""
        cells = (_GRADES[one.is_interface] if is_first else "", one.text, verdict, lists)
        style = "" if not one.is_broken else "bold red" if one.is_interface else "yellow"
        table.add_row(*(Text(cell, style=style if cell == BROKEN else "") for cell in cells))
    return table


def summary_of(verdicts: Sequence[RuleVerdict]) -> str:
    """Return the verdicts in one sentence."""
    parts = []
    for is_interface, name in _GRADES.items():
        broken = sum(one.is_broken for one in verdicts if one.is_interface == is_interface)
        bind = sum(one.binds for one in verdicts if one.is_interface == is_interface)
        parts.append(f"{broken} of {bind} rules of {'the ' if is_interface else ''}{name} are broken")
    return "; ".join(parts)


def links_table(checked: "Checked") -> Table:
    """Return the results of a controller on hard links."""
    from airpath.checks.expectation import mean_text
    from airpath.metrics import METRICS

    table = Table()
    for heading in ("link", "metric", "expected", "measured", "verdict"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for case in checked.cases:
        for number, one in enumerate(case.judged):
            title, metric = "" if number else case.case.title, METRICS[one.metric].heading
            verdict = Text("met") if one.passed else Text("not met", style="yellow")
            table.add_row(title, metric, one.expected, mean_text(one.measured), verdict)
    return table


def breach_lines(breaches: Sequence[Breach], verdicts: Sequence[RuleVerdict]) -> Iterator[str]:
    """Yield a line for each rule that a list of operations breaks."""
    texts = {one.rule: one.text for one in verdicts}
    if not breaches:
        yield "every rule is kept"
    for one in breaches:
        place = "at the start" if one.operation is None else f"at operation {one.operation + 1}"
        yield f"broken {place}: {texts[one.rule]} ({one.message})"


def steps_table(operations: Sequence[Any], replay: Replay) -> Table:
    """Return the operations of a list, with the state after each."""
    table = Table(
        caption=f"amounts in segments of {_SEGMENT} bytes, after the operation", caption_justify="left"
    )
    for heading in ("", "operation", "time (s)", "in flight", "window", "threshold"):
        table.add_column(heading, justify="left" if heading == "operation" else "right")
    for number, operation in enumerate(operations):
        cells: tuple[str, ...] = ("", "", "", "")
        if number < len(replay.steps):
            step = replay.steps[number]
            amounts = (step.in_flight_bytes, step.window_bytes, step.ssthresh_bytes)
            cells = (f"{step.time_s:g}", *map(_segments, amounts))
        table.add_row(str(number + 1), operation_text(operation), *cells)
    return table


def operation_text(operation: Any) -> str:
    """Return an operation of a file in words."""
    if isinstance(operation, str):
        return _OPERATIONS[operation]
    ((name, value),) = operation.items()
    if name == "send":
        return f"up to {value} {'packet is' if value == 1 else 'packets are'} sent"
    if name == "wait":
        return f"{value} ms pass"
    count = value["count"]
    limited = "" if value["window_limited"] else ", and the window did not limit the sender"
    word = "" if value["word"] is None else f", and routers allow {value['word']:+} segments"
    return f"up to {count} {'packet is' if count == 1 else 'packets are'} acknowledged{limited}{word}"


def _segments(amount: int | None) -> str:
    """Return an amount in segments; nothing for no amount or an infinite one."""
    return "" if amount is None or amount >= 2**60 else f"{amount / _SEGMENT:.6g}"
