"""Check the HTML of the documentation site.

    python tools/check_site.py site

Every page must parse without an error of the HTML standard. It must have a language, a title, one first-level
heading, no skipped level of headings, unique ids, text for images, headers in tables, and links to files and
anchors that exist. Scripts, styles and images must come from the site itself.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from justhtml import Element, JustHTML

LOADED: Final = {"img": "src", "script": "src", "link": "href", "iframe": "src", "object": "data"}
"""Attributes whose files a browser loads with the page."""
NOT_LOADED: Final = frozenset({"canonical", "prev", "next"})
"""Relations of `link` elements that load nothing."""


@dataclass(frozen=True)
class Page:
    """One page of the site."""

    path: Path
    document: JustHTML
    ids: Counter[str]

    @classmethod
    def read(cls, path: Path) -> "Page":
        """Parse a file."""
        document = JustHTML(path.read_text(encoding="utf-8"), sanitize=False, collect_errors=True)
        ids = Counter(str(attributes(element)["id"]) for element in found(document, "[id]"))
        return cls(path, document, ids)


def found(parent: JustHTML | Element, selector: str) -> list[Element]:
    """Return the elements that a CSS selector selects."""
    return [node for node in parent.query(selector) if isinstance(node, Element)]


def attributes(element: Element) -> Mapping[str, str | None]:
    """Return the attributes of an element by name."""
    return element.attrs or {}


def findings(page: Page, pages: Mapping[Path, Page], site: Path) -> Iterator[str]:
    """Return what is wrong with a page of the site in a folder."""
    document = page.document
    for error in document.errors:
        yield f"line {error.line}: {error.message}"
    if not found(document, "html[lang]"):
        yield "no language: html has no lang"
    if not any(title.to_text().strip() for title in found(document, "head > title")):
        yield "no title"
    for name, count in page.ids.items():
        if count > 1:
            yield f"id {name!r} occurs {count} times"
    yield from headings(document)
    for image in found(document, "img"):
        if not attributes(image).get("alt"):
            yield f"image without a text (alt): {attributes(image).get('src')}"
    for table in found(document, "table"):
        if not found(table, "th"):
            yield f"table without headers: {' '.join(table.to_text().split())[:60]}"
    yield from links(page, pages, site)


def headings(document: JustHTML) -> Iterator[str]:
    """Return wrong levels of headings."""
    all_headings = found(document, "h1, h2, h3, h4, h5, h6")
    levels = [int(heading.name[1]) for heading in all_headings]
    if levels.count(1) != 1:
        yield f"{levels.count(1)} first-level headings instead of 1"
    for heading, level, above in zip(all_headings[1:], levels[1:], levels, strict=False):
        if level > above + 1:
            yield f"heading {heading.to_text().strip()!r}: level {level} follows level {above}"


def links(page: Page, pages: Mapping[Path, Page], site: Path) -> Iterator[str]:
    """Return links without a target, and files that are loaded from elsewhere."""
    for element in linking(page.document):
        address = str(attributes(element).get(LOADED.get(element.name, "href")) or "")
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            if element.name != "a" and attributes(element).get("rel") not in NOT_LOADED:
                yield f"loaded from another site: {address}"
            continue
        path = unquote(parts.path)
        # Only the page for errors has absolute paths, because a server shows it in every folder.
        base = site if path.startswith("/") else page.path.parent
        target = (base / path.lstrip("/")).resolve() if path else page.path
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            yield f"no such file: {address}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"no such anchor: {address}"


def linking(document: JustHTML) -> Iterator[Element]:
    """Return the elements that link to files or load them."""
    yield from found(document, "a[href]")
    for name, attribute in LOADED.items():
        yield from found(document, f"{name}[{attribute}]")


def main() -> int:
    """Print each finding; the exit code is 1 if there are any."""
    site = Path(sys.argv[1]).resolve()
    pages = {path: Page.read(path) for path in sorted(site.rglob("*.html"))}
    count = 0
    for path, page in pages.items():
        for finding in findings(page, pages, site):
            sys.stderr.write(f"{path.relative_to(site)}: {finding}\n")
            count += 1
    if not pages:
        sys.stderr.write(f"{site}: no pages; build the site first\n")
    return 1 if count or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
