"""User code of stored results: the original files, or the copies in the results."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from airpath.errors import OutputError
from airpath.plugins.specs import Spec, code_name, shown, split_label


@dataclass
class KeptCode:
    """The code of a directory of results."""

    directory: Path
    """The directory."""
    described: Mapping[str, Mapping[str, Any]]
    """Its schemes that are code, as provenance describes them, by name."""
    remarks: list[str] = field(default_factory=list)
    """Which copies are used, and why."""
    moved: dict[str, str] = field(default_factory=dict)
    """The original name for each name of a copy in plans, and of its files in provenance."""

    def scheme(self, written: str) -> str:
        """Return a text that names the original code: as written, else with the copies in the results.

        Raises
        ------
        OutputError
            If the files have changed, and the results contain no copy of the originals.
        """
        spec = Spec.parse(written)
        described = next((one for one in self.described.values() if one["scheme"] == written), None)
        if spec is None or described is None:
            return written
        fault = _fault(_places(spec, described), described["files"])
        if not fault:
            return written
        if spec.is_library or _fault(copies := self._copies(described), described["files"]):
            raise OutputError(
                f"{written}: {fault}, and {self.directory} contains no copy of the file of then"
            )
        moved = replace(
            spec,
            file=copies[described["main"][-1]],
            called=tuple(copies[name] for name in described["main"][:-1]),
        )
        self._note(written, fault, spec, moved, copies)
        name = split_label(written)[0]
        return moved.text if name is None else f"{name}={moved.text}"

    def in_scenario(self, value: Any) -> Any:
        """Return tables of a scenario in which all code is the original one (`scheme`)."""
        if isinstance(value, str):
            return self.scheme(value)
        return _mapped(value, self.in_scenario)

    def in_plan(self, value: Any) -> Any:
        """Return a plan in which code has the names of the originals."""
        return self.original(value) if isinstance(value, str) else _mapped(value, self.in_plan)

    def original(self, name: str) -> str:
        """Return the name of the original of a copy; any other name unchanged."""
        return self.moved.get(name, name)

    def _copies(self, described: Mapping[str, Any]) -> dict[str, Path]:
        return {name: (self.directory / "code" / name).resolve() for name in described["files"]}

    def _note(self, written: str, fault: str, spec: Spec, moved: Spec, copies: Mapping[str, Path]) -> None:
        remark = f"{written}: {fault}; used the copy in {self.directory / 'code'}"
        if remark not in self.remarks:
            self.remarks.append(remark)
        self.moved[moved.component] = spec.component
        self.moved |= {code_name(path): name for name, path in copies.items()}


def _places(spec: Spec, described: Mapping[str, Any]) -> dict[str, Path]:
    """Return the current paths of the original files; those of others are relative to the main file."""
    main = PurePosixPath(described["main"][-1]).parent
    folder = spec.file.resolve().parent
    places = {name: folder / os.path.relpath(name, main) for name in described["files"]}
    return places | dict(zip(described["main"], (file.resolve() for file in spec.files), strict=True))


def _fault(places: Mapping[str, Path], digests: Mapping[str, str]) -> str:
    """Return the fault of the first file that differs from the original; empty if there is none."""
    for name, digest in digests.items():
        try:
            content = places[name].read_bytes()
        except OSError:
            return f"{shown(places[name])} cannot be read"
        if hashlib.sha256(content).hexdigest() != digest:
            return f"{shown(places[name])} is another one"
    return ""


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return a value of JSON or TOML with a function applied to the items of tables and lists."""
    if isinstance(value, Mapping):
        return {key: function(inner) for key, inner in value.items()}
    return [function(inner) for inner in value] if isinstance(value, list) else value
