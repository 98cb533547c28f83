"""The output of `airpath lint`."""

from collections import Counter

from rich.markup import escape
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Picture

from airpath.cli.output import show
from airpath.units import format_duration, format_rate
from airpath_lint.amounts import MOST_DEEP
from airpath_lint.describe import buffer_text, burst_text, describe_entry, loss_text, queue_text
from airpath_lint.findings import Finding, Level
from airpath_lint.linting import Linted
from airpath_lint.setup import Discipline, TrafficClass, Tree, major

_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.NOTE: "dim"}


def print_linted(linted: Linted) -> None:
    """Print a configuration, the resulting link, and the findings."""
    for tree in linted.trees:
        show(_picture(tree))
    if not linted.trees:
        show("no configuration: all devices have their default disciplines")
    if linted.directions.lanes:
        show(_amounts(linted))
    if linted.findings:
        show(_findings(linted))
    counted = Counter(one.rule.level for one in linted.findings)
    show(", ".join(f"{counted[level]} {level.value}{'s' * (counted[level] != 1)}" for level in Level))


def printable(text: str) -> str:
    """Return a text without terminal control characters: inputs are not trusted."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _picture(tree: Tree) -> Picture:
    picture = Picture(escape(printable(str(tree.device))))
    drawn: set[int] = set()
    for one in tree.disciplines:
        if tree.named(major(one.parent)) is None:
            _draw(tree, one, picture, drawn, 0)
    return picture


def _draw(tree: Tree, one: Discipline | TrafficClass, picture: Picture, drawn: set[int], depth: int) -> None:
    if id(one) in drawn or depth > 2 * MOST_DEEP:
        return
    drawn.add(id(one))
    branch = picture.add(Text(printable(describe_entry(one))))
    name = one.classid if isinstance(one, TrafficClass) else one.handle
    below: list[Discipline | TrafficClass] = [
        found for found in tree.classes.values() if name and found.parent == name
    ]
    for other in tree.disciplines:
        of_no_class = major(other.parent) == name and other.parent not in tree.classes
        if name and (other.parent == name or (isinstance(one, Discipline) and of_no_class)):
            below.append(other)
    for entry in below:
        _draw(tree, entry, branch, drawn, depth + 1)


def _amounts(linted: Linted) -> Table:
    table = Table("egress", "rate", "delay", "base RTT", "buffer", "queue", "loss", "mean burst")
    for lane in linted.directions.lanes:
        jitter = f" ± {format_duration(lane.jitter_ns, 3)}" if lane.jitter_ns else ""
        table.add_row(
            Text(printable(lane.name)),
            format_rate(lane.rate_bps, 6) if lane.rate_bps else "not limited",
            f"{format_duration(lane.delay_ns, 6)}{jitter}",
            format_duration(linted.directions.rtt_ns(lane), 6),
            buffer_text(lane, linted.directions),
            queue_text(lane),
            loss_text(lane.mean_loss),
            burst_text(lane.mean_burst),
        )
    return table


def _findings(linted: Linted) -> Table:
    table = Table("level", "rule", "where", "finding, reason, and fix", show_lines=True)
    for one in linted.findings:
        lines = [one.what, f"why: {one.rule.why}", *([f"fix: {one.instead}"] if one.instead else [])]
        table.add_row(
            Text(one.rule.level.value, style=_STYLES[one.rule.level]),
            one.rule.name,
            Text(printable(_where(one))),
            Text("\n".join(printable(line) for line in lines)),
        )
    return table


def _where(one: Finding) -> str:
    line = f":{one.place.line}" if one.place.line else ""
    return " ".join(part for part in (f"{one.place.source}{line}", one.device, one.handle) if part)
