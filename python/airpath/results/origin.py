"""Provenance of the results of this process."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airpath import _core
from airpath.results import Origin


def origin_of_this_process(
    inputs: Mapping[str, bytes] | None = None,
    code: Mapping[str, bytes] | None = None,
    outside: Mapping[str, Mapping[str, Any]] | None = None,
) -> Origin:
    """Return the current provenance of results of this process."""
    return Origin(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command_line=[Path(sys.argv[0]).name, *sys.argv[1:]],
        commit=_commit(),
        rust_version=_core.RUSTC or None,
        inputs=inputs or {},
        code=code or {},
        outside=outside or {},
    )


def _commit() -> str | None:
    """Return the commit of the sources, with `-dirty` if they differ from it; `None` if unknown.

    An editable installation uses its checkout, any other the commit from which its engine was built.
    """
    checkout = Path(__file__).parents[2]
    if not (checkout / ".git").exists():
        return _core.COMMIT or None
    describe = ["git", "-C", str(checkout), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        said = subprocess.run(describe, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return _core.COMMIT or None
    return said.stdout.strip() or None
