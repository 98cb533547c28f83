"""Metrics as the field defines them: formulas, metrics of a run, and statistics over runs."""

from airpath.metrics.ack_rate import BINS, ERRORS, EXCLUDED, OWN_ESTIMATOR, errors_schema, estimator_errors
from airpath.metrics.capacity import capacity_changes_s
from airpath.metrics.definitions import METRICS, SCOPE, Metric
from airpath.metrics.estimator import estimate_and_capacity, observed, percentage_error
from airpath.metrics.formulas import (
    convergence_time,
    jain_index,
    log_power,
    mean_interval,
    nearest_rank,
    power,
    settling_time,
)
from airpath.metrics.run import flow_metrics, run_metrics
from airpath.metrics.settling import SETTLING_HOLD_S, SETTLING_TOLERANCE
from airpath.metrics.summary import statistics, summary
from airpath.metrics.time_bins import FAIRNESS_BIN_S, RATE_BIN_S, TimeBins

__all__ = [
    "BINS",
    "ERRORS",
    "EXCLUDED",
    "FAIRNESS_BIN_S",
    "METRICS",
    "OWN_ESTIMATOR",
    "RATE_BIN_S",
    "SCOPE",
    "SETTLING_HOLD_S",
    "SETTLING_TOLERANCE",
    "Metric",
    "TimeBins",
    "capacity_changes_s",
    "convergence_time",
    "errors_schema",
    "estimate_and_capacity",
    "estimator_errors",
    "flow_metrics",
    "jain_index",
    "log_power",
    "mean_interval",
    "nearest_rank",
    "observed",
    "percentage_error",
    "power",
    "run_metrics",
    "settling_time",
    "statistics",
    "summary",
]
