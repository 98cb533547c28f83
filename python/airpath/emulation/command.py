"""A command over an emulated link."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from airpath import _core
from airpath._backends.validity import Validity
from airpath._os.interrupts import InterruptRequest
from airpath.emulation.connections import Connections, with_back_flow, with_connections
from airpath.errors import EmulationError, UsageError
from airpath.results import Results, RunRecord
from airpath.scenario import Scenario
from airpath.scenario.traces import read_trace

CLIENT: Final = "10.7.0.1"
"""The command's address."""
SERVER: Final = "10.8.0.1"
"""The server's address."""
SERVER_STARTS_WITHIN_S: Final = 10.0
LOOK_EVERY_S: Final = 0.02
KILLED: Final = 124
"""Exit code of a command that did not end within the duration, as that of `timeout`."""


@dataclass(frozen=True)
class CommandResult:
    """The outcome of a command over an emulated link.

    Attributes
    ----------
    exit_code
        That of the command; 128 + n if signal n killed it, 124 if the duration was over before it ended.
    validity
        Evidence that the emulation behaved as configured.
    connections
        The TCP connections between the two hosts.
    results
        The tables of links and connections, as of a simulation; `None` if the command took less than one
        interval of the series.
    """

    exit_code: int
    validity: Validity
    connections: Connections
    results: Results | None = field(repr=False)


class CaptureUnfinishedError(EmulationError):
    """The capture of hosts could not be written completely; everything else is available.

    Attributes
    ----------
    result
        The outcome of the command.
    """

    def __init__(self, message: str, result: CommandResult) -> None:
        super().__init__(message)
        self.result = result


def emulate(
    command: Sequence[str],
    scenario: Scenario,
    *,
    server: Sequence[str] | None = None,
    capture: tuple[Path, Sequence[str]] | None = None,
    to_stderr: bool = False,
) -> CommandResult:
    """Run a command in the senders' host of a scenario, until it ends or the scenario's duration is over.

    Parameters
    ----------
    command
        The command and its arguments. It finds its own address and the server's in the environment variables
        `AIRPATH_CLIENT` and `AIRPATH_SERVER`.
    scenario
        The network; the command's packets take the path of its first flow.
    server
        A command for the receivers' host, with its arguments. It is started first; the command is started
        once the server listens.
    capture
        A file for the packets at the devices of hosts (pcapng), and which hosts: "senders", "receivers".
        Packets at links are captured if the scenario requests it (`record.capture`).
    to_stderr
        Redirect the command's standard output to standard error.

    Returns
    -------
    CommandResult

    Raises
    ------
    EmulationError
        If the system does not allow emulations, or a command cannot be started.
    CaptureUnfinishedError
        If the capture could not be written; contains the result.
    ScenarioError
        If the scenario cannot be emulated.
    """
    if not command:
        raise UsageError("no command was given; write it after --")
    plan, others = with_back_flow(scenario.plan())
    emulation = _start(scenario, plan, capture, others)
    started = time.perf_counter()
    environment = {"AIRPATH_CLIENT": CLIENT, "AIRPATH_SERVER": SERVER}
    with InterruptRequest() as request, TemporaryDirectory(prefix="airpath-") as folder:
        try:
            if server is not None:
                _serve(emulation, server, environment, Path(folder) / "server", request)
            process = _spawn(emulation, "senders", command, environment, to_stderr=to_stderr)
            code = _wait(emulation, process)
        finally:
            tables, quantities, packets, raw, of_connections, unwritten = _stop(emulation)
    validity = Validity.from_engine(raw, [str(link["name"]) for link in plan["links"]])
    connections = Connections.from_engine(of_connections)
    interval = plan["record"]["interval_ns"]
    whole = min(int(validity.lasted_s * 1e9) // interval * interval, plan["duration_ns"])
    results = None
    if whole:
        record = RunRecord(
            scheme="command",
            scenario_name=scenario.name,
            seed=scenario.seed,
            repetition=0,
            plan={**with_connections(plan, others, connections, tables), "duration_ns": whole},
            tables=tables,
            capture=packets,
            wall_s=time.perf_counter() - started,
            flow_schemes=connections.schemes,
            flow_groups=connections.groups(tables),
            quantities=quantities,
            world="emulate",
            validity={**validity.as_json(), "connections": connections.as_json()},
        )
        results = Results.from_records([record])
    result = CommandResult(code, validity, connections, results)
    if unwritten is not None and capture is not None:
        raise CaptureUnfinishedError(f"{capture[0]}: {unwritten}", result)
    return result


def _start(
    scenario: Scenario,
    plan: dict[str, Any],
    capture: tuple[Path, Sequence[str]] | None,
    connections: tuple[int, int] | None,
) -> "_core.Emulation":
    if not hasattr(_core, "Emulation"):
        raise EmulationError("emulations need Linux: network namespaces and TUN devices")
    traces = [read_trace(trace) for trace in scenario.traces]
    to = None if capture is None else (capture[0], list(capture[1]))
    try:
        return _core.Emulation(json.dumps(plan), traces, scenario.seed, to, connections)
    except _core.PlanError as error:
        raise scenario.refused(error) from None
    except _core.EmulationFailed as error:
        raise EmulationError(str(error)) from None


def _stop(
    emulation: "_core.Emulation",
) -> tuple[Any, list[str], bytes | None, dict[str, Any], dict[str, Any] | None, str | None]:
    try:
        return emulation.stop()
    except _core.EmulationFailed as error:
        raise EmulationError(str(error)) from None


def _spawn(
    emulation: "_core.Emulation",
    host: str,
    command: Sequence[str],
    environment: dict[str, str],
    *,
    output: Path | None = None,
    to_stderr: bool = False,
) -> "_core.EmulatedProcess":
    try:
        return emulation.spawn(host, list(command), environment, output, to_stderr)
    except _core.EmulationFailed as error:
        raise EmulationError(str(error)) from None


def _serve(
    emulation: "_core.Emulation",
    server: Sequence[str],
    environment: dict[str, str],
    output: Path,
    request: InterruptRequest,
) -> None:
    """Start the server and wait until it listens."""
    process = _spawn(emulation, "receivers", server, environment, output=output)
    until = time.monotonic() + SERVER_STARTS_WITHIN_S
    while not emulation.is_listening("receivers"):
        request.raise_if_made()
        code = process.poll()
        if code is not None or time.monotonic() > until:
            said = output.read_text(encoding="utf-8", errors="replace").strip()
            what = "does not listen" if code is None else f"ended with exit code {code}"
            raise EmulationError(f"the server `{' '.join(server)}` {what}" + (f": {said}" if said else ""))
        time.sleep(LOOK_EVERY_S)


def _wait(emulation: "_core.Emulation", process: "_core.EmulatedProcess") -> int:
    """Wait for the command. The command handles Ctrl-C itself; a second Ctrl-C interrupts this process."""
    while (code := process.poll()) is None:
        if emulation.is_over:
            process.kill()
            return KILLED
        time.sleep(LOOK_EVERY_S)
    return code if code >= 0 else 128 - code
