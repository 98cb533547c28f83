"""The interface of backends."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from airpath.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from airpath import _core
    from airpath._backends.kernel_routers import KernelRouter
    from airpath.scenario import Scenario

BackendName = Literal["sim", "quic", "emulate", "datapath", "routers"]
RawRun = tuple[dict[str, dict[str, "np.ndarray"]], bytes | None, dict[str, Any]]
"""The tables of a run, its capture, and its counts."""


@dataclass(frozen=True)
class Placed:
    """A scenario on a backend."""

    plan: dict[str, Any]
    """The plan that runs there."""
    schemes: tuple[str | None, ...]
    """Scheme of each flow of the plan there; `None` for datagrams."""
    label: str | None
    """The name of the run; `None` if it is that of the scenario's schemes."""
    departures: tuple[str, ...] = ()
    """Transport settings of the scenario that the kernel or quinn decides itself."""
    routers: "tuple[KernelRouter, ...]" = ()
    """Routers of the kernel in place of the simulator's."""


class EngineRun(Protocol):
    """A run that starts once and can be followed and cancelled."""

    def run(self) -> RawRun: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...


class Backend(ABC):
    """A place where scenarios run."""

    name: ClassVar[BackendName]
    """The value of the option `--world`."""
    description: ClassVar[str]
    """How results describe their runs."""
    title: ClassVar[str]
    """The name in figures."""
    colour: ClassVar[str]
    """The colour in figures."""
    marker: ClassVar[str]
    """The marker in figures, as Matplotlib names it."""
    needs: ClassVar[tuple[str, ...]]
    """The checks of `airpath doctor` that must succeed."""
    real_time: ClassVar[bool] = False
    """Whether runs take the duration of the scenario in real time."""
    unknown_columns: ClassVar[tuple[str, ...]] = ()
    """Columns of the table `flows` that are null, because the backend does not report them."""

    @abstractmethod
    def place(self, scenario: "Scenario") -> Placed:
        """Return a scenario as it runs here.

        Raises
        ------
        ScenarioError
            If the backend lacks one of its schemes, or something else of it.
        UsageError
            If the backend is not on this system.
        """

    @abstractmethod
    def make_run(self, placed: Placed, traces: "list[_core.Trace]", seed: int) -> EngineRun:
        """Return a run of a placed scenario, ready to start."""

    def missing(self) -> str | None:
        """Return what this system lacks for runs on this backend; `None` if it lacks nothing."""
        return None

    @abstractmethod
    def validity(self, placed: Placed, counts: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the validity of a run, and its differences from the scenario; `None` for a simulation.

        Parameters
        ----------
        placed
            The scenario.
        counts
            The last item returned by `EngineRun.run`.
        """

    def validity_text(self, validity: Mapping[str, Any] | None) -> str:
        """Return in one sentence whether a run can be trusted; empty in simulated time."""
        if not self.real_time or validity is None:
            return ""
        return "valid" if validity["valid"] else f"NOT VALID: {'; '.join(validity['problems'])}"

    def check_jobs(self, jobs: int | None) -> None:
        """Reject simultaneous runs in real time: they would compete for the processors.

        Raises
        ------
        UsageError
            If more than one is requested.
        """
        if self.real_time and jobs is not None and jobs > 1:
            problem = f"accepted on backend {self.name}: 1, because runs are in real time"
            raise UsageError(f"jobs: found {jobs}; {problem}")


def joined(schemes: Iterable[str | None]) -> str:
    """Return the schemes of a run's flows, each once; empty for datagrams alone."""
    return "+".join(dict.fromkeys(scheme for scheme in schemes if scheme is not None))


def own(owner: str, settings: Iterable[str]) -> tuple[str, ...]:
    """Return the settings that `owner` decides itself, each once, as texts for readers."""
    return tuple(dict.fromkeys(f"{owner}'s own {setting}" for setting in settings))


def refuse_agent(scenario: "Scenario") -> None:
    """Reject flows whose window a learning agent sets: a run has none.

    Raises
    ------
    ScenarioError
        If there is such a flow.
    """
    from airpath.scenario.refusals import Refusal
    from airpath.schemes import AGENT

    resolved = scenario.resolved
    schemes: Sequence[str | None] = resolved.schemes
    for flow, scheme in zip(resolved.plan["flows"], schemes, strict=True):
        if scheme == AGENT.id:
            problem = (
                "nobody sets anything in a run; accepted: any other, or an environment (airpath.learning)"
            )
            raise scenario.refusal(Refusal("flow", flow["name"], "scheme", problem))
