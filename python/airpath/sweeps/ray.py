"""Ray: on this machine, started and stopped with the sweep, or a running cluster."""

import socket
from importlib import import_module
from typing import Any

from airpath.errors import UsageError
from airpath.runner import workers
from airpath.sweeps.engine import Engine, EngineError, Pending, RetriesExhaustedError, host_and_port
from airpath.sweeps.task import Failure, Task, do_task, version

CONNECT_WITHIN_S = 10
MOST_DEATHS = 3
"""Number of dead workers after which a task is given up."""


class RayEngine(Engine):
    """Workers of Ray.

    Parameters
    ----------
    jobs
        Number of simultaneous runs; by default the number of processors, here or in the cluster.
    address
        `HOST:PORT` of the head of a cluster that this machine belongs to; if absent, Ray is started here.

    Raises
    ------
    UsageError
        If the address has another form, or `ray` is not installed.
    EngineError
        If Ray does not start, or the cluster cannot be reached.
    """

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        if address is not None:
            host_and_port(address, "ray")
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise UsageError(
                'engine: ray needs the library "ray"; install it with: pip install "airpath[ray]"'
            ) from None
        self._library = ray
        self._name = "Ray" if address is None else f"the Ray cluster at {address}"
        if address is not None:
            _refuse_if_nobody_answers(address)
        here = {"address": "local", "num_cpus": workers(jobs), "include_dashboard": False}
        try:
            ray.init(
                **(here if address is None else {"address": address}),
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (OSError, ValueError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise EngineError(
                f"engine: Ray does not start: {text}"
                if address is None
                else f"engine: the Ray cluster at {address} does not take this machine: {text}"
            ) from None
        self._jobs = workers(jobs) if address is None else jobs
        self._do = ray.remote(max_retries=MOST_DEATHS - 1, num_cpus=1)(do_task)

    @property
    def slots(self) -> int:
        """Two for each worker, so that the next task is ready when one is done; nodes may come and go."""
        return 2 * (self._jobs or max(1, int(self._library.cluster_resources().get("CPU", 1))))

    def submit(self, task: Task) -> Pending:
        """Submit a task; Ray itself runs it elsewhere if its worker dies."""
        pending: Pending = self._do.remote(task, version()).future()
        return pending

    def result(self, pending: Pending) -> bytes | Failure:
        """Return the result of a finished task."""
        errors = self._library.exceptions
        try:
            return pending.result()
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError):
            raise RetriesExhaustedError from None
        except Exception as error:
            text = " ".join(str(getattr(error, "cause", None) or error).split())
            raise EngineError(f"{self._name} failed: {type(error).__name__}: {text}") from None

    def restart(self) -> None:
        """Do nothing: Ray replaces workers by itself."""

    def close(self) -> None:
        """Stop Ray if it was started here; otherwise disconnect from the cluster."""
        self._library.shutdown()


def _refuse_if_nobody_answers(address: str) -> None:
    """Fail at once if nothing listens at the address: Ray itself retries for minutes."""
    try:
        socket.create_connection(host_and_port(address, "ray"), CONNECT_WITHIN_S).close()
    except OSError as error:
        raise EngineError(f"engine: no Ray cluster answers at {address}: {error}") from None
