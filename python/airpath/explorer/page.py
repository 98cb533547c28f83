"""A view as one HTML page: data, styles and scripts in one file, without any request."""

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any, Final

from airpath.explorer.head import head_of
from airpath.views.model import View

MODULES: Final = (
    "dom",
    "head",
    "state",
    "theme",
    "marks",
    "bar",
    "chart",
    "map",
    "table",
    "series",
    "gestures",
    "overlays",
    "plot",
    "values",
    "panels",
    "distributions",
    "matrix",
    "pictures",
    "details",
    "saving",
    "keys",
    "main",
)
"""The scripts, each after those that it imports from."""
SERVED: Final = ("served",)
"""Further scripts of a page that a server provides with data."""
UPLOT_SHA256: Final = "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"
"""Hash of uPlot 1.6.32's ``uPlot.iife.min.js`` as released."""

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n|^[ \t]+", re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE)


def page(
    view: View,
    *,
    scenario_text: str = "",
    provenance: Mapping[str, Any] | None = None,
    served: Mapping[str, Any] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    view
        The view to show.
    scenario_text
        The scenario as its author wrote it; left out if empty.
    provenance
        The content of ``provenance.json``; left out if absent.
    served
        Data that a server of results adds for the module ``served``. The page of a file has none, and makes
        no request.
    """
    head, block = head_of(view)
    if served is not None:
        head["served"] = dict(served)
    head["scenario"] = scenario_text
    head["provenance"] = (
        "" if provenance is None else json.dumps(dict(provenance), indent=1, ensure_ascii=False)
    )
    uplot, style = asset("uplot/uPlot.iife.min.js"), style_text()
    script = script_text(served=served is not None)
    connect = "" if served is None else " connect-src 'self';"
    policy = (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none';{connect}"
        f" style-src '{_hash(style)}'; script-src '{_hash(uplot)}' '{_hash(script)}'"
    )
    return _template().substitute(
        policy=policy,
        title=escape(view.title),
        facts=escape(view.facts),
        findings=escape(view.findings),
        style=style,
        table=_without_scripts(view),
        head=_json(head),
        block=block,
        uplot=uplot,
        script=script,
    )


@functools.cache
def asset(name: str) -> str:
    """Return a file of the page."""
    return resources.files("airpath.explorer").joinpath("assets", name).read_text(encoding="utf-8")


@functools.cache
def script_text(*, served: bool = False) -> str:
    """Return the modules as one script, with that of a server if the page is `served`.

    Each module becomes a function that returns its exports; names of exports are unique. Comments and
    indentation are left out, because they are a third of the script.
    """
    modules = "".join(map(_module, (*MODULES, *SERVED) if served else MODULES))
    return f'(async () => {{\n"use strict";\n{modules}}})();\n'


def _module(name: str) -> str:
    text = _IMPORT.sub("", asset(f"{name}.js"))
    exports = ", ".join(_EXPORT.findall(text))
    body = _COMMENT.sub("", _EXPORT.sub(lambda found: found[0].removeprefix("export "), text))
    scope = "await (async () =>" if "await " in body else "(() =>"
    return f"const {{ {exports} }} = {scope} {{\n{body}return {{ {exports} }};\n}})();\n"


@functools.cache
def style_text() -> str:
    """Return all styles."""
    return asset("uplot/uPlot.min.css").strip() + "\n" + asset("explorer.css")


@functools.cache
def _template() -> Template:
    return Template(asset("page.html"))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _json(head: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the HTML element that contains it."""
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _without_scripts(view: View) -> str:
    """Return the main columns of the table for readers without scripts."""
    columns = [column for column in view.columns if column.main]
    heads = "".join(
        f"<th>{escape(column.title)}{escape(f' ({column.unit})' if column.unit else '')}</th>"
        for column in columns
    )
    rows = "".join(
        f"<tr><th>{escape(view.style[scheme].display_name)}</th>"
        + "".join(f"<td>{escape(column.cells[k].text)}</td>" for column in columns)
        + "</tr>"
        for k, scheme in enumerate(view.schemes)
    )
    return f"<table><tr><th>scheme</th>{heads}</tr>{rows}</table>"
