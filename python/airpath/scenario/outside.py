"""Code of the user in a scenario, as provenance describes it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airpath.plugins.specs import Spec, code_name
from airpath.schemes import label_of

if TYPE_CHECKING:
    from airpath.plugins.loading import Plugin


def outside(named: Iterable[str], plugins: "Iterable[Plugin]") -> dict[str, dict[str, Any]]:
    """Return the schemes, estimators, queues and capacity sources that are code of the user, by name.

    Returns
    -------
    dict
        Of each the text as written (``scheme``), its ``door`` (Python, library or Linux), its ``files`` with
        their SHA-256 and which of them it names (``main``), and of a module of Linux ``compiled``:
        ``library_sha256``, ``compiler`` and ``flags``.
    """
    loaded = {plugin.id: plugin for plugin in plugins}
    return {
        label_of(text): _described(text, spec, loaded[spec.component])
        for text in named
        if (spec := Spec.parse(text)) is not None and spec.component in loaded
    }


def _door(spec: Spec) -> str:
    if spec.program:
        return "Linux" if spec.program == "linux" else spec.program
    return "library" if spec.is_library else "Python"


def _described(scheme: str, spec: Spec, plugin: "Plugin") -> dict[str, Any]:
    files: Mapping[str, str] = {
        code_name(path): hashlib.sha256(content).hexdigest() for path, content in plugin.sources.items()
    }
    return {
        "scheme": scheme,
        "door": _door(spec),
        "files": dict(sorted(files.items())),
        "main": [code_name(file.resolve()) for file in spec.files],
        **({"compiled": dict(plugin.compiled)} if plugin.compiled else {}),
    }
