"""`airpath` and `python -m airpath`: the command line, loaded and run."""

import atexit
import gc
import sys
from typing import Final

COLLECT_AFTER: Final = 100_000
"""Objects that are made before the collector looks for cycles; Python's own value is 700.

Most objects of a short command are modules and classes, which live until its end. Looking through them again
and again while they are loaded, and once more at the exit, took a fifth of its time.
"""


def main() -> None:
    """Load the command line and run it; Ctrl-C while it is loaded ends it as at any other time."""
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)
    try:
        from airpath.cli import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("airpath: interrupted\n")
        sys.exit(130)  # as `airpath.cli` has it, which could not be loaded
    command_line()


if __name__ == "__main__":
    main()
