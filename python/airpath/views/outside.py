"""User code in the report: schemes that are not part of airpath."""

from collections.abc import Mapping
from typing import Any, Final

from airpath.views.model import Section

HEAD: Final = ("scheme", "written as", "door", "file", "SHA-256", "compiler", "options of the compiler")
NOTE: Final = (
    "Schemes whose code is not part of airpath. Results contain copies of sources (code/), not of libraries."
)


def outside(provenance: Mapping[str, Any]) -> list[Section]:
    """Return the section on user code, if there is any.

    Parameters
    ----------
    provenance
        The content of ``provenance.json``, of runs or of a sweep.
    """
    rows = outside_rows(provenance)
    return (
        [Section("outside", "From outside", NOTE, tables=[{"title": "", "head": HEAD, "rows": rows}])]
        if rows
        else []
    )


def outside_rows(provenance: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each file of each scheme that is not part of airpath, with the cells of `HEAD`."""
    rows: list[tuple[str, ...]] = []
    for name, described in provenance.get("outside", {}).items():
        compiled = described.get("compiled", {})
        built = compiled.get("compiler", ""), " ".join(compiled.get("flags", ()))
        for file, digest in described["files"].items():
            rows.append((name, described["scheme"], described["door"], file, digest, *built))
    return rows
