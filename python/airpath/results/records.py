"""The record of one run, which the runner delivers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from airpath._backends import REAL_TIME
from airpath.metrics import OWN_ESTIMATOR

RawTables = Mapping[str, Mapping[str, np.ndarray]]
"""Tables as the engine returns them: table → column → values, of 64 bits each."""

Plan = Mapping[str, Any]
"""A resolved scenario, as the engine reads it (JSON)."""


@dataclass(frozen=True, slots=True)
class WrittenScenario:
    """The scenario of a run, as needed to run it again.

    Attributes
    ----------
    text
        The scenario as TOML, with all requested changes.
    folder
        Base of relative paths of trace files.
    """

    text: str
    folder: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One finished run, as the runner delivers it.

    Attributes
    ----------
    scheme
        Scheme under test; together with `repetition` it names the run within its results.
    scenario_name
        Name of the scenario.
    seed
        Seed of the run, 0 to 2⁶⁴ - 1.
    repetition
        0, 1, … within the scheme.
    plan
        The resolved scenario that the engine ran.
    tables
        The engine's tables; empty once they have been joined.
    capture
        A pcapng file, if the plan requests one.
    qlogs
        Logs of flows (qlog), complete files by number of the flow, if the plan requests them.
    wall_s
        Duration of the run, in seconds of real time.
    flow_schemes
        Scheme of each source, by source name. Default for a missing source: the run's scheme if all
        controllers of the plan are alike, else the kind of the source's controller.
    flow_groups
        Group of each source, by source name. Default for a missing source: its scheme, or its name if it has
        none.
    quantities
        Names of the quantities in `link_observations` and `flow_observations`, by their number in the
        engine's tables.
    world
        The backend of the run (`airpath._backends.BACKENDS`).
    validity
        For a run in real time, the evidence that it behaved as configured (`airpath.emulation.Validity` as
        JSON); on backends other than the simulator, ``departures``: differences from the scenario. ``None``
        for a simulation.
    scenario
        The scenario of the run; ``None`` if unknown.
    agent
        For a run with a flow controlled by an agent: ``action``, ``step_s``, ``steps``, and
        ``actions_sha256`` of the actions as little-endian numbers of 64 bits. ``None`` without an agent.
    """

    scheme: str
    scenario_name: str
    seed: int
    repetition: int
    plan: Plan
    tables: RawTables = field(repr=False)
    capture: bytes | None = field(default=None, repr=False)
    qlogs: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    wall_s: float = float("nan")
    flow_schemes: Mapping[str, str] = field(default_factory=dict)
    flow_groups: Mapping[str, str] = field(default_factory=dict)
    quantities: Sequence[str] = ()
    world: str = "sim"
    validity: Mapping[str, Any] | None = None
    scenario: WrittenScenario | None = field(default=None, repr=False)
    agent: Mapping[str, Any] | None = None

    @property
    def valid(self) -> bool:
        """Whether the run can be trusted: always in simulated time, in real time if its record says so."""
        return self.world not in REAL_TIME or bool(self.validity and self.validity["valid"])

    @property
    def estimators(self) -> Sequence[str]:
        """Names of ACK-rate estimators in the engine's tables: the controller's own, then additional ones."""
        return (OWN_ESTIMATOR, *(str(one["name"]) for one in self.plan.get("estimators", ())))

    @property
    def source_names(self) -> list[str]:
        """Names of the plan's sources."""
        return [str(flow["name"]) for flow in self.plan["flows"]]

    @property
    def source_schemes(self) -> list[str | None]:
        """Scheme of each of the plan's sources; ``None`` for sources without a controller."""
        controllers = [flow.get("controller") for flow in self.plan["flows"]]
        some = [controller for controller in controllers if controller is not None]
        alike = all(controller == some[0] for controller in some)
        schemes = (
            None if controller is None else self.scheme if alike else str(controller["kind"])
            for controller in controllers
        )
        return [
            self.flow_schemes.get(name) or scheme
            for name, scheme in zip(self.source_names, schemes, strict=True)
        ]

    @property
    def source_groups(self) -> list[str]:
        """Group of each of the plan's sources."""
        return [
            self.flow_groups.get(name) or scheme or name
            for name, scheme in zip(self.source_names, self.source_schemes, strict=True)
        ]
