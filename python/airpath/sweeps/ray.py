"""A Ray cluster, or Ray on this machine."""

from importlib import import_module
from typing import Any

from airpath.errors import UsageError
from airpath.sweeps.engine import Engine, EngineError, Pending
from airpath.sweeps.task import Failure, Task, do_task, version

MOST_DEATHS = 3
"""A task over which so many workers died is given up."""


class RayEngine(Engine):
    """Workers of Ray.

    Parameters
    ----------
    address
        `ray://HOST:PORT` of a cluster, or `None` for Ray on this machine, which is started and stopped here.
    jobs
        How many runs at the same time; by default as many as Ray knows processors.

    Raises
    ------
    UsageError
        If `ray` is not installed.
    EngineError
        If the cluster cannot be reached.
    """

    def __init__(self, address: str | None, jobs: int | None = None) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise UsageError(
                'engine: ray needs the library "ray"; install it with: pip install "airpath[ray]"'
            ) from None
        self._library = ray
        options = {} if address else {"num_cpus": jobs, "include_dashboard": False}
        try:
            ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **options)
        except (OSError, ValueError, RuntimeError) as error:
            raise EngineError(
                f"engine: Ray does not answer at {address or 'this machine'}: {error}"
            ) from None
        self._jobs = jobs
        self._do = ray.remote(max_retries=MOST_DEATHS - 1, num_cpus=1)(do_task)

    @property
    def slots(self) -> int:
        """Two for each processor that Ray knows, as far as it is known now."""
        return 2 * int(self._jobs or self._library.cluster_resources().get("CPU", 1))

    def submit(self, task: Task) -> Pending:
        """Hand in a task; Ray itself tries it elsewhere if its worker dies."""
        pending: Pending = self._do.remote(task, version()).future()
        return pending

    def result(self, pending: Pending) -> bytes | Failure:
        """Return what came of a task that is done."""
        errors = self._library.exceptions
        try:
            return pending.result()
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError):
            return Failure("its worker died again and again (out of memory?)")
        except Exception as error:
            text = " ".join(str(getattr(error, "cause", None) or error).split())
            raise EngineError(f"Ray cannot go on: {type(error).__name__}: {text}") from None

    def restart(self) -> None:
        """Nothing to do: Ray replaces workers by itself."""

    def close(self) -> None:
        """Leave Ray; what was started here is stopped."""
        self._library.shutdown()
