"""`airpath gap`, the command: its files and its output, in all backends that can run here, in real time."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest

from airpath import _core
from airpath._backends import BACKENDS
from airpath._backends.daemon import datapath_missing
from airpath.cli import main
from airpath.gap.differences import TOLERANCES

SHORT = ["--set", "duration=4s", "--set", "record.warm_up=1s", "--reps", "1"]


def gap(folder: Path) -> str:
    """Run the command on the shipped scenario, made short; return its standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "airpath", "gap", "three-worlds", *SHORT, "--figures", "--out", "found"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def can_run() -> set[str]:
    """Return the backends that can run here, given that hosts can be emulated."""
    if datapath_missing():
        return {"sim", "emulate"}
    try:
        _core.try_kernel_router()
    except _core.EmulationFailed:
        return {"sim", "emulate", "datapath"}
    return {"sim", "emulate", "datapath", "routers"}


def drawn(picture: Path, colour: str) -> int:
    """Return how many pixels of a figure have a colour, below its legend."""
    pixels = matplotlib.image.imread(picture)[:, :, :3]
    pixels = pixels[len(pixels) // 8 :]
    return int((np.abs(pixels - matplotlib.colors.to_rgb(colour)).max(axis=2) < 0.02).sum())


@pytest.mark.usefixtures("emulated_hosts")
@pytest.mark.datapath  # if it is available
def test_all_available_backends_are_compared_metric_by_metric(tmp_path: Path) -> None:
    started = time.monotonic()
    said = gap(tmp_path)
    took_s = time.monotonic() - started
    found = tmp_path / "found"
    told = json.loads((found / "gap.json").read_text())
    cubic, vcp = told["schemes"]
    assert (cubic["scheme"], vcp["scheme"]) == ("cubic", "vcp-ebe")
    # The datapath has no CUBIC of its own, the kernel has no VCP, and QUIC has no field for router feedback.
    assert set(cubic["worlds"]) == {"sim", "quic", "emulate"}
    assert set(vcp["worlds"]) == can_run() - {"emulate"}
    for scheme in (cubic, vcp):
        assert set(scheme["missing"]) == set(BACKENDS) - set(scheme["worlds"])
        assert all(scheme["missing"].values())
        assert set(scheme["differences"]) == set(scheme["worlds"]) - {"sim"}
        # The kernel does what the scenario configures for the transport.
        assert not [text for text in scheme["departures"] if text.startswith("the kernel's own")]
    judged = [one for scheme in (cubic, vcp) for one in scheme["differences"].values()]
    for metrics in judged:
        names = [one["metric"] for one in metrics]
        assert len(names) == len(set(names))
        assert {"goodput_mbps", "utilisation", "queue_mean_bytes", "delay_mean_ms"} <= set(names)
        assert set(names) <= set(TOLERANCES)
        for one in metrics:
            agrees(one)
            assert one["metric"] != "goodput_mbps" or one["other"] > 1.0
    # At most three real-time backends, four seconds each.
    assert sorted(run["world"] for run in told["validity"]) == sorted(can_run() - {"sim"})
    assert 4 * len(told["validity"]) < told["elapsed_s"] < took_s
    assert f"of which {told['elapsed_s']:.0f} s for the runs" in said
    assert said.count("verdict") == len(judged)
    for number, scheme in enumerate((cubic, vcp), 1):
        pictures(found, number, set(scheme["worlds"]))
    assert "Backends compared" in (found / "report.html").read_text()


def agrees(one: dict[str, Any]) -> None:
    """Check that single runs get the verdict of the difference alone, which is that of the two values."""
    assert (one["n"], one["ci95_low"], one["ci95_high"]) == ([1, 1], None, None)
    if one["relative"] and one["simulated"] == 0 != one["other"]:
        assert (one["difference"], one["verdict"]) == (None, "no share of zero")
        return
    scale = abs(one["simulated"] or 1.0) if one["relative"] else 1.0
    assert one["difference"] == pytest.approx((one["other"] - one["simulated"]) / scale)
    within = abs(one["difference"]) <= one["tolerance"]
    assert one["verdict"] == ("agree" if within else "differ")


def pictures(found: Path, number: int, worlds: set[str]) -> None:
    """Check that each backend of a scheme is plotted in its colour, also where later ones cover it, and no
    other.
    """
    over_time = found / "figures" / f"gap-over-time-{number}.png"
    differences = found / "figures" / f"gap-{number}.png"
    assert differences.exists() == (worlds != {"sim"})
    for world, backend in BACKENDS.items():
        assert (drawn(over_time, backend.colour) > 1000) == (world in worlds), world
        # The other backends are compared with the simulator.
        if world != "sim" and differences.exists():
            assert (drawn(differences, backend.colour) > 500) == (world in worlds), world


def test_json_equals_the_written_file_and_is_alone_on_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: dict[str, Any] = {}
    # The figures are checked above.
    monkeypatch.setattr("airpath.cli.work.write_results", lambda *_, files, **__: written.update(files))
    out = tmp_path / "found"
    with pytest.raises(SystemExit) as left:
        main(["gap", "three-worlds", "vcp-ebe", "--world", "sim", "--json", *SHORT, "--out", str(out)])
    assert left.value.code == 0
    said = json.loads(capsys.readouterr().out)
    assert (said.pop("out"), said.pop("report")) == (str(out), str(out / "report.html"))
    assert said.pop("interrupted") is False
    assert said == written["gap.json"]
    (scheme,) = said["schemes"]
    assert (scheme["worlds"], scheme["differences"]) == ({"sim": "vcp-ebe"}, {})


def test_flows_that_never_start_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("airpath.cli.work.write_results", lambda *_, **__: None)
    late = ["--set", "flows.1.start=5s"]
    with pytest.raises(SystemExit) as left:
        main(
            [
                "gap",
                "three-worlds",
                "cubic",
                "--world",
                "sim",
                *SHORT,
                *late,
                "--out",
                str(tmp_path / "found"),
            ]
        )
    assert left.value.code == 0
    said = 'flows[1].start: "short" never sends: it starts after 5 s, and the run lasts 4 s'
    assert said in capsys.readouterr().err
