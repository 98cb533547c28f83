"""A file with controllers that was loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airpath import _core

MadeBy = Callable[[str], _core.Controller] | _core.Library
"""What makes the controllers of a connection: a function of the values in a plan (JSON), or a library."""


@dataclass(frozen=True)
class Declared:
    """A controller of a file."""

    schema: Mapping[str, Any]
    """The JSON schema of its parameters."""
    made_by: MadeBy
    """What makes it."""


@dataclass(frozen=True)
class LoadedFile:
    """A file that was loaded."""

    controllers: Mapping[str, Declared]
    """Its controllers by class; that of a library has the empty name."""
    sources: Mapping[Path, bytes]
    """The file, and what it imports or includes from its folder, as they were loaded."""
    is_current: Callable[[], bool]
    """Whether the files are still as they were."""
    compiled: Mapping[str, Any] = field(default_factory=dict)
    """How it was compiled, for provenance; empty if it was not."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport that its controllers need."""
