"""A loaded file with components."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from airpath import _core

Component = _core.Controller | _core.Estimator | _core.CapacitySource | _core.Queue
MadeBy = Callable[[str], Component] | _core.Library
"""The maker of instances of a component: a function of the values in a plan (JSON), or a library."""
KINDS: Final = {
    "controller": "a controller",
    "ack-rate": "an ACK-rate estimator",
    "capacity-source": "a capacity source",
    "queue": "a queue discipline",
}
"""The kinds of components that files may have, as the engine names them and in words."""


@dataclass(frozen=True)
class Declared:
    """A component of a file."""

    kind: str
    """Its kind, as the engine names it: `controller`, `ack-rate`, `capacity-source`, `queue`."""
    schema: Mapping[str, Any]
    """The JSON schema of its parameters."""
    made_by: MadeBy
    """The maker of its instances."""


@dataclass(frozen=True)
class LoadedFile:
    """A loaded file."""

    components: Mapping[str, Declared]
    """Its components by class; those of a library by kind."""
    sources: Mapping[Path, bytes]
    """The file and the files that it imports or includes from its folder, as they were loaded."""
    is_current: Callable[[], bool]
    """Returns whether the files are unchanged."""
    compiled: Mapping[str, Any] = field(default_factory=dict)
    """How it was compiled, for provenance; empty if it was not."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport that its components need."""
