"""Fuzz one Python reader with libFuzzer: `fuzz_reader.py NAME SEEDS` and libFuzzer's arguments."""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["airpath", "airpath_lint", "airpath_papers"]):
    import fuzz_readers


def main() -> None:
    """Fuzz the reader whose name is the first argument."""
    name, seeds, *arguments = sys.argv[1:]
    fuzz_readers.use_seeds(Path(seeds))
    target = fuzz_readers.TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        atheris.Setup(
            [sys.argv[0], *arguments], lambda content: fuzz_readers.feed(target, content, Path(folder))
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
