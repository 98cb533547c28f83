"""Flows of packet captures, replayed into estimators."""

from airpath.captures.analysis import CaptureAnalysis, FlowAnalysis, analyse
from airpath.captures.choosing import choose
from airpath.captures.tables import estimates_table, flows_table, series_table
from airpath.captures.writing import write_captures

__all__ = [
    "CaptureAnalysis",
    "FlowAnalysis",
    "analyse",
    "choose",
    "estimates_table",
    "flows_table",
    "series_table",
    "write_captures",
]
