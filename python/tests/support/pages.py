"""The parts of a report: its head, its data block, its policy."""

import json
import re
from html.parser import HTMLParser
from typing import Any

from airpath.explorer.block import Place, values_of
from airpath.views.model import Values

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """A report, which must be well formed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html, self.open, self.tags, self.ids, self.resources = html, [], [], [], []
        self.scripts: dict[str, str] = {}
        self.code: list[str] = []
        self.styles: list[str] = []
        self.policy = self.text = self._kind = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [str(value) for name, value in attrs if name == "id"]
        self.resources += [str(v) for k, v in attrs if k in {"src", "href", "srcset", "data", "action"}]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(given["content"])
        if tag == "script":
            self._kind = given.get("id") or ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            if self._kind:
                self.scripts[self._kind] = data
            else:
                self.code.append(data)
        elif self.open[-1:] == ["style"]:
            self.styles.append(data)
        else:
            self.text += data

    @property
    def head(self) -> dict[str, Any]:
        """Return the names and places of the numbers."""
        return dict(json.loads(self.scripts["head"]))

    def values(self, place: list[Any]) -> Values:
        """Return the values of a series."""
        return values_of(self.scripts["block"].strip(), Place(*place))

    def directive(self, name: str) -> list[str]:
        """Return the sources of a directive of the policy."""
        found = re.search(rf"(?:^|; ?){name} ([^;]*)", self.policy)
        assert found, name
        return found[1].split()
