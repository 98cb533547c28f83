"""TCP connections of a command, as flows of its results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from airpath.metrics import flow_metrics
from airpath.results import RunResult
from airpath.results.records import RawTables

TESTED_SHARE: Final = 0.01
"""Smallest share of the largest flow's data with which a flow is under test."""
BUSY_SHARE: Final = 0.9
"""A sender that has data to send for this share of the time is long-lived, "bulk" in scenarios."""
SEPARATE: Final = 6
"""Largest number of flows under test that are plotted separately; more are grouped by congestion control."""
OTHERS: Final = "other connections"
"""Group of the flows that are not under test."""


@dataclass(frozen=True)
class ConnectionFlow:
    """The data that one side sent in a TCP connection. The other side's data is another flow."""

    flow: int
    """Its row in the table `flows`."""
    name: str
    """Address and port of its sender, then of its receiver; the suffix `#2` marks a second connection of
    these.
    """
    host: str
    """The origin of its data: `senders` (the command's host) or `receivers` (the server's)."""
    scheme: str
    """`kernel:` and its sender's congestion control; `kernel` if it ended before the kernel was queried."""
    busy_s: float
    """Time for which its sender had data to send; NaN if the kernel does not report it."""
    told: bool
    """Whether the kernel reported its sender. If not, the values that only the kernel has are missing."""


@dataclass(frozen=True)
class Connections:
    """All connections of a command, and how the kernel was queried for them."""

    flows: tuple[ConnectionFlow, ...]
    """The flows: one for each side of a connection that sent data."""
    beyond_packets: int
    """Data packets that are in no connection's flow because there were too many connections."""
    samples: int
    """Number of queries of all sockets."""
    sampling_mean_s: float
    """Mean duration of a query, in seconds."""
    sampling_max_s: float
    """Longest duration of a query, in seconds."""
    late_samples: int
    """Number of replies that arrived after their interval; they are in the next interval's rows."""
    missing: str = field(repr=False)
    """Reason why something is missing; empty if nothing is."""

    @classmethod
    def from_engine(cls, raw: Mapping[str, Any] | None) -> "Connections":
        """Return the record of the engine; an empty one without connections."""
        if raw is None:
            return cls(
                (),
                beyond_packets=0,
                samples=0,
                sampling_mean_s=0.0,
                sampling_max_s=0.0,
                late_samples=0,
                missing="",
            )
        names: Counter[str] = Counter()
        flows = []
        for flow in raw["flows"]:
            plain = f"{flow['sender']} > {flow['receiver']}"
            names[plain] += 1
            control = flow["congestion_control"]
            flows.append(
                ConnectionFlow(
                    flow=flow["flow"],
                    name=plain if names[plain] == 1 else f"{plain} #{names[plain]}",
                    host=flow["host"],
                    scheme=f"kernel:{control}" if control else "kernel",
                    busy_s=flow["busy_s"],
                    told=flow["told"],
                )
            )
        known = ("beyond_packets", "samples", "sampling_mean_s", "sampling_max_s", "late_samples", "missing")
        return cls(flows=tuple(flows), **{name: raw[name] for name in known})

    @property
    def problems(self) -> tuple[str, ...]:
        """Missing information about connections, as sentences; empty if nothing is missing."""
        problems = [f"connections: {self.missing}"] if self.missing else []
        if untold := sum(not flow.told for flow in self.flows):
            problems.append(f"connections: of {untold} of {len(self.flows)} the kernel did not tell")
        if self.beyond_packets:
            problems.append(
                f"connections: {self.beyond_packets} packets are in no flow; there were too many connections"
            )
        return tuple(problems)

    def as_json(self) -> dict[str, Any]:
        """Return, for JSON, how the kernel was queried, and what is not known."""
        record = {name: value for name, value in vars(self).items() if name != "flows"}
        return {**record, "problems": list(self.problems)}

    @property
    def schemes(self) -> dict[str, str]:
        """Scheme of each flow by its name."""
        return {flow.name: flow.scheme for flow in self.flows}

    def tested(self, tables: RawTables) -> frozenset[int]:
        """Return the flows under test: those that carried at least `TESTED_SHARE` of what the largest did."""
        goodput = _values(tables, "goodput_bytes")
        largest = max((goodput[one.flow] for one in self.flows), default=0)
        return frozenset(one.flow for one in self.flows if goodput[one.flow] >= TESTED_SHARE * largest)

    def groups(self, tables: RawTables) -> dict[str, str]:
        """Return the group of each flow by its name.

        Each flow under test is its own group if there are few, otherwise flows are grouped by scheme.
        """
        tested = self.tested(tables)
        return {
            one.name: one.name if one.flow in tested else OTHERS
            for one in self.flows
            if one.flow not in tested or len(tested) <= SEPARATE
        }


def with_back_flow(plan: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, int] | None]:
    """Return the plan with the opposite of its first flow added, and the numbers of both flows.

    Without a reverse path there is no such flow, and there are no connections either.
    """
    first = plan["flows"][0]
    way = first["reverse_path"]
    if not way:
        return dict(plan), None
    recorded = [link for link in way if plan["links"][link]["record"]]
    opposite = {
        **first,
        "name": f"{first['name']}-back",
        "path": way,
        "reverse_path": first["path"],
        "measured_at": (recorded or way)[0],
    }
    return {**plan, "flows": [*plan["flows"], opposite]}, (0, len(plan["flows"]))


def with_connections(
    plan: Mapping[str, Any], others: tuple[int, int] | None, connections: Connections, tables: RawTables
) -> dict[str, Any]:
    """Return the plan with the connections added as flows.

    Parameters
    ----------
    plan
        The plan that ran.
    others
        The flows that stand for packets of senders and receivers outside connections; `None` without any.
    connections
        The connections; they are the flows after those of the plan.
    tables
        The engine's tables.
    """
    if others is None:
        return dict(plan)
    first_s, last_s = _values(tables, "first_departure_s"), _values(tables, "last_departure_s")
    tested = connections.tested(tables)
    planned = []
    for one in connections.flows:
        base = plan["flows"][others[0 if one.host == "senders" else 1]]
        lasted_s = last_s[one.flow] - first_s[one.flow]
        algorithm = one.scheme.partition(":")[2] or None
        planned.append(
            {
                **base,
                "name": one.name,
                "traffic": {"kind": "bulk" if one.busy_s >= BUSY_SHARE * lasted_s else "connection"},
                "controller": {"kind": "kernel", "algorithm": algorithm} if one.flow in tested else None,
            }
        )
    return {**plan, "flows": [*plan["flows"], *planned]}


def connection_rows(run: RunResult, connections: Connections) -> list[dict[str, Any]]:
    """Return the known values of each connection's flow, largest first; `None` for missing values."""
    flows, metrics = run.flows.to_pylist(), flow_metrics(run.tables).to_pylist()
    rows = []
    for one in connections.flows:
        flow, metric = flows[one.flow], metrics[one.flow]
        rows.append(
            {
                "flow": one.flow,
                "name": one.name,
                "host": one.host,
                "scheme": one.scheme,
                "start_s": flow["start_s"],
                "goodput_bytes": flow["goodput_bytes"],
                "goodput_mbps": metric["goodput_mbps"],
                "sent_packets": flow["sent_packets"],
                "retransmitted_packets": flow["retransmitted_packets"],
                "lost_packets": flow["lost_packets"],
                "timeouts": flow["timeouts"],
                "min_rtt_s": flow["min_rtt_s"],
                "srtt_s": flow["srtt_s"],
            }
        )
    for row in rows:
        row |= {name: None for name, value in row.items() if value != value}
    return sorted(rows, key=lambda row: -row["goodput_bytes"])


def _values(tables: RawTables, column: str) -> Sequence[float]:
    values: Sequence[float] = tables["flows"][column].tolist()
    return values
