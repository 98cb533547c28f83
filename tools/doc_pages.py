"""Execute the commands of a page of the documentation, and replace the outputs that it shows.

    python tools/doc_pages.py docs/how-to/compare.md …

Blocks of a page are executed in order, in an empty folder: a block with a title is written to that file,
`$ airpath …` in a `console` block is called, and `python` is executed. Lines below a command are its output
on standard output; a line `…` stands for any lines. `$ echo $?` shows the exit code of the command before
it, which is 0 for every other command. A block `text title="output"` is what the Python above it prints. The
tests compare all of them with what is printed.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from airpath.plugins import templates

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = ROOT / "docs" / "images"
FIGURES: Final = {
    "first-comparison.png": "figures/throughput-cubic.png",
    "first-scenario.png": "figures/throughput-cubic.png",
    "first-estimate.png": "replayed/figures/01-run-0000.pcapng-flow-01.png",
    "first-controller.png": "figures/window-Near.png",
    "compare-link.png": "figures/trade-off.png",
    "trace.png": "phone.png",
    "compare-on-a-trace.png": "figures/trade-off.png",
    "precision.png": "figures/precision.png",
    "sweep.png": "sweep.png",
    "figures.png": "figures/throughput-bbr.png",
    "controller-c.png": "figures/window-Mine_keep_0.8.png",
    "own-estimator.png": "estimates.png",
    "own-capacity-source.png": "figures/estimate-XCP-Busy.png",
    "learning.png": "trade-off.png",
    "estimate-bandwidth.png": "bandwidth.png",
    "what-limits-a-flow.png": "limits.png",
    "score-estimators.png": "errors.png",
    "traces.png": "walk.png",
    "link-logs.png": "log/figures/01-uplink.log-throughput.png",
    "backends.png": "gap/figures/gap.png",
    "qlog.png": "window.png",
    "leaderboard.png": "board/leaderboard.png",
}
"""Figures that are copied from the results of a page, by their name in `docs/images`."""

BLOCK: Final = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
OUTPUT: Final = "output"
"""Title of a block that Python prints."""
COMMAND: Final = "$ airpath "
EXIT_CODE: Final = "$ echo $?"
ANY: Final = "…"

Call = Callable[[list[str]], tuple[int, str]]
"""Calls a command; returns its exit code and what it wrote to standard output."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    title: str | None
    text: str


@dataclass(frozen=True)
class Command:
    """A command of a page, with the output and the exit code that the page shows."""

    line: str
    output: str = ""
    code: int = 0
    shows_code: bool = False

    @property
    def words(self) -> list[str]:
        """The words of the command, `airpath` first."""
        return shlex.split(self.line.removeprefix("$ "))

    def text(self) -> str:
        """Return the lines of the page."""
        return f"{self.line}\n{self.output}" + (f"{EXIT_CODE}\n{self.code}\n" if self.shows_code else "")


def blocks(page: Path) -> list[Block]:
    """Return all fenced blocks of a page."""
    return [Block(**match.groupdict()) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(text: str) -> Iterator[Command]:
    """Return the commands of a `console` block, with their outputs."""
    found: list[Command] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line == EXIT_CODE and found:
            found[-1] = replace(found[-1], code=int(next(lines)), shows_code=True)
        elif line.startswith("$") or not found:
            if not line.startswith(COMMAND):
                raise ValueError(f"not a command that can be executed: {line}")
            found.append(Command(line))
        else:
            found[-1] = replace(found[-1], output=f"{found[-1].output}{line}\n")
    yield from found


def equal(shown: str, printed: str) -> bool:
    """Return whether an output is the one that a page shows, without spaces at the ends of lines."""
    lines = [line.rstrip() for line in shown.rstrip().splitlines()]
    pattern = "".join("(?:.*\n)*" if line == ANY else f"{re.escape(line)}\n" for line in lines)
    return (
        re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines()))
        is not None
    )


def execute(page: Path, call: Call) -> Iterator[tuple[Block, str, str]]:
    """Execute a page in the current directory.

    Returns each block with the text that it should have, and what its Python printed.
    """
    namespace: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for block in blocks(page):
        text = block.text
        if block.title == OUTPUT:
            yield block, text if equal(text, printed) else printed, ""
            continue
        printed = ""
        if block.title is not None:
            _write(Path(block.title), block)
        elif block.language == "console":
            text = "".join(_called(command, call) for command in commands(text))
        elif block.language == "sh" and text.startswith("cc "):
            subprocess.run(shlex.split(text.replace("DIR", shlex.quote(str(templates.INCLUDE)))), check=True)
        elif block.language in ("c", "rust"):
            files = Path().rglob("*.c" if block.language == "c" else "*.rs")
            if not any(text in file.read_text(encoding="utf-8") for file in files):
                raise ValueError(
                    f"{page.name}: not a part of a file that a command of the page wrote:\n{text}"
                )
        elif block.language == "python":
            with redirect_stdout(StringIO()) as written:
                exec(compile(text, str(page), "exec"), namespace)
            printed = written.getvalue()
        yield block, text, printed


def _write(file: Path, block: Block) -> None:
    # A command of the page may have written it already.
    if file.exists() and file.read_text(encoding="utf-8") != block.text:
        raise ValueError(f"a command of the page wrote another {file}")
    file.write_text(block.text, encoding="utf-8")


def _called(command: Command, call: Call) -> str:
    code, printed = call(command.words)
    if code != command.code or not printed:
        raise ValueError(f"exit code {code} instead of {command.code}: {command.line}\n{printed}")
    if not command.output or equal(command.output, printed):
        return command.text()
    return replace(
        command, output="".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    ).text()


def _process(words: list[str]) -> tuple[int, str]:
    paths = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True, env=environment)
    return done.returncode, done.stdout


def _replaced(found: re.Match[str], text: str) -> str:
    start = found.start()
    return found[0][: found.start("text") - start] + text + found[0][found.end("text") - start :]


def main() -> None:
    """Execute pages, and replace their outputs and figures."""
    os.environ.pop("AIRPATH_TRACES", None)  # more cases of leaderboards would run
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with TemporaryDirectory() as folder, chdir(folder):
            texts = iter([text for _, text, _ in execute(page, _process)])
            written = BLOCK.sub(lambda found: _replaced(found, next(texts)), page.read_text(encoding="utf-8"))  # noqa: B023
            page.write_text(written, encoding="utf-8")
            for image, place in FIGURES.items():
                if Path(place).is_file() and f"images/{image}" in written:
                    shutil.copy(place, IMAGES / image)


if __name__ == "__main__":
    main()
