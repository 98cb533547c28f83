"""The interface of engines, which compute the runs of a sweep."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol, Self

from airpath.errors import AirpathError, UsageError
from airpath.sweeps.task import Failure, Task

ENGINES: Final = "local, dask://HOST:PORT, ray, ray://HOST:PORT"
LARGEST_PORT: Final = 65535


class WorkerLostError(Exception):
    """A worker died during a task (killed, out of memory); the task can be retried."""


class RetriesExhaustedError(Exception):
    """A cluster has retried a task, and a worker died during every attempt; it is not retried again."""


class ResultLostError(Exception):
    """The result of a task was lost before it was fetched; the engine runs the task again."""


class EngineError(AirpathError):
    """The engine as a whole cannot continue."""


class Pending(Protocol):
    """A submitted task."""

    def add_done_callback(self, call: Callable[[Any], object], /) -> object:
        """Call `call` when the task is done, in any thread."""

    def result(self) -> bytes | Failure:
        """Return the result, once the task is done."""


class Engine(ABC):
    """Workers that run tasks; a context manager that stops all of them at its end."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Number of tasks to have submitted at the same time, so that no worker waits."""

    @abstractmethod
    def submit(self, task: Task) -> Pending:
        """Submit a task."""

    @abstractmethod
    def result(self, pending: Pending) -> bytes | Failure:
        """Return the result of a finished task.

        Raises
        ------
        WorkerLostError
            If its worker died.
        RetriesExhaustedError
            If the worker died during every attempt of a cluster.
        ResultLostError
            If the caller must wait for the task once more.
        EngineError
            If the engine cannot continue.
        """

    @abstractmethod
    def restart(self) -> None:
        """Become ready again after `WorkerLostError`; no task is pending."""

    def stalled(self) -> str:
        """Return the reason why nothing is being computed; empty if something is, or if that is unknown."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Stop all workers that this engine started, and drop pending tasks."""

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
        The scheme of the engine's address, `dask` or `ray`.

    Raises
    ------
    UsageError
        If it has another form: the libraries retry unreachable addresses for a long time.
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
        Number of worker processes of `local`, or largest number of simultaneous runs on a cluster.

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
