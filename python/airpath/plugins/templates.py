"""Templates of components in Python, C and Rust."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airpath import _core

INCLUDE: Final = Path(__file__).parent.parent / "include"
"""The folder of `airpath_controller.h`, `airpath_components.h` and `airpath_easy.h`."""
_CRATE: Final = Path(__file__).parents[3] / "crates" / "plugin"
"""The crate for authors, if this is a checkout."""
_ENDING: Final = "dylib" if sys.platform == "darwin" else "so"
"""The extension of shared libraries."""


@dataclass(frozen=True)
class Start:
    """Files of a template."""

    files: Mapping[Path, str]
    """Their content."""
    place: Path
    """The file, or the folder of several files."""
    compare: str
    """The arguments of `airpath compare` that run them."""
    build: str = ""
    """The command that builds a library from them; empty if there is nothing to build."""
    note: str = ""
    """A note on manual steps."""


COMPARE: Final = {
    "controller": "{class} cubic --link lte.down",
    "estimator": "{class} westwood+ --link lte.down",
    "source": "xcp:source={class} xcp-ebe xcp-oracle --link lte.down",
    "queue": "cubic --link 20mbps --queue {class} --ecn",
}
"""The arguments of `airpath compare` that run a class or a library, by its kind."""


def python_start(name: str, kind: str = "controller") -> Start:
    """Return a class in a Python file; `kind` is a key of `COMPARE`."""
    file = Path(f"{name}.py")
    text = _template(f"template_{kind}.py.txt").replace("{name}", _title(name))
    return Start({file: text}, file, COMPARE[kind].replace("{class}", f"{file}:{_title(name)}"))


def c_start(name: str, kind: str = "controller") -> Start:
    """Return a file in C; `kind` is a key of `COMPARE`."""
    file, library = Path(f"{name}.c"), f"{name}.{_ENDING}"
    build = f"cc -shared -fPIC -O2 -I {shlex.quote(str(INCLUDE))} {file} -o {library}"
    text = _template(f"template_{kind}.c.txt").replace("{title}", _title(name)).replace("{build}", build)
    return Start({file: text}, file, COMPARE[kind].replace("{class}", f"./{library}"), build)


def rust_start(name: str, kind: str = "controller") -> Start:
    """Return a crate in Rust; `kind` is a key of `COMPARE`."""
    folder, note = Path(name), ""
    if _CRATE.is_dir():
        dependency = f"airpath-plugin = {{ path = {_toml(str(_CRATE))} }}"
    else:
        dependency = f'airpath-plugin = "{_core.__version__}"'
        note = (
            "airpath-plugin is not on crates.io yet: in Cargo.toml, replace its version by"
            ' { path = "…/crates/plugin" } of a checkout of airpath'
        )
    files = {
        folder / "Cargo.toml": _template("template_rust/Cargo.toml.txt")
        .replace("{name}", name)
        .replace("{dependency}", dependency),
        folder / "src" / "lib.rs": _template(f"template_rust/{kind}.rs.txt").replace("{title}", _title(name)),
    }
    build = f"cargo build --release --manifest-path {folder}/Cargo.toml"
    library = f"./{folder}/target/release/lib{name}.{_ENDING}"
    return Start(files, folder, COMPARE[kind].replace("{class}", library), build, note)


def _template(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _title(name: str) -> str:
    """Return a name in the form of a class name."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _toml(text: str) -> str:
    """Return a text in the form of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
