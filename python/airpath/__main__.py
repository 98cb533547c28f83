"""`airpath` and `python -m airpath`: the command line, loaded and run."""

import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C while it is loaded ends it as at any other time."""
    try:
        from airpath.cli import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("airpath: interrupted\n")
        sys.exit(130)  # as `airpath.cli` has it, which could not be loaded
    command_line()


if __name__ == "__main__":
    main()
