"""The engine as a Python module."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, final

import numpy as np

__version__: str
COMMIT: str
"""The commit that the engine was built from; empty outside a checkout."""
RUSTC: str
"""The version of the compiler that built it."""

class PlanError(ValueError):
    """The plan cannot be run.

    Arguments: message, and for a wrong value: the part of the plan (`link`, `flow` or nothing), its name, the
    field, the number that was found or `None`, and the problem.
    """

class ComponentError(ValueError):
    """A component is rejected.

    Arguments: the parameter (empty for the component as a whole), the problem, and the values with their
    defaults as JSON.
    """

class RunCancelled(RuntimeError):  # noqa: N818 - the engine's name
    """The run was cancelled before its end."""

class PluginFailed(Exception):  # noqa: N818 - the engine's name
    """A component of the user failed.

    Arguments: the simulated time, s, or `None` at the start of a connection; the problem, or `None` if the
    cause of this exception is that of code in Python; then the name of the component.
    """

    index: int
    """The place of the failed episode, if a step of `Episodes` raised this."""

class LibraryError(ValueError):
    """The file is not a library with components; argument: the problem."""

class TraceFormatError(ValueError):
    """The bytes are not a trace; arguments: message, line number (0 if no line is at fault)."""

class CaptureFormatError(ValueError):
    """The bytes are not a capture."""

def component_schemas() -> str:
    """Return the JSON schemas of all components, as JSON: `{kind: {id: schema}}`."""

def complete_component(kind: str, component: str, context: str) -> str:
    """Return the values of a component with all defaults, as JSON.

    `component` is its id, or a table with the key `kind`; `context` has the keys `packet`, `mean_bps` and
    `mss`, all optional. Both are JSON.
    """

def table_descriptions() -> str:
    """Return a list of all tables of runs, as JSON: name, rows, optional, columns.

    A column has the keys `name`, `engine_type` and `description`, and one of `unit`, `names` (of codes from
    0) and `names_of_run` (the list of a run that has them).
    """

def rewritten_plan(plan: str) -> str:
    """Read a plan and write it back, both JSON, with every field and every parameter of its components."""

def analyse_capture(
    path: str,
    estimators: list[tuple[str, str]],
    on_progress: Callable[[int], None] | None = None,
    plugins: Sequence[Plugin] = ...,
) -> dict[str, Any]:
    """Read a capture and replay its flows into estimators: name, and plan as JSON.

    `on_progress` is called from time to time with the number of bytes read. Signals are handled meanwhile.
    Times in ns, rates in bit/s, None for missing values.
    """

class LinkLogFormatError(ValueError):
    """The bytes are not a log of a link."""

def read_link_log(path: str, on_progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Read a log of a link: facts of the file, and the columns of each kind of event as bytes.

    `on_progress` is called from time to time with the number of bytes read. Signals are handled meanwhile.
    Times are int64 in ns, other columns uint32, little-endian.
    """

def is_qlog(first: bytes) -> bool:
    """Return whether a file that begins with these bytes, decompressed, is read as a log of QUIC."""

def analyse_qlog(
    path: str,
    estimators: list[tuple[str, str]],
    on_progress: Callable[[int], None] | None = None,
    plugins: Sequence[Plugin] = ...,
) -> dict[str, Any]:
    """Read a log of QUIC (qlog) and replay its connections into estimators, as `analyse_capture` does.

    Returns the same, except values that only TCP has; `logged` are the columns of the series in the log
    itself.
    """

def packet_loss(bursts: str, size: int) -> float:
    """Return the exact probability that bursts (of a plan, JSON) corrupt a packet of `size` bytes."""

def independent_packet_loss(bursts: str, size: int) -> float | None:
    """Return the same for independent byte errors; `None` if packets are not coded."""

def mean_rate(rate: str, run_ns: int) -> float | None:
    """Return the mean of a rate (of a plan, JSON) in bits per second; `None` if unlimited or recorded.

    The mean of a schedule is that over one period if it repeats, and over the run otherwise.
    """

def rate_changes(rate: str) -> tuple[list[int], int | None] | None:
    """Return when a rate (of a plan, JSON) may change; `None` if it is unlimited or recorded.

    The times are in nanoseconds since the start of a period; the second value is the length of a period,
    `None` if they do not repeat.
    """

@final
class Library:
    """A shared library with components (`airpath_controller.h`, `airpath_components.h`).

    It stays loaded until the process ends.
    """

    def __new__(cls, path: os.PathLike[str]) -> Library: ...
    @property
    def schemas(self) -> dict[str, str]:
        """JSON schemas of the parameters of its components by kind, each with title and description."""

@final
class Simulation:
    """One run: a plan (JSON), the traces that it refers to by number, and a seed.

    It uses the simulator's own transport, or QUIC. `plugins` are components that are not part of the engine.
    """

    def __new__(
        cls,
        plan: str,
        traces: list[Trace],
        seed: int,
        over_quic: bool = False,
        plugins: Sequence[Plugin] = ...,
    ) -> Simulation: ...
    def run(
        self,
    ) -> tuple[dict[str, dict[str, np.ndarray]], bytes | None, dict[str, Any]]:
        """Run to the end: tables, capture, counts. Can be called once.

        The interpreter lock is released, unless a component is written in Python.

        The counts are whole numbers, and `quantities` the names of those in `link_observations` and
        `flow_observations`; `logs` are those of flows (qlog): the flow, its events without a header.
        """

    def cancel(self) -> None:
        """Request that the run stop soon; `run` then raises `RunCancelled`."""

    @property
    def plugin_calls(self) -> int | None:
        """Return how many calls of components in Python have begun or ended: odd during a call.

        `None` if there are no such components.
        """

    @property
    def progress(self) -> float:
        """Return the finished share of simulated time, 0 to 1."""

@final
class Conformance:
    """The examination of a controller of a plan (JSON) by numbered lists of operations of a seed.

    `plugins` are as those of `Simulation`; `describe` converts their errors to text.
    """

    def __new__(
        cls,
        controller: str,
        seed: int,
        plugins: Sequence[Plugin],
        describe: Callable[[BaseException], str],
    ) -> Conformance: ...
    def examine(self, lists: int) -> None:
        """Examine the next lists. The interpreter lock is released, unless the controller is in Python."""

    def operations(self, number: int) -> str:
        """Return the list of operations with a number, as JSON."""

    def findings(self) -> str:
        """Return the number of examined lists, and how many of them broke each rule, as JSON."""

    def shortest(self, rule: str) -> str | None:
        """Return a short list of operations that breaks a rule, and the operation at which it does, as JSON.

        `None` if no examined list does.
        """

    def replay(self, operations: str) -> str:
        """Return the effects of a list of operations (JSON): states and broken rules, as JSON."""

    @property
    def plugin_calls(self) -> int | None:
        """Return the same as `Simulation.plugin_calls`."""

Plugin = tuple[str, str, str, Callable[[str], Controller | Estimator | CapacitySource | Queue] | Library]
"""A component that is not part of the engine: its kind, its name in plans, the JSON schema of its parameters,
and either a library or a function from their values (JSON) to an object.
"""

class Controller:
    """The base class of controllers in Python; `airpath.Controller` describes it."""

    window: float
    pacing_rate: float | None
    quantum: float | None
    ssthresh: float | None
    next_timer: float | None

    def __new__(cls, *arguments: object, **named: object) -> Self: ...
    @property
    def seed(self) -> int:
        """The seed of the controller's random numbers."""

    def record(self, name: str, value: float) -> None:
        """Record a quantity. The table `flow_observations` has its last value in each interval."""

class Estimator:
    """The base class of ACK-rate estimators in Python; `airpath.Estimator` describes it."""

    sample: float | None
    estimate: float | None
    minimum_rtt: float | None

    def __new__(cls, *arguments: object, **named: object) -> Self: ...

class CapacitySource:
    """The base class of capacity sources in Python; `airpath.CapacitySource` describes it."""

    capacity: float | None
    probing: float
    next_timer: float | None

    def __new__(cls, *arguments: object, **named: object) -> Self: ...
    def record(self, name: str, value: float) -> None:
        """Record a quantity. The table `link_observations` has its last value in each interval."""

class Queue:
    """The base class of queue disciplines in Python; `airpath.Queue` describes it."""

    next_timer: float | None

    def __new__(cls, *arguments: object, **named: object) -> Self: ...
    @property
    def limit_bytes(self) -> int | None:
        """Limit of the backlog in bytes; `None` if there is no such limit."""

    @property
    def limit_packets(self) -> int | None:
        """Limit of the backlog in packets; `None` if there is no such limit."""

    @property
    def bytes(self) -> int:
        """Backlog in bytes."""

    @property
    def packets(self) -> int:
        """Backlog in packets."""

    @property
    def seed(self) -> int:
        """The seed of the queue's random numbers."""

    def fits(self, packet: QueuedPacket) -> bool:
        """Return whether a packet fits into the buffer together with the backlog."""

    def drop(self, packet: QueuedPacket) -> None:
        """Drop a waiting packet."""

    def record(self, name: str, value: float) -> None:
        """Record a quantity. The table `link_observations` has its last value in each interval."""

@final
class QueuedPacket:
    """A packet of a queue in Python."""

    @property
    def size(self) -> int:
        """Its size on the wire, bytes."""

    @property
    def flow(self) -> int:
        """The number of its flow and direction."""

    @property
    def is_data(self) -> bool:
        """Whether it carries data; otherwise it is an acknowledgment."""

    @property
    def ecn_capable(self) -> bool:
        """Whether it may be marked."""
    @property
    def ect1(self) -> bool:
        """Whether its sender expects marks of an L4S queue: ECT(1)."""

    @property
    def marked(self) -> bool:
        """Whether it is marked."""

    def mark(self) -> bool:
        """Mark it (congestion experienced), and return whether it may be marked."""

@final
class LinkFacts:
    """The properties of a link that are known before its first packet."""

    buffer: int
    """The buffer of the link, bytes."""

@final
class Waiting:
    """The backlog of a link's queue."""

    bytes: int
    """Bytes on the wire."""
    packets: int
    """Packets."""

@final
class Interval:
    """Measurements of a router over a control interval."""

    now: float
    """End of the interval, s."""
    length: float
    """Length of the interval, s."""
    input_rate: float
    """Arrivals, bit/s."""
    probing: float
    """The factor by which the capacity is multiplied."""
    mean_rtt: float
    """The mean round-trip time of the flows, s."""
    queue: float
    """The queue that the protocol requests to drain, bytes."""
    shortest_queue: float
    """The shortest queue, bytes."""
    mean_queue: float
    """The mean queue over time, bytes."""
    last_queue: float
    """The queue at the end, bytes."""
    buffer: float
    """The size of the buffer, bytes."""

@final
class Facts:
    """The properties of a connection that are known before its first packet."""

    mss: int
    """The largest payload of a packet, bytes."""
    initial_window: int
    """The initial window of the transport, bytes."""
    handshake_rtt: float | None
    """The round-trip time of the handshake, s; `None` if there was none."""

@final
class Ack:
    """An acknowledgment. Valid during the call only."""

    @property
    def now(self) -> float:
        """Time of its arrival, s."""

    @property
    def now_ns(self) -> int:
        """Time of its arrival, ns."""

    @property
    def acked(self) -> int:
        """Payload that it newly acknowledges, cumulatively or selectively, bytes."""

    @property
    def advance(self) -> int:
        """Payload by which the cumulative acknowledgment advanced, bytes."""

    @property
    def duplicate(self) -> bool:
        """Whether it advances nothing while data is outstanding (RFC 5681, section 2)."""

    @property
    def newly_lost(self) -> int:
        """Payload that it reveals as lost, bytes."""

    @property
    def in_flight_before(self) -> int:
        """Payload in flight before it was processed, bytes."""

    @property
    def in_flight(self) -> int:
        """Payload in flight after it was processed, bytes."""

    @property
    def in_flight_at_send(self) -> int:
        """Payload in flight when the newest packet that it acknowledges was sent, bytes; 0 if unknown."""

    @property
    def mss(self) -> int:
        """The largest payload of a packet, bytes."""

    @property
    def rtt(self) -> float | None:
        """Its sample of the round-trip time, s; `None` under Karn's rule or without new data."""

    @property
    def smoothed_rtt(self) -> float | None:
        """SRTT of RFC 6298, s; `None` before the first sample."""

    @property
    def rtt_variation(self) -> float | None:
        """RTTVAR of RFC 6298, s; `None` before the first sample."""

    @property
    def minimum_rtt(self) -> float | None:
        """The smallest sample of the connection, s; `None` before the first."""

    @property
    def delivery_rate(self) -> float | None:
        """Its delivery-rate sample, bit/s; `None` if none could be taken."""

    @property
    def app_limited(self) -> bool:
        """Whether the sender had nothing to send during the delivery-rate sample."""

    @property
    def round(self) -> int:
        """Round trips since the connection began, counted by packets."""

    @property
    def window_limited(self) -> bool:
        """Whether the window limited the sender, and not the application or the receiver."""

    @property
    def in_recovery(self) -> bool:
        """Whether losses are being repaired."""

    @property
    def congestion_experienced(self) -> bool:
        """Whether the receiver echoes a CE mark."""

    @property
    def latest_sent_at(self) -> float | None:
        """Send time of the newest packet that it acknowledges, s; `None` if it acknowledges nothing new."""

    @property
    def receiver_time(self) -> float | None:
        """The receiver's clock when it sent the acknowledgment (TCP timestamp), s; `None` if not carried."""

    @property
    def marked(self) -> int:
        """Data that arrived marked CE since the last acknowledgment, bytes; with accurate ECN only."""

@final
class Signal:
    """A congestion signal. Valid during the call only."""

    @property
    def now(self) -> float:
        """Time at which it reached the sender, s."""

    @property
    def kind(self) -> Literal["loss", "mark", "timeout"]:
        """A loss (once for each window of data), an echoed mark (at most once a round trip) or a timeout."""

    @property
    def flight_size(self) -> int:
        """Payload that was sent and not cumulatively acknowledged, bytes (FlightSize of RFC 5681)."""

    @property
    def lost(self) -> int:
        """Payload that was detected as lost with the signal, bytes."""

    @property
    def mss(self) -> int:
        """The largest payload of a packet, bytes."""

    @property
    def smoothed_rtt(self) -> float | None:
        """SRTT of RFC 6298, s; `None` before the first sample."""

    @property
    def minimum_rtt(self) -> float | None:
        """The smallest sample of the connection, s; `None` before the first."""

    @property
    def consecutive(self) -> int:
        """For a timeout: the number of timeouts since the last new acknowledgment, including this one."""

@final
class Sent:
    """A data packet that leaves the sender. Valid during the call only."""

    @property
    def now(self) -> float:
        """Time of its departure, s."""

    @property
    def payload(self) -> int:
        """Its payload, bytes."""

    @property
    def in_flight(self) -> int:
        """Payload in flight including it, bytes."""

    @property
    def retransmission(self) -> bool:
        """Whether it is a retransmission."""

    @property
    def app_limited(self) -> bool:
        """Whether the sender had run out of data before it."""

    @property
    def mss(self) -> int:
        """The largest payload of a packet, bytes."""

@final
class Episodes:
    """Several episodes: each is a run with one flow that an agent controls."""

    def __new__(cls, count: int) -> Episodes: ...
    @staticmethod
    def quantities() -> list[str]:
        """Return the names of the columns that `step` returns, with their units."""

    def begin(
        self,
        index: int,
        plan: str,
        traces: list[Trace],
        seed: int,
        plugins: Sequence[Plugin] = ...,
    ) -> None:
        """Begin episode `index`, replacing the previous one. `plugins` are as those of `Simulation`."""

    def step(
        self, chosen: np.ndarray, windows: np.ndarray, rates: np.ndarray, length_ns: int, threads: int
    ) -> np.ndarray:
        """Simulate one step of each chosen episode, with the interpreter lock released.

        Windows are bytes of payload, rates bits of payload per second or NaN for none. Returns a row for each
        episode; NaN if it was not chosen.
        """

    def finish(self, index: int) -> tuple[dict[str, dict[str, np.ndarray]], bytes | None, dict[str, Any]]:
        """Run an episode to the end of its plan, and return what `Simulation.run` returns; once."""

    def clear(self) -> None:
        """Release all episodes."""

def kernel_congestion_controls() -> list[str]:
    """Return the names of the congestion controls of the kernel. Only on Linux."""

@final
class EmulatedRun:
    """One run in real time: a plan (JSON) with controllers of the kernel, traces, a seed. Only on Linux.

    `routers` are the links whose queue and rate are those of a router of the kernel. `prepare` is called with
    the files of both hosts' network namespaces, the name of their devices, and (link, file) for each router.
    """

    def __new__(
        cls,
        plan: str,
        traces: list[Trace],
        seed: int,
        prepare: Callable[[list[Path], str, list[tuple[int, Path]]], None] | None = None,
        routers: list[int] = ...,
    ) -> EmulatedRun: ...
    def run(
        self,
    ) -> tuple[dict[str, dict[str, np.ndarray]], bytes | None, dict[str, Any]]:
        """Run to the end with the interpreter lock released: tables, capture, counts with `validity`."""

    def cancel(self) -> None:
        """Request that the run stop soon; `run` then raises `RunCancelled`."""

    @property
    def progress(self) -> float:
        """Return the finished share of the run, 0 to 1."""

@final
class Trace:
    """A trace read from the bytes of a file."""

    @staticmethod
    def read(
        data: bytes,
        format: str | None = None,  # noqa: A002 - the engine's name
        direction: str = "down",
        drop_ping_rows: bool = False,
    ) -> Trace:
        """Read a trace; the format is detected by default."""

    @staticmethod
    def formats() -> list[str]:
        """Return the names of all formats."""

    @property
    def format(self) -> str:
        """The format that was read."""

    @property
    def kind(self) -> Literal["opportunities", "rates"]:
        """The kind of the trace."""

    def statistics(self) -> dict[str, Any]:
        """Return duration, rates over 100 ms bins, longest outage, largest step."""

    def rates(self, bin_s: float) -> list[tuple[float, float]]:
        """Return the mean rate over bins of `bin_s` seconds: start in seconds, bits per second."""

    def to_mahimahi(self) -> str:
        """Return the trace as packet-delivery opportunities in Mahimahi's format."""

    def to_csv(self, bin_s: float = 0.1) -> str:
        """Return the trace as a rate log."""

class EmulationFailed(RuntimeError):  # noqa: N818 - the engine's name
    """The system refuses a resource that emulations need."""

@final
class Emulation:
    """A running emulation."""

    def __new__(
        cls,
        plan: str,
        traces: list[Trace],
        seed: int,
        capture: tuple[str | os.PathLike[str], list[str]] | None = None,
        connections: tuple[int, int] | None = None,
    ) -> Emulation:
        """Create the hosts and start; `capture` is a file and the hosts "senders" and "receivers".

        `connections` are two flows of the plan with opposite paths, for packets outside TCP connections; each
        direction of a connection is a flow of its own.
        """

    def spawn(
        self,
        host: str,
        command: list[str],
        environment: dict[str, str],
        output: str | os.PathLike[str] | None = None,
        to_stderr: bool = False,
    ) -> EmulatedProcess:
        """Start a command in a host."""

    def is_listening(self, host: str) -> bool:
        """Return whether a process listens in a host, on TCP or UDP."""

    @property
    def now_s(self) -> float:
        """Seconds since it began."""

    @property
    def is_over(self) -> bool:
        """Whether the plan's duration is over."""

    def stop(
        self,
    ) -> tuple[
        dict[str, dict[str, np.ndarray]],
        list[str],
        bytes | None,
        dict[str, Any],
        dict[str, Any] | None,
        str | None,
    ]:
        """End it; return tables, names of quantities, the capture of links, and three more.

        These are the records of validity and of connections, and the reason why the capture of hosts is
        incomplete.
        """

@final
class EmulatedProcess:
    """A command that runs in a host of an emulation."""

    def poll(self) -> int | None:
        """Return its exit code, or the negative number of the signal that killed it; `None` while it runs."""

    def kill(self) -> None:
        """Kill the process."""

def become_root_in_user_namespace() -> None:
    """Make this process root in a user namespace of its own; do nothing if it is root."""

def held_up(milliseconds: int) -> float:
    """Return the share of that time for which this machine delays a thread that is ready to run."""

def try_emulated_hosts() -> None:
    """Create two hosts and remove them."""

def try_kernel_router() -> None:
    """Create the queue of a router of the kernel and remove it."""

def try_emulation_scheduling() -> tuple[bool, int | None, str]:
    """Return the scheduling that a link thread would get: real time, processor, refused settings."""
