"""Figures: functions of result tables, plotted with matplotlib in one style."""

from airpath.plots.comparison import ellipse, metric_bars, trade_off
from airpath.plots.distributions import (
    completion_distribution,
    delay_distribution,
)
from airpath.plots.figures import save_figures, standard_figures, summary_bars
from airpath.plots.over_time import fairness, one_way_delay, queue, throughput, window
from airpath.plots.repetitions import precision
from airpath.plots.router import (
    capacity_estimate,
    estimate_error,
    estimation,
    feedback,
    filter_state,
    load_factor,
    queue_share,
)
from airpath.plots.standard_figure import StandardFigure
from airpath.plots.style import COLUMN_IN, KINDS, PAGE_IN, new_axes, render
from airpath.views.distributions import completion_distributions, delay_distributions
from airpath.views.styles import SchemeStyle, Style, style_for

__all__ = [
    "COLUMN_IN",
    "KINDS",
    "PAGE_IN",
    "SchemeStyle",
    "StandardFigure",
    "Style",
    "capacity_estimate",
    "completion_distribution",
    "completion_distributions",
    "delay_distribution",
    "delay_distributions",
    "ellipse",
    "estimate_error",
    "estimation",
    "fairness",
    "feedback",
    "filter_state",
    "load_factor",
    "metric_bars",
    "new_axes",
    "one_way_delay",
    "precision",
    "queue",
    "queue_share",
    "render",
    "save_figures",
    "standard_figures",
    "style_for",
    "summary_bars",
    "throughput",
    "trade_off",
    "window",
]
