"""The rules, each a function from a configuration to its violations."""

from collections.abc import Callable, Iterator

from airpath_lint.findings import Finding
from airpath_lint.rules.context import Context
from airpath_lint.rules.delay import delay_rules
from airpath_lint.rules.ingress import ingress_rules
from airpath_lint.rules.loss import loss_rules
from airpath_lint.rules.placement import placement_rules
from airpath_lint.rules.shapers import shaper_rules
from airpath_lint.rules.statistics import statistics_rules
from airpath_lint.rules.units import unit_rules

_GROUPS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    unit_rules,
    delay_rules,
    loss_rules,
    placement_rules,
    shaper_rules,
    ingress_rules,
    statistics_rules,
)


def judge(context: Context) -> list[Finding]:
    """Return the findings of all rules, each once."""
    found: dict[tuple[object, ...], Finding] = {}
    for group in _GROUPS:
        for one in group(context):
            found.setdefault((one.rule.name, one.place, one.device, one.handle, one.what), one)
    return list(found.values())


__all__ = ["Context", "judge"]
