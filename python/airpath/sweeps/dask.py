"""A running Dask cluster: a scheduler and workers on any machines."""

import logging
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from typing import Any

from airpath.errors import UsageError
from airpath.sweeps.engine import (
    Engine,
    EngineError,
    Pending,
    ResultLostError,
    RetriesExhaustedError,
    host_and_port,
)
from airpath.sweeps.task import Failure, Task, do_task, version

CONNECT_WITHIN_S = 10
FETCH_WITHIN_S = 2
"""Time to fetch a result, in seconds, after which it may have been lost with its worker."""


class DaskEngine(Engine):
    """The workers of a Dask cluster.

    Parameters
    ----------
    address
        `HOST:PORT` of the scheduler.
    jobs
        Largest number of simultaneous runs; by default the number of threads of the cluster.

    Raises
    ------
    UsageError
        If the address has another form, or `distributed` is not installed.
    EngineError
        If the cluster cannot be reached, or has no worker.
    """

    def __init__(self, address: str, jobs: int | None = None) -> None:
        host_and_port(address, "dask")
        try:
            self._library: Any = import_module("distributed")
        except ImportError:
            raise UsageError(
                'engine: dask needs the library "distributed"; install it with: pip install "airpath[dask]"'
            ) from None
        self._address = address
        self._jobs = jobs
        self._known_threads = 0
        try:
            self._client = self._library.Client(
                f"tcp://{address}", timeout=CONNECT_WITHIN_S, set_as_default=False
            )
        except (OSError, ValueError, TimeoutError) as error:
            raise EngineError(f"engine: no Dask scheduler answers at {address}: {error}") from None
        if not self._threads():
            self._client.close()
            raise EngineError(f"engine: the Dask cluster at {address} has no workers; start some first")
        # It logs a traceback when the scheduler disappears; `result` reports this in words.
        self._log = logging.getLogger("distributed.client")
        self._log_level = self._log.level
        self._log.setLevel(logging.CRITICAL)

    @property
    def slots(self) -> int:
        """Two for each thread that the cluster has now; workers may come and go."""
        return self._jobs or 2 * max(1, self._threads())

    def submit(self, task: Task) -> Pending:
        """Submit a task; Dask itself runs it elsewhere if its worker dies."""
        # Not pure: Dask must not cache results by task.
        pending: Pending = self._client.submit(do_task, task, version(), pure=False)
        return pending

    def result(self, pending: Any) -> bytes | Failure:
        """Return the result of a finished task, whose worker may have died since."""
        while True:
            try:
                found: bytes | Failure = pending.result(timeout=FETCH_WITHIN_S)
            except TimeoutError:
                # Dask itself would wait forever.
                if pending.status != "finished" or not self._threads():
                    raise ResultLostError from None
            except self._library.KilledWorker:
                raise RetriesExhaustedError from None
            except (CancelledError, self._library.comm.CommClosedError):
                raise EngineError(
                    f"the scheduler of the Dask cluster at {self._address} has stopped; finished runs are"
                    " kept, and with another scheduler the same command resumes"
                ) from None
            except Exception as error:
                text = " ".join(str(error).split())
                raise EngineError(
                    f"the Dask cluster at {self._address} failed: {type(error).__name__}: {text}"
                ) from None
            else:
                return found

    def restart(self) -> None:
        """Do nothing: Dask replaces workers by itself."""

    def stalled(self) -> str:
        """Report that there are no workers: Dask itself waits silently for new ones."""
        if self._threads():
            return ""
        return f"the Dask cluster at {self._address} has no workers now; the sweep goes on when some come"

    def close(self) -> None:
        """Disconnect from the cluster, which continues to run but drops this client's tasks."""
        self._client.close()
        self._log.setLevel(self._log_level)

    def _threads(self) -> int:
        """Return the number of threads of the cluster; the last known if the scheduler does not answer."""
        if self._client.status == "running":
            with suppress(OSError):
                self._known_threads = sum(self._client.nthreads().values())
        return self._known_threads
