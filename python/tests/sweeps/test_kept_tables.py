"""Which tables a sweep keeps beside that of its runs."""

import pyarrow.parquet as pq
from sweep_engines import InlineEngine, inline

import airpath
from airpath.sweeps import SweepPlan


def test_lost_packets_have_rows_where_the_sweep_keeps_them(small, tmp_path, monkeypatch):
    small.write_text(small.read_text().replace('"flows", "link_series"', '"links", "drops"'))
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    counted = sum(swept.table("links")["dropped_packets_total"].to_pylist())
    assert swept.table("drops").num_rows == counted > 0


def test_a_table_that_a_corrected_sweep_keeps_no_more_goes(small, tmp_path, monkeypatch):
    deadly = next(SweepPlan.load(small).runs()).task.key
    inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly))
    swept = airpath.sweep(small, tmp_path / "out")
    assert swept.tables == ["flows", "link_series", "runs", "statistics"]
    pq.write_table(swept.statistics.replace_schema_metadata(None), tmp_path / "out" / "links.parquet")
    small.write_text(small.read_text().replace('"flows", "link_series"', '"flows"'))
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    assert swept.complete
    # What somebody else has put there stays.
    assert swept.tables == ["flows", "links", "runs", "statistics"]
