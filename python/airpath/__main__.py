"""`airpath` and `python -m airpath`: load and run the command line."""

import atexit
import gc
import sys
from typing import Final

COLLECT_AFTER: Final = 250_000
"""Number of new objects after which the garbage collector runs; Python's default is 700.

Nearly all objects of a short command belong to modules and live until the process exits. A short comparison
makes 100 000 to 150 000; collecting garbage during its imports and at exit takes a fifth of its time.
"""


def main() -> None:
    """Load the command line and run it; Ctrl-C while loading ends it like at any other time."""
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)  # skips the garbage collection at exit
    try:
        from airpath.cli import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("airpath: interrupted\n")
        sys.exit(130)  # same exit code as in `airpath.cli`, which is not loaded yet
    command_line()


if __name__ == "__main__":
    main()
