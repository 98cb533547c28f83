"""Shared libraries that are compiled by the C compiler of this machine."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from airpath.plugins.templates import INCLUDE, c_start

COMPILER = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ("-shared", "-fPIC", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}")
ENDING = "dylib" if sys.platform == "darwin" else "so"

with_compiler = pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason=f"no C compiler ({COMPILER[0]})")


def compiled(library, *sources, **macros):
    """Compile C files to a library in the working directory, with macros; return its name for users."""
    defined = [f"-D{name}={value}" for name, value in macros.items()]
    subprocess.run([*COMPILER, *FLAGS, *defined, *map(str, sources), "-o", library], check=True)
    return f"./{library}"


def endless():
    """Compile a controller that does not return from `on_ack`; return its name for users."""
    (text,) = c_start("endless").files.values()
    growth = "control->window += ack->acked;"
    assert text.count(growth) == 1
    Path("endless.c").write_text(text.replace(growth, "while (*(volatile double *)&self->keep > 0);"))
    return compiled("endless.so", "endless.c")


def build_as_printed(output):
    """Run the command that `airpath new` printed."""
    command = next(line for line in output.splitlines() if line.startswith("build it: "))
    subprocess.run(shlex.split(command.removeprefix("build it: ")), check=True, capture_output=True)
