"""The Linux datapath: airpath's controllers, and its routers, as BPF programs in the kernel."""

import json
from typing import TYPE_CHECKING, ClassVar, Final

from airpath._backends.backend import BackendName, EngineRun, Placed, RawRun
from airpath._backends.kernel import IN_DATAPATH, Kernel
from airpath.errors import UsageError

if TYPE_CHECKING:
    from airpath import _core
    from airpath._backends.kernel_routers import KernelRouter
    from airpath.scenario import Scenario

BPF_CONTROLLERS: Final = ("airpath_xcp", "airpath_vcp", "airpath_ebe", "airpath_westw", "airpath_sarbe")
"""The controllers that the daemon loads into the kernel."""


class BpfHosts(Kernel):
    """airpath's controllers in the kernel."""

    name: ClassVar[BackendName] = "datapath"
    description = "emulated: our controllers in the kernel, in real time"
    title = "our controllers in the kernel"
    colour, marker = "#d55e00", "^"
    needs: ClassVar[tuple[str, ...]] = ("emulated hosts", "Linux datapath")
    stands_for = IN_DATAPATH

    def missing(self) -> str | None:
        from airpath._backends.daemon import datapath_missing

        return datapath_missing()

    def controllers(self) -> tuple[str, ...]:
        available = super().controllers()
        if (reason := self.missing()) is not None:
            raise UsageError(f"world: found {self.name}, which is not available: {reason}")
        return (*available, *BPF_CONTROLLERS)

    def make_run(self, placed: Placed, traces: "list[_core.Trace]", seed: int) -> EngineRun:
        return _DatapathRun(placed, traces, seed)

    def has_controller(self, scenario: "Scenario") -> bool:
        """Return whether one of a scenario's schemes is a controller that the daemon loads."""
        schemes = (scheme for scheme in scenario.resolved.schemes if scheme is not None)
        named = (self.stands_for.get(scheme, scheme) for scheme in schemes)
        return any(name.removeprefix("kernel:") in BPF_CONTROLLERS for name in named)


class BpfRouters(BpfHosts):
    """airpath's controllers and routers in the kernel."""

    name = "routers"
    description = "emulated: our controllers and routers in the kernel, in real time"
    title = "our controllers and routers in the kernel"
    colour, marker = "#009e73", "D"
    needs = ("emulated hosts", "Linux datapath", "kernel queues")
    label_end = " with routers"

    def routers(self, scenario: "Scenario") -> "tuple[KernelRouter, ...]":
        from airpath._backends.kernel_routers import NoKernelRouterError, kernel_routers

        try:
            return kernel_routers(scenario.plan())
        except NoKernelRouterError as error:
            raise scenario.refusal(error.refusal) from None


class _DatapathRun:
    """A run in the emulator together with the daemons of its hosts and routers."""

    def __init__(self, placed: Placed, traces: "list[_core.Trace]", seed: int) -> None:
        from airpath import _core
        from airpath._backends.daemon import Datapath

        self._datapath = Datapath(placed.routers)
        links = [router.link for router in placed.routers]
        self._run = _core.EmulatedRun(json.dumps(placed.plan), traces, seed, self._datapath.start, links)

    def run(self) -> RawRun:
        try:
            tables, capture, counts = self._run.run()
        finally:
            counters, problems = self._datapath.stop()
        validity = counts["validity"]
        if counters:
            validity["datapath"] = counters
        validity["problems"] = [*validity["problems"], *problems]
        return tables, capture, counts

    def cancel(self) -> None:
        self._run.cancel()

    @property
    def progress(self) -> float:
        return self._run.progress
