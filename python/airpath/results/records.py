"""What identifies one run, and what the runner hands over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

RawTables = Mapping[str, Mapping[str, tuple[str, bytes]]]
"""Tables as the engine gives them: table → column → (``"i64"`` or ``"f64"``, little-endian bytes)."""

Plan = Mapping[str, Any]
"""A resolved scenario, as the engine reads it (JSON)."""

OWN_ESTIMATOR: Final = "controller"
"""What tables call the estimator by which a flow's controller controls."""


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
        A pcapng file, if the plan asked for one.
    wall_s
        How long the run took, in seconds of real time.
    flow_schemes
        Scheme of each source, by source name. Where it is silent: the run's scheme if all controllers of
        the plan
        are alike, else the kind of the source's controller.
    flow_groups
        Group of each source, by source name. Where it is silent: the source's scheme, or its name if it
        has none.
    quantities
        Names of the quantities in `link_observations` and `flow_observations`, by their number in the
        engine's tables.
    world
        Where the run was: ``sim``, or a world of real time (`airpath.worlds.WORLDS`).
    validity
        Of a run in real time, how far it was what it says (`airpath.emulation.Validity` as JSON); ``None``
        for a simulation.
    """

    scheme: str
    scenario_name: str
    seed: int
    repetition: int
    plan: Plan
    tables: RawTables = field(repr=False)
    capture: bytes | None = field(default=None, repr=False)
    wall_s: float = float("nan")
    flow_schemes: Mapping[str, str] = field(default_factory=dict)
    flow_groups: Mapping[str, str] = field(default_factory=dict)
    quantities: Sequence[str] = ()
    world: str = "sim"
    validity: Mapping[str, Any] | None = None

    @property
    def estimators(self) -> Sequence[str]:
        """Names of ACK-rate estimators in the engine's tables: the controller's own, then those beside it."""
        return (OWN_ESTIMATOR, *(str(one["name"]) for one in self.plan.get("estimators", ())))

    def scheme_of(self, source: int) -> str | None:
        """Scheme of the plan's source number `source`; ``None`` if nothing controls it."""
        flow = self.plan["flows"][source]
        controller = flow.get("controller")
        if named := self.flow_schemes.get(flow["name"]):
            return named
        if controller is None:
            return None
        controllers = [c for other in self.plan["flows"] if (c := other.get("controller")) is not None]
        return self.scheme if all(c == controller for c in controllers) else str(controller["kind"])

    def group_of(self, source: int) -> str:
        """Group of the plan's source number `source`."""
        name = str(self.plan["flows"][source]["name"])
        return self.flow_groups.get(name) or self.scheme_of(source) or name
