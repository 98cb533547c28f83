"""Show notebooks in the site: a hook of mkdocs that makes a page of each notebook and its stored outputs."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FENCE: Final = "````"
"""Longer than any fence in a cell."""


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the page and the figures of every notebook; the notebook itself remains as a download."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        place = PurePosixPath(file.src_uri)
        figures: dict[str, bytes] = {}
        text = "\n".join(page(json.loads(file.content_string), place, figures))
        files.append(File.generated(config, str(place.with_suffix(".md")), content=text))
        for name, content in figures.items():
            files.append(File.generated(config, str(place.with_name(name)), content=content))
    return files


def page(notebook: Any, place: PurePosixPath, figures: dict[str, bytes]) -> Iterator[str]:
    """Return the Markdown of a notebook, part by part; its figures are added to `figures` by name."""
    for position, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            if position == 0:
                yield f"\n[Download this notebook]({place.name}){{ download }}"
        else:
            yield f"\n{FENCE}python\n{source}\n{FENCE}"
            for output in cell["outputs"]:
                yield shown(output, f"{place.stem}-{position + 1:02}.png", cell["metadata"], figures)
        yield ""


def shown(output: Any, name: str, metadata: Any, figures: dict[str, bytes]) -> str:
    """Return the Markdown of an output; `name` is that of its figure."""
    data = output.get("data", {})
    if "image/png" in data:
        figures[name] = base64.b64decode(data["image/png"])
        return f"\n![{metadata['alt']}]({name})"
    text = "".join(output["text"] if "text" in output else data["text/plain"])
    plain = re.sub(" +$", "", text, flags=re.MULTILINE).strip("\n")
    return f"\n{FENCE}text\n{plain}\n{FENCE}"
