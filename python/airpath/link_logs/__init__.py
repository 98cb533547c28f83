"""Logs of emulated links (Mahimahi's `mm-link`) and of tunnels (Pantheon)."""

from airpath.link_logs.log import LinkLog, read_link_log
from airpath.link_logs.measures import MEASURES, flow_measures, log_measures
from airpath.link_logs.tables import (
    flow_series_table,
    flows_table,
    log_series_table,
    logs_table,
    packets_table,
)
from airpath.link_logs.writing import write_link_logs

__all__ = [
    "MEASURES",
    "LinkLog",
    "flow_measures",
    "flow_series_table",
    "flows_table",
    "log_measures",
    "log_series_table",
    "logs_table",
    "packets_table",
    "read_link_log",
    "write_link_logs",
]
