"""Modules of Linux compared with the congestion control of the same name in the running kernel.

`linux:tcp_cubic.c` is simulated, and `kernel:cubic` runs on the backends with the kernel's TCP.
"""

import gzip
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from airpath._declared.tables import Values
from airpath.plugins.compiled.sources import read_sources
from airpath.plugins.specs import Spec, split_label
from airpath.scenario import Scenario
from airpath.scenario.refusals import Refusal
from airpath.scenario.resolve import scheme_of

SYSTEM: Final = Path("/")
"""The root of the running system."""
_TICKS: Final = "hz"
"""The parameter of a simulated module for the ticks of the kernel's clock in a second."""


def in_kernel(scenario: Scenario, system: Path = SYSTEM) -> Scenario:
    """Return the scenario with the kernel's own congestion controls in place of modules of Linux.

    Names that were given to schemes are left out: they belong to those of the simulator.

    Raises
    ------
    ScenarioError
        If the source of a module does not show its name in the kernel, or a parameter of the simulated
        module has another value in the kernel.
    """
    changes: dict[str, Any] = {
        f"flows.{number}.scheme": split_label(flow.scheme)[1]
        for number, flow in enumerate(scenario.document.flows)
        if flow.scheme is not None and split_label(flow.scheme)[0] is not None
    }
    for number, module, values in _modules(scenario):
        place = f"flows[{number}].scheme"
        name = read_sources(module.files).registered_name
        if name is None:
            problem = (
                "the source does not show under which name it registers; accepted with the kernel:"
                " tcp_register_congestion_control(&ops) with `.name` in `struct tcp_congestion_ops ops`"
            )
            raise scenario.refusal(Refusal("", "", place, problem))
        for key, value in values.items():
            own = _kernel_value(system, {f"tcp_{name}", module.file.stem}, key)
            if own is not None and own != value:
                problem = f"its {key} is {value}; accepted in comparison with kernel:{name}: {own}, as it has"
                raise scenario.refusal(Refusal("", "", place, problem))
        changes[f"flows.{number}.scheme"] = f"kernel:{name}"
        changes[f"flows.{number}.parameters"] = {}
    return scenario.override(changes) if changes else scenario


def with_ticks_of_kernel(scenario: Scenario, system: Path = SYSTEM) -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario in which modules of Linux have the clock of the running kernel.

    Returns
    -------
    tuple
        The scenario, unchanged if `hz` is given or the kernel's is not known, and notes on the settings.
    """
    ticks = ticks_of_kernel(system)
    changes = {
        f"flows.{number}.parameters.{_TICKS}": ticks
        for number, _, values in _modules(scenario)
        if _TICKS not in values.given
    }
    if ticks is None or not changes:
        return scenario, ()
    return scenario.override(changes), (f"simulated with hz={ticks}, the ticks of this kernel's clock",)


def ticks_of_kernel(system: Path = SYSTEM) -> int | None:
    """Return the ticks of the running kernel's clock in a second (CONFIG_HZ); `None` if not known."""
    for file in ("proc/config.gz", f"boot/config-{platform.release()}"):
        try:
            content = (system / file).read_bytes()
            text = gzip.decompress(content) if file.endswith(".gz") else content
        except OSError:
            continue
        if (found := re.search(rb"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)) is not None:
            return int(found[1])
    return None


def _modules(scenario: Scenario) -> Iterator[tuple[int, Spec, Values]]:
    """Yield the entries of flows with modules of Linux: number, module, and values of its parameters."""
    for number, flow in enumerate(scenario.document.flows):
        if flow.scheme is None or (spec := Spec.parse(flow.scheme)) is None or spec.program != "linux":
            continue
        yield number, spec, scheme_of(flow, f"flows[{number}]")[1]


def _kernel_value(system: Path, modules: set[str], parameter: str) -> int | bool | None:
    """Return the value of a parameter in the running kernel; `None` if no module has it."""
    for module in sorted(modules):
        try:
            text = (system / "sys/module" / module / "parameters" / parameter).read_text().strip()
        except OSError:
            continue
        return text == "Y" if text in ("Y", "N") else int(text)
    return None
