"""The server of `airpath view`: one user, this machine only, read only."""

import base64
import hmac
import json
import secrets
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from airpath.errors import AirpathError, UsageError
from airpath.explorer.page import page
from airpath.results import Results, RunResult, read
from airpath.viewer.detail import detail
from airpath.viewer.found import Found, find
from airpath.viewer.shown import difference, empty, failed, overlay, view_of_one
from airpath.viewer.sweep import run_point, sweep_view
from airpath.views.model import View
from airpath.views.view import view_of

LOOPBACK: Final = "127.0.0.1"
KEPT_BLOCKS: Final = 8
"""Maximum number of blocks of parts of runs that are kept until the page requests them."""
_CHOICES: Final = ("show", "diff", "point")
"""Words of an address that are not axes of a sweep."""
_HTML: Final = "text/html; charset=utf-8"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Query = Mapping[str, str]
Answer = tuple[str, bytes]
"""Content type and content."""


class _NotFoundError(Exception):
    """There is no such address, result or part of a result."""


class Viewer(ThreadingHTTPServer):
    """A server of the report of results below some directories.

    It listens on the loopback address only, and answers only requests for addresses that begin with a random
    token and with this machine in their `Host` header. It reads only directories that it has found below the
    given ones, and writes nothing.

    Parameters
    ----------
    roots
        The directories.
    port
        Port to listen on; 0 takes a free one.

    Raises
    ------
    airpath.errors.UsageError
        If a directory does not exist, or the port is taken.
    """

    daemon_threads = True

    def __init__(self, roots: Sequence[Path], port: int = 0) -> None:
        if missing := [root for root in roots if not root.is_dir()]:
            raise UsageError(f"{missing[0]}: there is no such directory; accepted: a directory of results")
        self.roots = list(roots)
        self.token = secrets.token_urlsafe(16)
        self._blocks: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"--port: found {port}, which cannot be used: {error.strerror or error}"
            ) from None

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/{self.token}/"

    @property
    def hosts(self) -> set[str]:
        """Values of the `Host` header that are accepted."""
        return {f"{name}:{self.server_address[1]}" for name in (LOOPBACK, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if the browser has disconnected before the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def answer(self, name: str, query: Query) -> Answer:
        """Return the answer to an address below the token.

        Raises
        ------
        _NotFoundError
            If there is no such address, or no such result.
        """
        answers: dict[str, Callable[[Query], Answer]] = {
            "": self._page,
            "index": self._index,
            "head": self._head,
            "block": self._block,
        }
        if name not in answers:
            raise _NotFoundError
        return answers[name](query)

    def _index(self, _: Query) -> Answer:
        return _json([one.facts() for one in find(self.roots)])

    def _page(self, query: Query) -> Answer:
        chosen = self._chosen(query)
        if len(chosen) == 1 and chosen[0].kind == "report":
            return _HTML, (chosen[0].directory / "report.html").read_bytes()
        served: dict[str, Any] = {
            "roots": [str(root) for root in self.roots],
            "shown": [one.key for one in chosen],
        }
        scenario, provenance = "", None
        try:
            view, more = self._view(chosen, query)
            served |= more
            if len(chosen) == 1 and chosen[0].kind == "runs":
                scenario = (chosen[0].directory / "scenario.toml").read_text(encoding="utf-8")
                provenance = json.loads((chosen[0].directory / "provenance.json").read_text(encoding="utf-8"))
        except AirpathError as error:
            view = failed(error)
        text = page(view, scenario_text=scenario, provenance=provenance, served=served)
        return _HTML, text.encode()

    def _view(self, chosen: Sequence[Found], query: Query) -> tuple[View, dict[str, Any]]:
        if not chosen:
            return empty(), {}
        if len(chosen) == 2 and "diff" in query:
            return difference(*chosen), {}
        if len(chosen) > 1:
            return overlay(chosen), {}
        (one,) = chosen
        if one.kind == "runs":
            return view_of_one(one, _read(one.directory, _changed(one.directory))), {}
        choices = {name: value for name, value in query.items() if name not in _CHOICES}
        if "point" in query:
            return view_of(run_point(one, choices)), {"again": True}
        view, sweep = sweep_view(one, choices)
        return view, {"sweep": sweep}

    def _chosen(self, query: Query) -> list[Found]:
        known = {one.key: one for one in find(self.roots)}
        keys = [key for key in dict.fromkeys(query.get("show", "").split(",")) if key]
        if not known.keys() >= set(keys):
            raise _NotFoundError
        return [known[key] for key in keys]

    def _head(self, query: Query) -> Answer:
        chosen = self._chosen(query)
        if len(chosen) != 1:
            raise _NotFoundError
        results = _read(chosen[0].directory, _changed(chosen[0].directory))
        try:
            run = _run(results, int(query["scheme"]), int(query["seed"]))
            from_s, to_s, width = float(query["from"]), float(query["to"]), int(query["width"])
        except (KeyError, ValueError, IndexError):
            raise _NotFoundError from None
        panels, block = detail(run, from_s, to_s, width)
        key = secrets.token_urlsafe(8)
        with self._lock:
            self._blocks[key] = block
            while len(self._blocks) > KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        return _json({"panels": panels, "block": key})

    def _block(self, query: Query) -> Answer:
        with self._lock:
            block = self._blocks.pop(query.get("key", ""), None)
        if block is None:
            raise _NotFoundError
        return "application/octet-stream", base64.b64decode(block)


class _Handler(BaseHTTPRequestHandler):
    """A handler that checks a request, and sends the answer."""

    server: Viewer
    protocol_version = "HTTP/1.1"
    server_version = "airpath"
    sys_version = ""

    def do_GET(self) -> None:
        if self.headers.get("Host", "") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        parts = urlsplit(self.path)
        _, _, rest = parts.path.partition("/")
        token, _, name = rest.partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        try:
            kind, content = self.server.answer(name, dict(parse_qsl(parts.query, keep_blank_values=True)))
        except _NotFoundError:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        except AirpathError as error:
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, "text/plain; charset=utf-8", str(error).encode())
            return
        self._send(HTTPStatus.OK, kind, content)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{status.value} {status.phrase}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing: all requests come from one page."""


@lru_cache(maxsize=2)
def _read(directory: Path, _changed: int) -> Results:
    return read(directory)


def _changed(directory: Path) -> int:
    """Return the time at which results were written, so that replaced ones are read again."""
    return (directory / "provenance.json").stat().st_mtime_ns


def _run(results: Results, scheme: int, seed: int) -> RunResult:
    seeds = list(dict.fromkeys(run.record.seed for run in results.runs))
    wanted = (results.schemes[scheme], seeds[seed])
    for run in results.runs:
        if (run.record.scheme, run.record.seed) == wanted:
            return run
    raise KeyError(wanted)


def _json(content: Any) -> Answer:
    return "application/json", json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
