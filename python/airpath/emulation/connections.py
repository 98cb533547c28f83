"""TCP connections of a command, as flows of its results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from airpath.metrics import flow_metrics
from airpath.results import RunResult
from airpath.results.records import RawTables

TESTED_SHARE: Final = 0.01
"""A flow that carried at least this part of what the largest carried is under test."""
BUSY_SHARE: Final = 0.9
"""Who has something to send for this part of the time is long-lived, "bulk" as scenarios say."""
SEPARATE: Final = 6
"""So many flows under test are drawn each by itself, more by their congestion controls."""
OTHERS: Final = "other connections"
"""The group of those that are not under test."""


@dataclass(frozen=True)
class ConnectionFlow:
    """What one side sent in a TCP connection. The other side's data is another flow."""

    flow: int
    """Its row in the table `flows`."""
    name: str
    """Address and port of its sender, then of its receiver; `#2` behind them is a second one of these."""
    host: str
    """Where its data comes from: `senders` (the command's host) or `receivers` (the server's)."""
    scheme: str
    """`kernel:` and its sender's congestion control; `kernel` where it was over before that was asked."""
    busy_s: float
    """How long its sender had something to send; NaN where the kernel does not tell."""
    told: bool
    """Whether the kernel told of its sender. If not, what it alone knows is missing."""


@dataclass(frozen=True)
class Connections:
    """All connections of a command, and how the kernel was asked for them."""

    flows: tuple[ConnectionFlow, ...]
    """What each side sent."""
    beyond_packets: int
    """Data packets that are in no connection's flow because there were too many connections."""
    samples: int
    """How often the kernel was asked for all sockets."""
    sampling_mean_s: float
    """How long that took in the mean, in seconds."""
    sampling_max_s: float
    """How long it took at most."""
    late_samples: int
    """How often what was heard came after the end of its interval: it stands in the next one's rows."""
    missing: str = field(repr=False)
    """Why something is missing; empty when nothing is."""

    @classmethod
    def from_engine(cls, raw: Mapping[str, Any] | None) -> "Connections":
        """Return the record that the engine gives; without one there was no connection."""
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
        """What is not known of connections, in sentences; empty when nothing is missing."""
        problems = [f"connections: {self.missing}"] if self.missing else []
        if untold := sum(not flow.told for flow in self.flows):
            problems.append(f"connections: of {untold} of {len(self.flows)} the kernel did not tell")
        if self.beyond_packets:
            problems.append(
                f"connections: {self.beyond_packets} packets are in no flow; there were too many connections"
            )
        return tuple(problems)

    def as_json(self) -> dict[str, Any]:
        """Return for JSON how the kernel was asked, and what is not known."""
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

        Of those under test, a few are groups of their own and many go by their schemes.
        """
        tested = self.tested(tables)
        return {
            one.name: one.name if one.flow in tested else OTHERS
            for one in self.flows
            if one.flow not in tested or len(tested) <= SEPARATE
        }


def with_back_flow(plan: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, int] | None]:
    """Return the plan with the opposite of its first flow added, and the numbers of both.

    Where the flow has no way back there is none, and no connection either.
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
    """Return the plan with the connections as flows, as if somebody had planned them.

    Parameters
    ----------
    plan
        The plan that ran.
    others
        Which of its flows stand for what senders and receivers sent in no connection; `None` if there was
        none.
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
    """Return what is known of each connection's flow, largest first; `None` where there is no value."""
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
