"""`airpath estimate` over captures of simulated runs."""

import json
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from matplotlib.colors import to_rgb

import airpath
from airpath.captures import analyse
from airpath.captures.pictures import MEAN_COLOUR
from airpath.cli import main
from airpath.schemes import ESTIMATORS


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the capture of a short run."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.raises(SystemExit) as left:
        main(
            [
                "run",
                "two-way",
                "--set",
                "duration=20s",
                "--capture",
                "bottleneck",
                "--capture",
                "bottleneck-reverse",
                "--out",
                str(folder / "out"),
            ]
        )
    assert left.value.code == 0
    return next((folder / "out" / "captures").glob("*.pcapng"))


def test_a_capture_produces_tables_figures_and_provenance(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(capture), "--out", str(tmp_path / "found"), "--json"])
    assert left.value.code == 0
    said = json.loads(capsys.readouterr().out)["captures"][0]
    assert said["stopped_because"] is None
    assert list(said["flows"][0]["estimates"]) == [estimator.id for estimator in ESTIMATORS]
    flows = pq.read_table(tmp_path / "found" / "flows.parquet")
    assert flows.num_rows == len(said["flows"]) > 0
    assert all(flows.schema.field(name).metadata[b"description"] for name in flows.column_names)
    series = pq.read_table(tmp_path / "found" / "series.parquet").to_pydict()
    first = [k for k, flow in enumerate(series["flow"]) if flow == 1]
    delivered = sum(series["delivered_bps"][k] * series["bin_s"][k] / 8 for k in first)
    assert delivered == pytest.approx(flows["acked_bytes"][0].as_py())
    facts = json.loads((tmp_path / "found" / "provenance.json").read_text())
    assert len(facts["captures"][0]["sha256"]) == 64


def test_options_have_the_same_meaning_for_captures_and_runs(capture: Path) -> None:
    names = [
        "westwood-aa",
        "westwood:samples=round-trip,virtual_samples=held",
        "westwood",
        "dynapara:samples=round-trip",
        "dynapara",
        "sarbe:resolution=1us",
        "sarbe",
        "sarbe:resolution=50ms",
    ]
    found = {one["name"]: one["mean_bps"] for one in analyse(capture, names).flows[0].estimates}
    assert list(found) == names
    assert None not in found.values()
    assert found[names[0]] == found[names[1]] != found[names[2]]
    assert found[names[3]] != found[names[4]]
    assert found[names[5]] == found[names[6]] != found[names[7]]


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["nothing.pcap"], "there is no such file", 1),
        (["{capture}", "--estimator", "sarb"], 'did you mean "sarbe"?', 2),
        (
            ["{capture}", "--estimator", "sarbe:betta=0.8"],
            'has no parameter "betta"; did you mean "beta"?',
            2,
        ),
        (["{capture}", "--estimator", "sarbe:beta=1.5"], 'parameter "beta" of estimator "sarbe"', 2),
        (["{capture}", "--flow", "192.0.2.1"], "accepted: a number from 1 to", 2),
    ],
)
def test_bad_input_is_reported_in_one_message(
    capture: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
    code: int,
) -> None:
    with pytest.raises(SystemExit) as left:
        main(
            ["estimate", *(text.format(capture=capture) for text in arguments), "--out", str(tmp_path / "x")]
        )
    assert left.value.code == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_other_files_than_captures_are_rejected(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pcap"
    wrong.write_text("time,rate\n")
    with pytest.raises(airpath.errors.CaptureError, match="the file begins with `time,rate"):
        analyse(wrong)


def test_a_capture_of_an_unknown_link_type_is_rejected_by_name(tmp_path: Path) -> None:
    packet = struct.pack("<IIII", 1, 0, 60, 60) + bytes(60)
    fddi = tmp_path / "fddi.pcap"
    fddi.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 10) + packet * 27)
    with pytest.raises(
        airpath.errors.CaptureError, match=r"no packet can be read: 27 of link type 10 \(FDDI\)"
    ):
        analyse(fddi)
    with pytest.raises(SystemExit) as left:
        main(["estimate", str(fddi), "--out", str(tmp_path / "x")])
    assert left.value.code == 1


@pytest.fixture
def three_mebibytes(tmp_path: Path) -> Path:
    """Return a capture of 2200 packets of unknown content."""
    path = tmp_path / "long.pcap"
    packet = struct.pack("<IIII", 1, 0, 1400, 1400) + bytes(1400)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + packet * 2200)
    return path


def test_reading_reports_its_progress(three_mebibytes: Path) -> None:
    shares: list[float] = []
    assert analyse(three_mebibytes, ["samples"], shares.append).report["packets"] == 2200
    assert len(shares) >= 2
    assert shares == sorted(set(shares))
    assert 0.3 <= shares[0] < 0.5  # one mebibyte of three
    assert 0.6 < shares[-1] <= 1


def test_the_command_shows_the_progress_of_reading(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Callable[[float], None]] = {}

    @contextmanager
    def bar(title: str, _wanted: bool | None) -> Iterator[Callable[[float], None]]:
        told[title] = shown = lambda _share: None
        yield shown

    heard: list[object] = []

    def analyse_with_progress(path: Path, estimators: list[str], on_progress: object = None) -> object:
        heard.append(on_progress)
        return analyse(path, estimators)

    monkeypatch.setattr(airpath._os.progress, "progress_bar", bar)
    monkeypatch.setattr(airpath.captures, "analyse", analyse_with_progress)
    with pytest.raises(SystemExit):
        main(["estimate", str(capture), "--out", str(tmp_path / "out")])
    assert list(told) == [f"reading {capture.name}"]
    assert heard == list(told.values())


@pytest.mark.processes
def test_ctrl_c_ends_reading_at_once(three_mebibytes: Path) -> None:
    shares: list[float] = []

    def press(share: float) -> None:
        shares.append(share)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        analyse(three_mebibytes, ["samples"], press)
    assert len(shares) == 1


def test_the_delivered_rate_is_distinguishable_from_every_estimate() -> None:
    def far(colour: str, other: str) -> bool:
        return any(abs(a - b) > 0.1 for a, b in zip(to_rgb(colour), to_rgb(other), strict=True))

    assert all(far(estimator.colour, MEAN_COLOUR) for estimator in ESTIMATORS)
