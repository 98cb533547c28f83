"""Writing the analysis of captures to a directory, completely or not at all."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airpath.captures.analysis import CaptureAnalysis, FlowAnalysis
from airpath.captures.answer_tables import answers_table, limits_table
from airpath.captures.tables import estimates_table, flows_table, series_table
from airpath.results.directory import numbered_name, write_directory, write_json, write_parquet
from airpath.results.provenance import Origin, made_by

FORMAT = "airpath results 1, captures"
"""Identifies the layout of the directory."""

MOST_PICTURES = 12
"""The maximum number of flows of one capture that are plotted: those with most payload."""
FEWEST_ACKS = 20
"""The minimum number of acknowledgments for a plot over time."""


def write_captures(
    captures: Sequence[CaptureAnalysis],
    out_dir: str | os.PathLike[str],
    origin: Origin,
    *,
    figures: bool = True,
) -> Path:
    """Write tables (Parquet, the flows also as CSV), figures and provenance.

    Parameters
    ----------
    captures
        The captures.
    out_dir
        The directory to make; earlier results there are replaced.
    origin
        Provenance of the results; ``inputs`` is not used, because captures have their own hashes.
    figures
        Whether to plot the larger flows.

    Raises
    ------
    airpath.errors.OutputError
        If the directory contains something other than airpath results, or cannot be written.
    """
    import pyarrow.csv  # imported here because it is slow to import

    def fill(directory: Path) -> None:
        flows = flows_table(captures)
        write_parquet(flows, directory / "flows.parquet")
        write_parquet(answers_table(captures), directory / "answers.parquet")
        write_parquet(limits_table(captures), directory / "limits.parquet")
        write_parquet(estimates_table(captures), directory / "estimates.parquet")
        write_parquet(series_table(captures), directory / "series.parquet")
        pyarrow.csv.write_csv(flows.drop_columns(["loss_run_lengths"]), directory / "flows.csv")
        write_json(_provenance(captures, origin), directory / "provenance.json")
        if not figures:
            return
        from airpath.captures.pictures import flow_picture  # matplotlib is slow to import
        from airpath.plots.style import render

        for number, capture in enumerate(captures, start=1):
            for flow in drawn_flows(capture):
                (directory / "figures").mkdir(exist_ok=True)
                figure = flow_picture(flow, f"{capture.path.name}, flow {flow.number}\n{flow.name}")
                name = f"{numbered_name(number, capture.path)}-flow-{flow.number:02}"
                for kind in ("png", "svg"):
                    (directory / "figures" / f"{name}.{kind}").write_bytes(render(figure, kind))

    return write_directory(out_dir, fill)


def drawn_flows(capture: CaptureAnalysis) -> list[FlowAnalysis]:
    """Return the flows of a capture that have a figure."""
    return [flow for flow in capture.flows if _told(flow) >= FEWEST_ACKS][:MOST_PICTURES]


def _told(flow: FlowAnalysis) -> int:
    """Return the number of acknowledgments, or of data packets for a receiver's log, which has none."""
    told: int = flow.facts["acks"] or (flow.facts["data_packets"] if "is_sender" in flow.facts else 0)
    return told


def _provenance(captures: Sequence[CaptureAnalysis], origin: Origin) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **made_by(origin),
        "captures": [
            {
                "path": str(capture.path),
                "sha256": capture.sha256,
                "first_packet_ns": capture.start_ns,
                **capture.report,
                "flows_ended_early": capture.evicted,
                "flows_not_kept": capture.dropped,
                "flows_without_data": capture.silent,
            }
            for capture in captures
        ],
    }
