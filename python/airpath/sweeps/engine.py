"""Where the runs of a sweep are computed: what the work needs to know of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol, Self

from airpath.errors import AirpathError, UsageError
from airpath.sweeps.task import Failure, Task

ENGINES: Final = "local, dask://HOST:PORT, ray, ray://HOST:PORT"
LARGEST_PORT: Final = 65535


class WorkerLostError(Exception):
    """A worker died over a task (killed, out of memory); the task can be tried again."""


class ResultLostError(Exception):
    """What a task gave was lost before it was fetched; the engine does the task again."""


class EngineError(AirpathError):
    """The engine as a whole cannot go on."""


class Pending(Protocol):
    """A task that was handed in."""

    def add_done_callback(self, call: Callable[[Any], object], /) -> object:
        """Call when it is done, in any thread."""

    def result(self) -> bytes | Failure:
        """Return what came of it, once it is done."""


class Engine(ABC):
    """Workers that do tasks; a context that ends with all of them stopped."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many tasks should be handed in at the same time, so that no worker waits."""

    @abstractmethod
    def submit(self, task: Task) -> Pending:
        """Hand in a task."""

    @abstractmethod
    def result(self, pending: Pending) -> bytes | Failure:
        """Return what came of a task that is done.

        Raises
        ------
        WorkerLostError
            If its worker died.
        ResultLostError
            If it must be waited for once more.
        EngineError
            If there is no use in going on.
        """

    @abstractmethod
    def restart(self) -> None:
        """Be ready again after `WorkerLostError`; no task is pending."""

    def stalled(self) -> str:
        """Return why nothing is computed at the moment, in words; empty if something is, or nobody knows."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Stop all workers that this engine started, and forget tasks that are pending."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def host_and_port(address: str, name: str) -> tuple[str, int]:
    """Return host and port of an address.

    Parameters
    ----------
    address
        `HOST:PORT`.
    name
        What stands before it in the name of the engine, `dask` or `ray`.

    Raises
    ------
    UsageError
        If it is something else: libraries try for long what cannot be reached.
    """
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 1 <= int(port) <= LARGEST_PORT:
        raise UsageError(f'engine: found "{name}://{address}"; accepted: {name}://HOST:PORT')
    return host, int(port)


def open_engine(name: str, jobs: int | None) -> Engine:
    """Return an engine by name.

    Parameters
    ----------
    name
        `local`, `dask://HOST:PORT`, `ray`, or `ray://HOST:PORT`.
    jobs
        How many worker processes `local` has, or at most so many runs at the same time of a cluster.

    Raises
    ------
    UsageError
        If there is no such engine, or its library is not installed.
    EngineError
        If a cluster cannot be reached.
    """
    if not isinstance(name, str):
        raise UsageError(f"engine: found {name!r}; accepted: {ENGINES}")
    if name == "local":
        from airpath.sweeps.local import LocalEngine

        return LocalEngine(jobs)
    if name.startswith("dask://"):
        from airpath.sweeps.dask import DaskEngine

        return DaskEngine(name.removeprefix("dask://"), jobs)
    if name == "ray" or name.startswith("ray://"):
        from airpath.sweeps.ray import RayEngine

        return RayEngine(jobs, None if name == "ray" else name.removeprefix("ray://"))
    raise UsageError(f'engine: found "{name}"; accepted: {ENGINES}')
