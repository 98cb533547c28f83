"""`airpath doctor`: checks of the installation."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Literal

import typer

from airpath.cli import doctor_emulation
from airpath.cli.output import JsonOption, show, show_json

HELP = """\
Checks versions, the engine with a short run, fonts, processors, permissions and backends. `broken` parts are
needed by every run and give exit code 1; `missing` parts are needed by emulations (`airpath emulate`) or are
optional.

Examples:

    airpath doctor

    airpath doctor --json | jq '.checks[] | select(.state != "good")'

    airpath doctor --json | jq .worlds
"""

State = Literal["good", "missing", "broken"]
"""`missing` parts are not needed by simulations."""
TOLERANCE: Final = 0.001
"""Tolerance of the self-test, as a fraction: one part in a thousand."""


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    state: State
    detail: str


def doctor(as_json: JsonOption = False) -> None:
    """Check this installation."""
    checks = [_guarded(name, check) for name, check in CHECKS.items()]
    lacks = doctor_emulation.lacking([check.name for check in checks if check.state == "good"])
    checks.append(
        Check("worlds", "missing" if any(lacks.values()) else "good", doctor_emulation.worlds_text(lacks))
    )
    healthy = all(check.state != "broken" for check in checks)
    if as_json:
        can = [world for world, lacked in lacks.items() if not lacked]
        show_json({"healthy": healthy, "worlds": can, "checks": [asdict(check) for check in checks]})
    else:
        from rich.table import Table

        table = Table("", "", "", show_header=False, box=None, padding=(0, 2))
        for check in checks:
            table.add_row(check.name, check.state, check.detail)
        show(table)
        show(verdict(checks))
    if not healthy:
        raise typer.Exit(1)


def verdict(checks: Sequence[Check]) -> str:
    """Return the last line: the broken parts, else the missing parts, else that everything works."""
    broken, missing = (
        ", ".join(check.name for check in checks if check.state == state) for state in ("broken", "missing")
    )
    if broken:
        return f"broken: {broken}; simulations cannot be trusted until this is repaired"
    if missing:
        return f"simulations work; missing, and needed only for what their lines name: {missing}"
    return "everything works"


def versions() -> tuple[State, str]:
    """Return the versions of airpath, Python and the packages that matter for results."""
    from airpath import __version__

    packages = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("numpy", "pyarrow", "matplotlib", "pydantic")
    )
    return "good", f"airpath {__version__}, Python {platform.python_version()}, {packages}"


def engine() -> tuple[State, str]:
    """Check whether the extension loads."""
    from airpath import _core

    return "good", f"airpath._core {_core.__version__}"


def self_test() -> tuple[State, str]:
    """Simulate one second of a constant window over one link: min(W / RTT, C) is known in advance.

    The window is larger than the bandwidth-delay product, so the link must be busy all the time, and the
    round-trip time must be the time that the window takes to pass the link.
    """
    from airpath.runner import run
    from airpath.scenario import Scenario

    rate_bps, window, packet_bytes = 100_000_000, 100, 1500
    results = run(
        Scenario.from_dict(
            {
                "name": "self-test",
                "duration": "1s",
                "record": {"warm_up": "200ms"},
                "topology": {
                    "kind": "dumbbell",
                    "bottleneck": {
                        "rate": "100mbps",
                        "delay": "2ms",
                        "queue": {"kind": "drop-tail", "limit": "1MB"},
                    },
                    "reverse": {"rate": "unlimited"},
                },
                "transport": {"delayed_ack_segments": 1},
                "flows": [{"name": "flow", "scheme": "fixed", "parameters": {"window": f"{window} packets"}}],
            }
        ),
        progress=False,
    )
    utilisation = results.summary["utilisation"][0].as_py()
    srtt_s, expected_s = results.flows["srtt_s"][0].as_py(), window * packet_bytes * 8 / rate_bps
    detail = f"utilisation {utilisation:.5f} of 1, RTT {srtt_s * 1e3:.3f} ms of {expected_s * 1e3:g} ms"
    good = abs(utilisation - 1) <= TOLERANCE and abs(srtt_s / expected_s - 1) <= TOLERANCE
    return ("good" if good else "broken"), detail


def figures() -> tuple[State, str]:
    """Check whether matplotlib plots, and with which font."""
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.figure import Figure

    from airpath.plots import render

    figure = Figure()
    figure.add_subplot().plot([0, 1])
    render(figure, "png")
    font = Path(font_manager.findfont(font_manager.FontProperties())).stem
    return "good", f"backend {mpl.get_backend()}, font {font}"


def processors() -> tuple[State, str]:
    """Return the number of simultaneous runs."""
    from airpath.runner import workers

    return "good", f"{os.cpu_count()} in the machine, {workers(None)} for airpath"


def current_directory() -> tuple[State, str]:
    """Check whether results can be written here."""
    with TemporaryFile(dir=Path.cwd()):
        return "good", f"{Path.cwd()} is writable"


def tshark() -> tuple[State, str]:
    """Check for Wireshark's command line, which reads the captures; airpath itself does not need it."""
    command = shutil.which("tshark")
    if command is None:
        return "missing", "not installed (optional: reads the captures that airpath writes)"
    told = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=20, check=True)
    return "good", told.stdout.splitlines()[0]


def c_compiler() -> tuple[State, str]:
    """Check for a C compiler, which controllers of other programs need; airpath itself does not need it."""
    from airpath.errors import UsageError
    from airpath.plugins.compiled.compiler import Compiler

    try:
        return "good", Compiler.find().version
    except UsageError as error:
        return "missing", f"{error} (optional: `linux:FILE.c`, `picoquic:FILE.c`)"


def learning() -> tuple[State, str]:
    """Check whether environments for learning can be created; airpath itself does not need them."""
    if find_spec("gymnasium") is None:
        return "missing", "gymnasium is not installed (optional: pip install airpath[rl])"
    import gymnasium

    from airpath.learning import ENVIRONMENT

    env = gymnasium.make(ENVIRONMENT, link="12mbps", duration="1s")
    env.reset(seed=1)
    env.step(env.action_space.sample())
    env.close()
    return "good", f"gymnasium {metadata.version('gymnasium')}, {ENVIRONMENT}"


CHECKS: Final[dict[str, Callable[[], tuple[State, str]]]] = {
    "versions": versions,
    "engine": engine,
    "self-test": self_test,
    "figures": figures,
    "processors": processors,
    "current directory": current_directory,
    "tshark": tshark,
    "C compiler": c_compiler,
    "learning": learning,
    **doctor_emulation.CHECKS,
}
OPTIONAL: Final = frozenset(["tshark", "C compiler", "learning", *doctor_emulation.CHECKS])
"""Checks that simulations do not need."""


def _guarded(name: str, check: Callable[[], tuple[State, str]]) -> Check:
    """Run one check; a failure must not hide the others."""
    try:
        state, detail = check()
    except Exception as error:  # any error is the result of the check
        return Check(name, "missing" if name in OPTIONAL else "broken", f"{type(error).__name__}: {error}")
    return Check(name, state, detail)
