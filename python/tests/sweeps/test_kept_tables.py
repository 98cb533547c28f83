"""Which tables a sweep keeps in addition to that of its runs."""

import pyarrow.parquet as pq
import pytest
from sweep_engines import InlineEngine, inline

import airpath
from airpath.errors import OutputError
from airpath.sweeps import SweepPlan


def test_lost_packets_have_rows_if_the_sweep_stores_them(small, tmp_path, monkeypatch):
    small.write_text(small.read_text().replace('"flows", "link_series"', '"links", "drops"'))
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    counted = sum(swept.table("links")["dropped_packets_total"].to_pylist())
    assert swept.table("drops").num_rows == counted > 0


def test_a_table_no_longer_stored_by_a_corrected_sweep_is_removed(small, tmp_path, monkeypatch):
    deadly = next(SweepPlan.load(small).runs()).task.key
    inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly))
    swept = airpath.sweep(small, tmp_path / "out")
    assert swept.tables == ["flows", "link_series", "runs", "statistics"]
    pq.write_table(swept.statistics.replace_schema_metadata(None), tmp_path / "out" / "links.parquet")
    small.write_text(small.read_text().replace('"flows", "link_series"', '"flows"'))
    inline(monkeypatch, InlineEngine())
    swept = airpath.sweep(small, tmp_path / "out")
    assert swept.complete
    # Files of others remain.
    assert swept.tables == ["flows", "links", "runs", "statistics"]


@pytest.fixture
def large(small, tmp_path, monkeypatch):
    """Return the same sweep twice: its tables in one file each, and in several, as if they were large."""
    inline(monkeypatch, InlineEngine())
    one = airpath.sweep(small, tmp_path / "one")
    monkeypatch.setattr("airpath.sweeps.dataset.BYTES_TOGETHER", 1 << 12)
    monkeypatch.setattr("airpath.sweeps.table_files.MOST_ROW_GROUPS", 2)
    return one, airpath.sweep(small, tmp_path / "several")


def test_a_large_table_is_a_folder_of_files_that_read_as_one(large):
    one, several = large
    assert one.tables == several.tables
    for name in one.tables:
        expected = repr(one.table(name).to_pylist())  # as text, because NaN is not equal to itself
        assert repr(several.table(name).to_pylist()) == expected, name
        assert repr(several.dataset(name).to_table().to_pylist()) == expected, name
    assert one.compare("goodput_mbps") == several.compare("goodput_mbps")
    assert (one.directory / "link_series.parquet").is_file()
    folder = several.directory / "link_series.parquet"
    files = sorted(file.name for file in folder.iterdir())
    assert len(files) > 2
    assert files == [f"part-{k:05}-of-{len(files):05}.parquet" for k in range(len(files))]
    groups = [pq.ParquetFile(folder / file).num_row_groups for file in files]
    assert groups[:-1] == [2] * (len(files) - 1)
    assert groups[-1] in (1, 2)
    # As other programs read it.
    assert pq.read_table(folder).to_pylist() == one.table("link_series").to_pylist()
    assert not list(several.directory.glob(".*.parquet*"))


def test_a_missing_or_corrupted_file_is_reported(large, small, flip):
    _, several = large
    files = sorted((several.directory / "link_series.parquet").iterdir())
    content = files[-1].read_bytes()
    files[-1].unlink()
    with pytest.raises(OutputError, match=r"link_series\.parquet is incomplete; the same sweep"):
        several.table("link_series")
    with pytest.raises(OutputError, match=r"link_series\.parquet is incomplete; the sweep is complete"):
        airpath.sweep(small, several.directory)
    files[-1].write_bytes(content)
    assert airpath.sweep(small, several.directory).complete
    flip(files[1], "time_s")
    with pytest.raises(OutputError, match=r"part-00001-of-\d+\.parquet is damaged; the sweep is complete"):
        airpath.sweep(small, several.directory)


@pytest.mark.parametrize("first_large", [False, True])
def test_a_sweep_that_is_done_again_replaces_files_and_folders(small, tmp_path, monkeypatch, first_large):
    def write(is_large):
        monkeypatch.setattr("airpath.sweeps.table_files.MOST_ROW_GROUPS", 1 if is_large else 64)
        return airpath.sweep(small, tmp_path / "out")

    monkeypatch.setattr("airpath.sweeps.dataset.BYTES_TOGETHER", 1 << 12)
    deadly = next(SweepPlan.load(small).runs()).task.key
    inline(monkeypatch, InlineEngine(deadly=lambda task: task.key == deadly))
    first = write(first_large)
    assert not first.complete
    rows = first.table("link_series").num_rows
    inline(monkeypatch, InlineEngine())
    again = write(not first_large)
    assert again.complete
    assert again.table("link_series").num_rows > rows
    assert (again.directory / "link_series.parquet").is_dir() is not first_large
    assert not list(again.directory.glob(".*.parquet*"))
