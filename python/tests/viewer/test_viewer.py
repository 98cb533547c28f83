"""`airpath view`: what the server finds, shows and refuses."""

import gzip
import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from pages import Page

import airpath
from airpath.cli import main
from airpath.errors import UsageError
from airpath.results import read
from airpath.viewer.detail import decimated
from airpath.viewer.found import find
from airpath.viewer.server import Viewer

PACKETS = [
    "run",
    "lte-download",
    "--set",
    "duration=8s",
    "--set",
    "record.packets=true",
    "--reps",
    "1",
    "--no-report",
]


def called(*arguments: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two comparisons, a run with packets, a sweep, and a link that leads outside."""
    root, other = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("other")
    short = ["--duration", "4s", "--reps", "2", "--no-report"]
    called("compare", "cubic", "vegas", "--link", "4mbps", *short, "--out", str(root / "first"))
    called("compare", "cubic", "bbr", "--link", "4mbps", *short, "--out", str(root / "deep" / "second"))
    called(*PACKETS, "--out", str(root / "packets"))
    called("compare", "cubic", "--link", "4mbps", *short, "--out", str(other / "elsewhere"))
    (root / "away").symlink_to(other / "elsewhere")
    (root / "latest").symlink_to(root / "first")
    sweep = root / "mine.toml"
    sweep.write_text(
        'name = "mine"\nscenario = "lte-download"\nschemes = ["cubic", "vegas"]\nseeds = [1, 2]\n'
        '[names]\ndistance = "topology.bottleneck.delay"\nbuffer = "topology.bottleneck.queue.limit"\n'
        '[set]\nduration = "7s"\n'
        '[grid]\ndistance = ["10ms", "20ms"]\nbuffer = ["50 packets", "100 packets", "200 packets"]\n'
    )
    called("sweep", str(sweep), "--out", str(root / "sweep"))
    return root


@pytest.fixture(scope="module")
def viewer(root: Path) -> Iterator[Viewer]:
    with Viewer([root]) as viewer:
        thread = threading.Thread(target=viewer.serve_forever)
        thread.start()
        yield viewer
        viewer.shutdown()
        thread.join()


def keys(viewer: Viewer) -> dict[str, str]:
    return {one.name: one.key for one in find(viewer.roots)}


def text_of(viewer: Viewer, path: str) -> str:
    with urlopen(viewer.address + path) as answer:
        return answer.read().decode()


def status_of(viewer: Viewer, path: str, method: str = "GET", host: str | None = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server_address[1])
    connection.request(method, path, headers={} if host is None else {"Host": host})
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_results_below_the_directory_are_found_and_only_once(root: Path) -> None:
    assert {one.name for one in find([root])} == {"first", "deep/second", "packets", "sweep"}
    assert {one.kind for one in find([root])} == {"runs", "sweep"}
    assert [one.name for one in find([root / "first"])] == ["first"]
    created = [one.created for one in find([root])]
    assert created == sorted(created, reverse=True)


def test_the_server_answers_only_this_machine_with_the_token(viewer: Viewer) -> None:
    port, token = viewer.server_address[1], viewer.token
    assert viewer.server_address[0] == "127.0.0.1"
    assert status_of(viewer, f"/{token}/index") == 200
    assert status_of(viewer, f"/{token}/index", host=f"localhost:{port}") == 200
    assert status_of(viewer, f"/{token}/index", host=f"evil.example:{port}") == 403
    assert status_of(viewer, f"/{token}/index", host="127.0.0.1") == 403
    for path in (
        "/",
        "/index",
        f"/{token[:-1]}/index",
        f"/x/{token}/index",
        f"/{token}/../first",
        f"/{token}/x",
    ):
        assert status_of(viewer, path) == 404, path
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        assert status_of(viewer, f"/{token}/index", method) in (404, 501), method


@pytest.mark.parametrize("query", ["?show=../../etc", "?show=/etc/passwd", "?show=0123456789ab", "?show=%00"])
def test_only_listed_results_can_be_requested(viewer: Viewer, query: str) -> None:
    assert status_of(viewer, f"/{viewer.token}/{query}") == 404
    assert status_of(viewer, f"/{viewer.token}/head{query}") == 404


def test_nothing_is_written(viewer: Viewer, root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    for key in keys(viewer).values():
        text_of(viewer, f"?show={key}")
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_new_results_appear(viewer: Viewer, root: Path) -> None:
    later = root / "later"
    called(
        "compare",
        "cubic",
        "--link",
        "4mbps",
        "--duration",
        "2s",
        "--reps",
        "1",
        "--no-report",
        "--out",
        str(later),
    )
    assert "later" in {one["name"] for one in json.loads(text_of(viewer, "index"))}
    for path in later.iterdir():
        path.unlink()
    later.rmdir()
    assert "later" not in {one["name"] for one in json.loads(text_of(viewer, "index"))}


def test_one_result_has_the_page_of_its_report(viewer: Viewer, root: Path) -> None:
    served = Page(text_of(viewer, f"?show={keys(viewer)['first']}"))
    alone = Page(airpath.explore(root / "first").html())
    for part in ("schemes", "columns", "panels", "pairs", "marks"):
        assert served.head[part] == alone.head[part]
    assert served.directive("connect-src") == ["'self'"]
    assert "connect-src" not in alone.policy
    assert "served" not in alone.head


def test_an_overlay_has_the_schemes_of_all_with_a_dash_for_each_result(viewer: Viewer) -> None:
    head = Page(text_of(viewer, f"?show={keys(viewer)['first']},{keys(viewer)['deep/second']}")).head
    names = [scheme["name"] for scheme in head["schemes"]]
    assert names == [
        "TCP CUBIC (first)",
        "TCP Vegas (first)",
        "TCP CUBIC (deep/second)",
        "BBR v3 (deep/second)",
    ]
    assert head["schemes"][0]["colour"] == head["schemes"][2]["colour"]
    assert head["schemes"][0]["dash"] != head["schemes"][2]["dash"]


def test_a_difference_is_that_of_the_command(viewer: Viewer) -> None:
    head = Page(text_of(viewer, f"?diff=&show={keys(viewer)['first']},{keys(viewer)['deep/second']}")).head
    (section,) = [one for one in head["sections"] if one["id"] == "differences"]
    metrics = next(table for table in section["tables"] if table["title"] == "Metrics")
    assert any("vegas" in row[0] and "bbr" in row[0] for row in metrics["rows"])


def test_a_zoomed_range_has_single_flows_and_packets(viewer: Viewer, root: Path) -> None:
    query = f"show={keys(viewer)['packets']}&scheme=0&seed=0&from=2&to=3&width=100"
    head = json.loads(text_of(viewer, f"head?{query}"))
    with urlopen(f"{viewer.address}block?key={head['block']}") as answer:
        deltas = np.frombuffer(gzip.decompress(answer.read()), "<u2").astype(np.int64)

    def values(place: list[Any]) -> np.ndarray:
        at, count, low, step = place
        numbers = np.cumsum(deltas[at : at + count]) % 65536
        return np.where(numbers == 65535, np.nan, low + numbers * step)

    panels = {panel["key"]: panel for panel in head["panels"]}
    assert {"flow-rate", "flow-window", "packet-delay"} <= set(panels)
    packets = read(root / "packets").packets.to_pydict()
    received, sent = np.array(packets["received_s"]), np.array(packets["sent_s"])
    mine = (received > 2) & (received <= 3)
    shown = values(panels["packet-delay"]["lines"][0][1])
    assert len(shown) <= 200
    assert np.nanmax(shown) == pytest.approx((received - sent)[mine].max() * 1e3, rel=1e-4)
    assert np.nanmin(shown) == pytest.approx((received - sent)[mine].min() * 1e3, rel=1e-4)
    times = values(panels["packet-delay"]["times"])
    assert (np.diff(times) > 0).all()
    assert 2 <= times[0] < times[-1] <= 3.001
    assert status_of(viewer, f"/{viewer.token}/head?{query.replace('scheme=0', 'scheme=7')}") == 404


def test_a_sweep_is_a_map_whose_points_can_be_run_again(viewer: Viewer) -> None:
    key = keys(viewer)["sweep"]
    head = Page(text_of(viewer, f"?show={key}&metric=delay_p95_ms&scheme=vegas")).head
    choices = {name: (options, value) for name, options, value in head["served"]["sweep"]["choices"]}
    assert choices["metric"][1] == "delay_p95_ms"
    assert choices["scheme"] == (["cubic", "vegas"], "vegas")
    (picture,) = head["sections"][0]["pictures"]
    assert sorted((len(picture["rows"]), len(picture["columns"]))) == [2, 3]
    again = Page(text_of(viewer, picture["links"][0][0])).head
    assert [scheme["id"] for scheme in again["schemes"]] == ["cubic", "vegas"]
    cell = next(column for column in again["columns"] if column["metric"] == "delay_p95_ms")["cells"][1][0]
    assert cell == pytest.approx(picture["values"][0][0], rel=1e-4)


def test_errors_are_shown_on_the_page(viewer: Viewer) -> None:
    found = Page(text_of(viewer, f"?show={keys(viewer)['sweep']},{keys(viewer)['first']}"))
    assert "accepted: results of runs" in found.text


def test_values_are_decimated_to_the_extremes_of_each_pixel() -> None:
    time_s, values = np.linspace(0, 1, 10_001), np.random.default_rng(1).normal(size=10_001)
    values[5_000] = 50.0
    times, kept = decimated(time_s, values, 100)
    assert len(times) == len(kept) <= 200
    assert (np.diff(times) > 0).all()
    assert (kept.max(), kept.min()) == (50.0, values.min())
    few = decimated(time_s[:10], values[:10], 100)
    assert few[1].tolist() == values[:10].tolist()


def test_a_missing_directory_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such directory"):
        Viewer([tmp_path / "nothing"])


def test_a_port_in_use_is_rejected(viewer: Viewer, root: Path) -> None:
    with pytest.raises(UsageError, match="--port"):
        Viewer([root], viewer.server_address[1])


def test_of_captures_the_report_is_shown(tmp_path: Path) -> None:
    setting = 'record.capture=["bottleneck","bottleneck-reverse"]'
    called(*PACKETS, "--set", setting, "--out", str(tmp_path / "made"))
    capture = next((tmp_path / "made" / "captures").iterdir())
    called("estimate", str(capture), "--out", str(tmp_path / "root" / "drive"))
    with Viewer([tmp_path / "root"]) as viewer:
        (found,) = find(viewer.roots)
        kind, content = viewer.answer("", {"show": found.key})
    assert (found.kind, kind) == ("report", "text/html; charset=utf-8")
    assert content == (tmp_path / "root" / "drive" / "report.html").read_bytes()
