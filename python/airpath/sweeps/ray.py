"""Ray on this machine, started and stopped with the sweep."""

from importlib import import_module
from typing import Any

from airpath.errors import UsageError
from airpath.runner import workers
from airpath.sweeps.engine import Engine, EngineError, Pending
from airpath.sweeps.task import Failure, Task, do_task, version

MOST_DEATHS = 3
"""A task over which so many workers died is given up."""


class RayEngine(Engine):
    """Workers of Ray.

    Parameters
    ----------
    jobs
        How many runs at the same time; by default as many as Ray knows processors.

    Raises
    ------
    UsageError
        If `ray` is not installed.
    EngineError
        If Ray does not start.
    """

    def __init__(self, jobs: int | None = None) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise UsageError(
                'engine: ray needs the library "ray"; install it with: pip install "airpath[ray]"'
            ) from None
        self._library = ray
        try:
            ray.init(
                address="local",
                num_cpus=workers(jobs),
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EngineError(f"engine: Ray does not start: {error}") from None
        self._jobs = workers(jobs)
        self._do = ray.remote(max_retries=MOST_DEATHS - 1, num_cpus=1)(do_task)

    @property
    def slots(self) -> int:
        """One more for each worker, so that the next task is there when one is done."""
        return 2 * self._jobs

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
        """Stop Ray."""
        self._library.shutdown()
