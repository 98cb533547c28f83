"""Flent files: their values are those of the tables, in Flent's own format."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath
from airpath.cli import main
from airpath.metrics.run import columns
from airpath.results.flent import flent_file, flent_files
from airpath.scenario import Scenario

TWO = {
    "name": "two",
    "duration": "6s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10mbps", "delay": "20ms"}},
    "flows": [
        {"name": "first", "scheme": "cubic"},
        {"name": "second", "scheme": "newreno", "start": "2.05s"},
    ],
}


def opened(content: bytes) -> dict[str, Any]:
    """Return JSON in which nothing is NaN or infinite."""

    def refuse(name: str) -> float:
        raise AssertionError(name)

    return dict(json.loads(gzip.decompress(content), parse_constant=refuse))


def test_series_are_those_of_the_tables() -> None:
    run = airpath.run(Scenario.from_dict(TWO)).runs[0]
    found = opened(flent_file(run, "a.flent.gz"))
    assert set(found) == {"version", "metadata", "x_values", "results", "raw_values"}
    assert found["version"] == 3
    x = found["x_values"]
    assert x == pytest.approx(np.arange(1, 61) / 10)
    assert all(len(values) == len(x) for values in found["results"].values())
    series = columns(run.flow_series)
    for flow in (0, 1):
        mine = series["flow"] == flow
        values = found["results"][f"TCP download::{flow + 1}"]
        known = [value for value in values if value is not None]
        assert known == pytest.approx(series["goodput_bytes"][mine] * 8e-6 / 0.1)
    second = found["results"]["TCP download::2"]
    assert second[:20] == [None] * 20
    assert None not in second[20:]
    total, mean = found["results"]["TCP download sum"], found["results"]["TCP download avg"]
    assert total[0] == mean[0] == found["results"]["TCP download::1"][0]
    assert total[-1] == pytest.approx(2 * mean[-1])
    ping = found["results"]["Ping (ms) ICMP"]
    last = series["time_s"] == series["time_s"].max()
    assert ping[-1] == pytest.approx(series["srtt_s"][last].mean() * 1e3)
    assert all(value is None or value > 40 for value in ping)
    fairness = [value for value in found["results"]["TCP download fairness"] if value is not None]
    assert all(0.5 <= value <= 1 + 1e-12 for value in fairness)
    for name, values in found["results"].items():
        raw = {point["t"]: point["val"] for point in found["raw_values"][name]}
        assert [raw.get(at) for at in x] == values
    said = found["metadata"]
    assert (said["NAME"], said["TEST_PARAMETERS"]) == ("tcp_ndown", {"download_streams": "2"})
    assert said["AIRPATH"]["seed"] == str(run.record.seed)
    assert [flow["scheme"] for flow in said["AIRPATH"]["flows"]] == ["cubic", "newreno"]
    assert not any(isinstance(value, float) and math.isnan(value) for value in said.values())


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    files = flent_files(airpath.run(Scenario.from_dict(TWO), repetitions=2))
    assert list(files) == ["run-0000.flent.gz", "run-0001.flent.gz"]
    scenario = tmp_path / "two.toml"
    scenario.write_text(Scenario.from_dict(TWO).to_toml())
    with pytest.raises(SystemExit) as left:
        main(
            [
                *("run", str(scenario), "--reps", "2"),
                *("--flent", str(tmp_path / "flent"), "--out", str(tmp_path / "out")),
            ]
        )
    assert left.value.code == 0
    written = {file.name: opened(file.read_bytes()) for file in sorted((tmp_path / "flent").iterdir())}
    assert {name: one["results"] for name, one in written.items()} == {
        name: opened(content)["results"] for name, content in files.items()
    }


def test_a_scenario_without_downloads_is_rejected_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transfer = {"name": "file", "scheme": "cubic", "traffic": {"kind": "file", "size": "1MB"}}
    scenario = tmp_path / "short.toml"
    scenario.write_text(Scenario.from_dict(TWO | {"name": "short", "flows": [transfer]}).to_toml())
    with pytest.raises(SystemExit) as left:
        main(["run", str(scenario), "--flent", str(tmp_path / "flent"), "--out", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert "short: found 0 long-lived flows under test; accepted for Flent: 1 to 1000" in said
    assert not (tmp_path / "out").exists()
