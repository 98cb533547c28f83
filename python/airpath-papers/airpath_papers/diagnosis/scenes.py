"""Simulated flows whose limit is known by construction.

The thresholds of the diagnosis were first chosen on other flows. Families a, b, e, f and h then revealed
faults that were corrected, and its probabilities were calibrated on a and b, among others. Families c, d and
g did not take part, but their errors were seen: those of c were the reason to measure the probability of
`reverse-path` again, on other flows. Family i was added after all corrections.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from airpath_papers.experiment import Experiment

SCENARIO: Final = str(Path(__file__).with_name("flow.toml"))
FLOW: Final = {"name": "flow", "start": "0s"}
"""The flow of the scenario, for scenes with others."""
UPLOAD: Final = {"name": "upload", "scheme": "cubic", "direction": "reverse", "start": "2s"}
WRITES: Final = {"kind": "writes", "size": "150kB", "interval": "1s"}
CALL: Final = {"kind": "writes", "size": "20kB", "interval": "80ms"}
SENDERS_COUNT: Final = {"record.flow_limits": True}
RIVAL: Final = {"name": "rival", "scheme": "cubic", "start": "10s"}
SMALL: Final = {"kind": "drop-tail", "limit": "150ms"}
LONG: Final = {"kind": "drop-tail", "limit": "250packets"}


@dataclass(frozen=True)
class Scene:
    """One flow."""

    name: str
    """Its name."""
    limit: str
    """Its limit while the link is not full, a label; `bottleneck` for a bulk flow."""
    scheme: str
    """The scheme of the flow."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the scenario that differ."""
    is_alone: bool = True
    """Whether the flow can have the capacity of the link: no other flow uses it, and no policer limits it."""
    from_s: float = 3.0
    """Time from which windows and bins count: before it the flow starts."""

    @property
    def is_judged(self) -> bool:
        """Whether its family took no part in any choice."""
        return self.name.partition("/")[0] in JUDGED

    @property
    def experiment(self) -> Experiment:
        """Its run."""
        return Experiment(SCENARIO, self.scheme, self.changes, repetitions=1)


@dataclass(frozen=True)
class Family:
    """Settings of one set of scenes: a cycle of schemes, four rates, three round trips, two varying links."""

    name: str
    schemes: tuple[str, ...]
    rates: tuple[str, str, str, str]
    delays: tuple[str, str, str]
    links: Mapping[str, Any]

    def scenes(self) -> Iterator[Scene]:
        """Yield the scenes of this family."""
        yield from self._bulk()
        yield from self._limited()
        yield from self._lossy()

    def _bulk(self) -> Iterator[Scene]:
        first, second, third, fourth = self.rates
        bulk = "bottleneck"
        yield self._scene("bulk-1", bulk, 0, first, 0, limit="1.5bdp")
        yield self._scene("bulk-2", bulk, 1, second, 1, limit="3bdp")
        yield self._scene("bulk-3", bulk, 2, third, 2, limit="1bdp")
        yield self._scene("bulk-4", bulk, 3, fourth, 0, limit="0.7bdp")
        managed = {"limit": "1000packets"}
        yield self._scene("pie", "overflow", 0, third, 1, queue={"kind": "pie", **managed})
        yield self._scene("fq-codel", "overflow", 1, first, 0, queue={"kind": "fq-codel", **managed})
        yield self._scene("short-queue", "overflow", 0, third, 2, limit="0.2bdp")
        for place, (name, rate) in enumerate(self.links.items()):
            for turn in range(2):
                yield self._scene(f"{name}-{turn + 1}", bulk, place + turn, rate, place + turn, queue=LONG)
        yield self._scene(
            "upload",
            "reverse-path",
            0,
            second,
            1,
            others=(UPLOAD,),
            more={"topology.reverse.rate": "1500kbps", "topology.reverse.queue": SMALL},
        )
        yield self._scene("shared", bulk, 0, first, 1, others=(RIVAL,), is_alone=False)

    def _limited(self) -> Iterator[Scene]:
        first, second, third, fourth = self.rates
        name, varying = next(iter(self.links.items()))
        window = "flows.0.transport.receive_window"
        yield self._scene("receiver-1", "receiver-window", 0, third, 1, more={window: "25 packets"})
        yield self._scene("receiver-2", "receiver-window", 1, second, 2, more={window: "30kB"})
        yield self._scene(
            f"receiver-{name}", "receiver-window", 2, varying, 0, queue=LONG, more={window: "10 packets"}
        )
        yield self._scene("receiver-large", "receiver-window", 0, third, 1, more={window: "100kB"})
        yield self._scene(
            "writes",
            "application",
            0,
            second,
            1,
            more={"flows.0.traffic": WRITES, **SENDERS_COUNT},
        )
        yield self._scene(
            "writes-shared",
            "application",
            0,
            third,
            1,
            others=(RIVAL,),
            more={"flows.0.traffic": CALL, **SENDERS_COUNT},
            is_alone=False,
        )
        yield self._sender("paced-1", "application", "window=2000packets,rate=1200kbps", second, 0)
        yield self._sender("paced-2", "application", "window=2000packets,rate=4mbps", third, 2)
        yield self._sender(f"paced-{name}", "application", "window=2000packets,rate=600kbps", varying, 1)
        yield self._sender("sender-1", "sender-window", "window=14packets", third, 1)
        yield self._sender("sender-2", "sender-window", "window=6packets", second, 0)
        yield self._sender(f"sender-{name}", "sender-window", "window=8packets", varying, 2)
        policer = {"kind": "policer", "rate": first, "burst": "100kB", "limit": "1bdp"}
        yield self._scene("policer", "policer", 0, fourth, 1, queue=policer, is_alone=False)
        yield Scene(
            f"{self.name}/start",
            "start-up",
            "newreno",
            {
                "duration": "8s",
                **self._link("400mbps", 0, {"kind": "drop-tail", "limit": "1bdp"}),
                "topology.bottleneck.delay": "125ms",
            },
            from_s=0.0,
        )

    def _lossy(self) -> Iterator[Scene]:
        _, second, third, _ = self.rates
        bursts = {"kind": "gilbert", "mean_loss": 0.01, "mean_burst": 5.0}
        name, varying = list(self.links.items())[-1]
        loss = "topology.bottleneck.loss"
        yield self._scene("loss-1", "random-loss", 0, third, 0, more={loss: 0.01})
        yield self._scene("loss-2", "random-loss", 2, second, 1, more={loss: 0.02})
        yield self._scene("loss-bursts", "random-loss", 0, third, 2, more={loss: bursts})
        yield self._scene(f"loss-{name}", "random-loss", 0, varying, 0, queue=LONG, more={loss: 0.02})

    def _scene(
        self,
        name: str,
        label: str,
        scheme: int,
        rate: Any,
        delay: int,
        *,
        limit: str = "1bdp",
        queue: Mapping[str, Any] | None = None,
        others: tuple[Mapping[str, Any], ...] = (),
        more: Mapping[str, Any] | None = None,
        is_alone: bool = True,
    ) -> Scene:
        chosen = self.schemes[scheme % len(self.schemes)]
        changes = {
            **({"flows": [{**FLOW, "scheme": chosen}, *others]} if others else {}),
            **self._link(rate, delay, queue or {"kind": "drop-tail", "limit": limit}),
            **(more or {}),
        }
        return Scene(f"{self.name}/{name}", label, chosen, changes, is_alone)

    def _sender(self, name: str, limit: str, options: str, rate: Any, delay: int) -> Scene:
        return Scene(f"{self.name}/{name}", limit, f"fixed:{options}", self._link(rate, delay, LONG))

    def _link(self, rate: Any, delay: int, queue: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "topology.bottleneck.rate": rate,
            "topology.bottleneck.delay": self.delays[delay % len(self.delays)],
            "topology.bottleneck.queue": queue,
        }


FAMILIES: Final = (
    Family(
        "a",
        ("cubic", "bbr", "newreno", "vegas"),
        ("5mbps", "14mbps", "32mbps", "70mbps"),
        ("16ms", "35ms", "65ms"),
        {
            "lte-down": "lte.down",
            "uniform": {"kind": "uniform", "low": "2mbps", "high": "12mbps", "hold": "1s"},
        },
    ),
    Family(
        "b",
        ("illinois", "copa", "htcp", "cubic"),
        ("3500kbps", "10mbps", "24mbps", "90mbps"),
        ("11ms", "42ms", "80ms"),
        {
            "lte-up": "lte.up",
            "steps": {
                "kind": "steps",
                "steps": [
                    ["0s", "16mbps"],
                    ["8s", "3mbps"],
                    ["15s", "0bps"],
                    ["17s", "9mbps"],
                    ["29s", "30mbps"],
                ],
            },
        },
    ),
    Family(
        "c",
        ("bbr", "veno", "cubic", "westwood+"),
        ("6500kbps", "19mbps", "41mbps", "110mbps"),
        ("14ms", "28ms", "95ms"),
        {
            "fast": {"kind": "uniform", "low": "5mbps", "high": "40mbps", "hold": "700ms"},
            "slow": {
                "kind": "steps",
                "steps": [["0s", "2500kbps"], ["11s", "700kbps"], ["19s", "0bps"], ["20s", "4mbps"]],
                "repeat_after": "27s",
            },
        },
    ),
    Family(
        "d",
        ("bic", "bbr", "hybla", "cubic"),
        ("8mbps", "27mbps", "55mbps", "85mbps"),
        ("9ms", "50ms", "75ms"),
        {
            "wide": {"kind": "uniform", "low": "1mbps", "high": "25mbps", "hold": "3s"},
            "lte-down": "lte.down",
        },
    ),
    Family(
        "e",
        ("vegas", "bbr1", "cubic", "hybla"),
        ("4200kbps", "12mbps", "29mbps", "95mbps"),
        ("18ms", "45ms", "70ms"),
        {
            "lte-up": "lte.up",
            "jumps": {"kind": "uniform", "low": "3mbps", "high": "20mbps", "hold": "2s"},
        },
    ),
    Family(
        "f",
        ("newreno", "vegas", "westwood+", "bbr"),
        ("7500kbps", "15mbps", "37mbps", "78mbps"),
        ("13ms", "33ms", "85ms"),
        {
            "lte-down": "lte.down",
            "narrow": {"kind": "uniform", "low": "4mbps", "high": "9mbps", "hold": "500ms"},
        },
    ),
    Family(
        "g",
        ("htcp", "bbr1", "newreno", "veno"),
        ("6mbps", "21mbps", "45mbps", "100mbps"),
        ("20ms", "40ms", "60ms"),
        {
            "lte-up": "lte.up",
            "stairs": {
                "kind": "sequence",
                "rates": ["3mbps", "6mbps", "12mbps", "24mbps", "12mbps", "6mbps"],
                "hold": "4s",
            },
        },
    ),
    Family(
        "h",
        ("bic", "bbr", "cubic", "vivace"),
        ("9mbps", "17mbps", "34mbps", "120mbps"),
        ("12ms", "30ms", "90ms"),
        {
            "lte-down": "lte.down",
            "swings": {"kind": "uniform", "low": "8mbps", "high": "60mbps", "hold": "1500ms"},
        },
    ),
    Family(
        "i",
        ("cubic", "copa", "bbr1", "highspeed"),
        ("11mbps", "25mbps", "48mbps", "150mbps"),
        ("8ms", "25ms", "55ms"),
        {
            "lte-up": "lte.up",
            "drops": {
                "kind": "sequence",
                "rates": ["30mbps", "2mbps", "10mbps", "0bps", "18mbps"],
                "hold": "5s",
            },
        },
    ),
)
JUDGED: Final = ("c", "d", "g", "i")
"""The families in which no fault was corrected, and on which no probability of a label was calibrated."""
SCENES: Final = tuple(scene for family in FAMILIES for scene in family.scenes())
"""All scenes, by family."""
