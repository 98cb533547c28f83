"""Writing link logs to a result directory, completely or not at all."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airpath.link_logs.bins import BIN_NS, LogBins
from airpath.link_logs.log import LinkLog
from airpath.link_logs.tables import (
    flow_series_table,
    flows_table,
    log_series_table,
    logs_table,
    packets_table,
)
from airpath.results.directory import numbered_name, write_directory, write_json, write_parquet
from airpath.results.provenance import Origin, made_by

FORMAT = "airpath results 1, link logs"
"""Identifies the layout of the directory."""


def write_link_logs(
    logs: Sequence[LinkLog],
    out_dir: str | os.PathLike[str],
    origin: Origin,
    bin_ns: int = BIN_NS,
    *,
    figures: bool = True,
) -> Path:
    """Write tables (Parquet; those of logs and flows also as CSV), figures and provenance.

    Parameters
    ----------
    logs
        The logs.
    out_dir
        The directory to make; earlier results there are replaced.
    origin
        Provenance of the results; ``inputs`` is not used, because logs have their own hashes.
    bin_ns
        Width of the bins of series and figures, in nanoseconds.
    figures
        Whether to plot the logs.

    Raises
    ------
    airpath.errors.UsageError
        If a log has too many bins of this width.
    airpath.errors.OutputError
        If the directory contains something other than airpath results, or cannot be written.
    """
    import pyarrow.csv  # imported here because it is slow to import

    bins = [LogBins(log, bin_ns) for log in logs]

    def fill(directory: Path) -> None:
        for name, table in (("logs", logs_table(logs)), ("flows", flows_table(logs))):
            write_parquet(table, directory / f"{name}.parquet")
            pyarrow.csv.write_csv(table, directory / f"{name}.csv")
        write_parquet(log_series_table(logs, bins), directory / "log_series.parquet")
        write_parquet(flow_series_table(logs, bins), directory / "flow_series.parquet")
        write_parquet(packets_table(logs), directory / "packets.parquet")
        write_json(_provenance(logs, origin, bin_ns), directory / "provenance.json")
        if not figures:
            return
        from airpath.link_logs.pictures import delay_picture, throughput_picture
        from airpath.plots.style import render  # imported here because matplotlib is slow to import

        (directory / "figures").mkdir()
        for number, (log, of) in enumerate(zip(logs, bins, strict=True), start=1):
            for name, figure in (("throughput", throughput_picture(log, of)), ("delay", delay_picture(log))):
                for kind in ("png", "svg"):
                    file = directory / "figures" / f"{numbered_name(number, log.path)}-{name}.{kind}"
                    file.write_bytes(render(figure, kind))

    return write_directory(out_dir, fill)


def _provenance(logs: Sequence[LinkLog], origin: Origin, bin_ns: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **made_by(origin),
        "bin_ns": bin_ns,
        "logs": [
            {
                "path": str(log.path),
                "sha256": log.sha256,
                "kind": log.kind,
                "ended_early": log.ended_early or None,
            }
            for log in logs
        ],
    }
