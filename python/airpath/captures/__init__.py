"""Flows of packet captures, replayed through estimators."""

from airpath.captures.analysis import CaptureAnalysis, FlowAnalysis, analyse
from airpath.captures.answer_tables import answers_table, limits_table
from airpath.captures.choosing import choose
from airpath.captures.diagnosis import Answer, Diagnosis, Headline, HostSum, Share
from airpath.captures.tables import estimates_table, flows_table, series_table
from airpath.captures.view import view_of_captures
from airpath.captures.writing import write_captures

__all__ = [
    "Answer",
    "CaptureAnalysis",
    "Diagnosis",
    "FlowAnalysis",
    "Headline",
    "HostSum",
    "Share",
    "analyse",
    "answers_table",
    "choose",
    "estimates_table",
    "flows_table",
    "limits_table",
    "series_table",
    "view_of_captures",
    "write_captures",
]
