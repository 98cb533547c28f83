"""airpath: a laboratory for bandwidth estimation and congestion control over links whose capacity varies.

>>> import airpath
>>> results = airpath.compare(["newreno", "cubic"], "lte.down", duration="10s")
>>> results.to_pandas("summary")

Modules are loaded on first use, so that importing the package takes almost no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from airpath import errors
    from airpath.explorer.notebook import explore
    from airpath.loss_fit import fit
    from airpath.plugins.capacity_source import CapacitySource
    from airpath.plugins.controller import BitsPerSecond, Bytes, Controller, Seconds, Share
    from airpath.plugins.estimator import Estimator
    from airpath.plugins.queue import Queue
    from airpath.plugins.specs import allow_code
    from airpath.precision import PrecisionRule
    from airpath.results import Results
    from airpath.runner import Interrupted, compare, run
    from airpath.scenario import Scenario
    from airpath.sweeps import SweepPlan, SweepResults, sweep

__all__ = [
    "BitsPerSecond",
    "Bytes",
    "CapacitySource",
    "Controller",
    "Estimator",
    "Interrupted",
    "PrecisionRule",
    "Queue",
    "Results",
    "Scenario",
    "Seconds",
    "Share",
    "SweepPlan",
    "SweepResults",
    "__version__",
    "allow_code",
    "compare",
    "errors",
    "explore",
    "fit",
    "run",
    "sweep",
]

_HOMES: Final = {
    "BitsPerSecond": "airpath.plugins.controller",
    "Bytes": "airpath.plugins.controller",
    "CapacitySource": "airpath.plugins.capacity_source",
    "Controller": "airpath.plugins.controller",
    "Estimator": "airpath.plugins.estimator",
    "Interrupted": "airpath.runner",
    "PrecisionRule": "airpath.precision",
    "Queue": "airpath.plugins.queue",
    "Results": "airpath.results",
    "Scenario": "airpath.scenario",
    "Seconds": "airpath.plugins.controller",
    "Share": "airpath.plugins.controller",
    "SweepPlan": "airpath.sweeps",
    "SweepResults": "airpath.sweeps",
    "allow_code": "airpath.plugins.specs",
    "compare": "airpath.runner",
    "explore": "airpath.explorer.notebook",
    "fit": "airpath.loss_fit",
    "run": "airpath.runner",
    "sweep": "airpath.sweeps",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "errors":
        return import_module("airpath.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'airpath' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib import metadata  # imported here because it is slow to import

    try:
        return metadata.version("airpath")
    except metadata.PackageNotFoundError:
        return "0+unknown"
