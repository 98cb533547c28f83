"""Files of lists of operations that break a rule."""

import json
from pathlib import Path
from typing import Any, Final

from airpath.conform.examination import Failing
from airpath.errors import UsageError

FORMAT: Final = "airpath-operations-1"
"""The format stated in the files."""


def failing_text(scheme: str, failing: Failing) -> str:
    """Return a list as the text of a file, one operation a line."""
    head = {
        "format": FORMAT,
        "controller": scheme,
        "rule": failing.breach.rule,
        "message": failing.breach.message,
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    operations = ",\n".join(f"    {json.dumps(one)}" for one in failing.operations)
    listed = f"[\n{operations}\n  ]" if failing.operations else "[]"
    return "\n".join(["{", *lines, f'  "operations": {listed}', "}", ""])


def read_operations(file: Path) -> list[Any]:
    """Return the list of operations of a file.

    Raises
    ------
    UsageError
        If the file cannot be read, or has another content.
    """
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{file}: it is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UsageError(f"{file}: it is no list of operations of `airpath conform`")
    operations = content.get("operations")
    if not isinstance(operations, list):
        raise UsageError(f'{file}: "operations": found {operations!r}; accepted: a list')
    return operations
