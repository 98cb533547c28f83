"""`airpath trace log`: its numbers are those of the definitions, computed here line by line."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from airpath.cli import main
from airpath.errors import LinkLogError, UsageError
from airpath.link_logs import LinkLog, flow_measures, log_measures, read_link_log
from airpath.link_logs import pictures as drawing
from airpath.link_logs.bins import LogBins

from .logs import (
    Tally,
    mm_link,
    nearest_rank,
    script_signal_delays_ms,
    signal_delays_ms,
    tallies,
    tunnel,
)


def read(folder: Path, text: str) -> LinkLog:
    file = folder / "some.log"
    file.write_text(text)
    return read_link_log(file)


def mbps(size: int, times_ms: list[float]) -> float:
    return size * 8e-3 / (max(times_ms) - min(times_ms))


def test_numbers_of_mm_link_equal_those_of_its_scripts(tmp_path: Path) -> None:
    text = mm_link()
    whole = tallies(text)[None]
    found = log_measures(read(tmp_path, text))
    assert found["capacity_mbps"] == pytest.approx(mbps(whole.capacity, whole.all_ms), rel=1e-12)
    assert found["ingress_mbps"] == pytest.approx(mbps(whole.arrived, whole.all_ms), rel=1e-12)
    assert found["throughput_mbps"] == pytest.approx(mbps(whole.left, whole.all_ms), rel=1e-12)
    assert found["utilisation"] == pytest.approx(whole.left / whole.capacity, rel=1e-12)
    assert found["delay_p95_ms"] == pytest.approx(nearest_rank(whole.delays_ms), abs=1e-9)
    assert found["delay_mean_ms"] == pytest.approx(np.mean(whole.delays_ms))
    assert found["loss_rate"] == pytest.approx(1 - whole.left / whole.arrived)
    assert found["dropped_packets"] == whole.dropped > 100
    # A first-in-first-out queue: the series of the script equals the definition.
    samples = script_signal_delays_ms(whole)
    assert sorted(samples) == pytest.approx(sorted(signal_delays_ms(whole)), abs=1e-9)
    assert found["signal_delay_p95_ms"] == pytest.approx(nearest_rank(samples), abs=1e-6)
    assert found["signal_delay_p95_ms"] > 700, "the link rests for a second in four"


def test_numbers_of_a_tunnel_equal_those_of_pantheon(tmp_path: Path) -> None:
    text = tunnel()
    found, log = tallies(text), read(tmp_path, text)
    assert (log.kind, log.flows, log.names_flows) == ("tunnel", [1, 2, 3], True)
    whole, of = log_measures(log), found[None]
    capacity, throughput = mbps(of.capacity, of.capacity_ms), mbps(of.left, of.departure_ms)
    assert whole["capacity_mbps"] == pytest.approx(capacity, rel=1e-9)
    assert whole["utilisation"] == pytest.approx(throughput / capacity, rel=1e-9)
    for tally, measures in [(of, whole), *((found[flow], flow_measures(log, flow)) for flow in log.flows)]:
        of_a_flow(tally, measures)


def of_a_flow(tally: Tally, measures: dict[str, float]) -> None:
    assert measures["throughput_mbps"] == pytest.approx(mbps(tally.left, tally.departure_ms), rel=1e-9)
    assert measures["ingress_mbps"] == pytest.approx(mbps(tally.arrived, tally.arrival_ms), rel=1e-9)
    assert measures["loss_rate"] == pytest.approx(1 - tally.left / tally.arrived)
    assert measures["delay_p95_ms"] == pytest.approx(nearest_rank(tally.delays_ms), abs=1e-6)
    assert measures["signal_delay_p95_ms"] == pytest.approx(nearest_rank(signal_delays_ms(tally)), abs=1e-5)


def test_a_busy_link_matches_a_closed_form(tmp_path: Path) -> None:
    # A packet of 1500 bytes every 2 ms, each of which waits 5 ms.
    lines = ["# base timestamp: 100"]
    for k in range(1000):
        lines += [f"{100 + 2 * k} + 1500", f"{105 + 2 * k} # 1500", f"{105 + 2 * k} - 1500 5"]
    log = read(tmp_path, "\n".join(lines) + "\n")
    found = log_measures(log)
    assert found["capacity_mbps"] == pytest.approx(1500 * 1000 * 8e-3 / (5 + 2 * 999))
    assert (found["utilisation"], found["loss_rate"]) == (1, 0)
    assert found["delay_p95_ms"] == pytest.approx(5)
    # A message created 1 ms after a packet waits for the next one.
    assert found["signal_delay_p95_ms"] == pytest.approx(6)
    assert LogBins(log).rate_mbps(log.opportunities)[1:3] == pytest.approx([6, 6])


def test_the_command_writes_tables_pictures_and_provenance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    up, down = tmp_path / "up.log", tmp_path / "flows.log.gz"
    up.write_text(mm_link())
    down.write_bytes(gzip.compress(tunnel().encode()))
    out = tmp_path / "found"
    with pytest.raises(SystemExit) as left:
        main(["trace", "log", str(up), str(down), "--bin", "250ms", "--figures", "--out", str(out), "--json"])
    assert left.value.code == 0
    said = json.loads(capsys.readouterr().out)["logs"]
    assert [one["kind"] for one in said] == ["mm-link", "tunnel"]
    assert [row["flow"] for row in said[1]["flows"]] == [1, 2, 3]
    assert said[0]["dropped_packets"] == tallies(up.read_text())[None].dropped
    tables = {file.stem: pq.read_table(file) for file in out.glob("*.parquet")}
    assert set(tables) == {"logs", "flows", "log_series", "flow_series", "packets"}
    for table in tables.values():
        assert all(table.schema.field(name).metadata[b"description"] for name in table.column_names)
    series, flows = tables["log_series"].to_pandas(), tables["flow_series"].to_pandas()
    assert set(series["bin_s"]) == {0.25}
    for log, row in zip(("up.log", "flows.log.gz"), said, strict=True):
        mine = series[series["log"] == log]
        assert mine["departed_bytes"].sum() == flows[flows["log"] == log]["departed_bytes"].sum()
        packets = tables["packets"].to_pandas().query(f"log == '{log}'")
        assert (len(packets), packets["bytes"].sum()) == (
            row["departed_packets"],
            mine["departed_bytes"].sum(),
        )
    figures = sorted(file.name for file in (out / "figures").iterdir())
    assert figures == sorted(
        f"{log}-{what}.{kind}"
        for log in ("01-up.log", "02-flows.log.gz")
        for what in ("throughput", "delay")
        for kind in ("png", "svg")
    )
    drawn = (out / "figures" / "02-flows.log.gz-throughput.svg").read_text()
    assert "flow 3 egress (mean" in drawn
    assert "capacity (mean 12.0" in drawn
    facts = json.loads((out / "provenance.json").read_text())
    assert [len(log["sha256"]) for log in facts["logs"]] == [64, 64]


def test_people_read_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "up.log"
    file.write_text(mm_link()[:-3])
    with pytest.raises(SystemExit) as left:
        main(["trace", "log", str(file), "--out", str(tmp_path / "found")])
    assert left.value.code == 0
    said = capsys.readouterr()
    assert "log of mm-link" in said.out
    assert "95th percentile of signal delay" in said.out
    assert "the last line has no end; what stands before is shown" in said.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "some.log: the file is empty; accepted: a log of mm-link"),
        (b"# base timestamp: 5\n", "some.log: line 1: found no event; accepted: `TIME # BYTES`"),
        (b"5 + 1504\n6 x 1\n", "some.log: line 2: found `6 x 1`; accepted: "),
        ("".join(f"{k} + 1 {k}\n" for k in range(1001)).encode(), "found 1001 flows; accepted: at most 1000"),
        (b"\x00\x01\xff\n", "line 1: found `"),
    ],
)
def test_other_files_are_rejected_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    file = tmp_path / "some.log"
    file.write_bytes(content)
    with pytest.raises(LinkLogError):
        read_link_log(file)
    with pytest.raises(SystemExit) as left:
        main(["trace", "log", str(file), "--out", str(tmp_path / "found")])
    assert left.value.code == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "found").exists()


def test_a_log_used_as_a_trace_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "up.log"
    for text, is_log in ((mm_link(10), True), (tunnel(1, 10), True), ("# what\n", False)):
        file.write_text(text)
        with pytest.raises(SystemExit) as left:
            main(["trace", "show", str(file), "--out", str(tmp_path / "x.png")])
        assert left.value.code == 1
        said = capsys.readouterr().err
        assert "up.log: line 1: found `# " in said
        assert ("this is a link log: use `airpath trace log`" in said) == is_log


def test_a_log_of_years_requires_wider_bins(tmp_path: Path) -> None:
    log = read(tmp_path, "0 + 1\n60000000000 + 1\n")
    with pytest.raises(UsageError, match="120000001 bins of 500 ms; accepted: at most 1000000 bins"):
        LogBins(log)
    assert len(LogBins(log, 10**14)) == 601


def test_logs_without_departures_or_opportunities_are_drawn(tmp_path: Path) -> None:
    for text in (
        "5 + 100\n",
        "5 # 1500\n6 # 1500\n",
        "5 - 100 1\n",
        "5 d 3 300\n",
        "5 - 100 -1\n7 - 100 -2\n",
    ):
        log = read(tmp_path, text)
        log_measures(log)
        assert drawing.throughput_picture(log, LogBins(log)).axes
        assert drawing.delay_picture(log).axes


def test_packets_of_one_cell_are_drawn_once(tmp_path: Path) -> None:
    lines = [f"{k // 50} - 100 {k % 3 + 1}\n" for k in range(20_000)]
    log = read(tmp_path, "".join(lines))
    (points,) = (line for line in drawing.delay_picture(log).axes[0].lines if line.get_marker() == ".")
    times, delays = points.get_data()
    shown = set(zip(np.round(times, 3), np.round(delays, 3), strict=True))
    everything = {(k // 50 / 1000, float(k % 3 + 1)) for k in range(20_000)}
    assert shown == everything
    assert len(times) == len(everything) == 1200
