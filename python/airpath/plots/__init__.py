"""Figures: functions of result tables, drawn with matplotlib in one style."""

from airpath.plots.comparison import ellipse, metric_bars, trade_off
from airpath.plots.distributions import (
    completion_distribution,
    completion_distributions,
    delay_distribution,
    delay_distributions,
)
from airpath.plots.figures import StandardFigure, save_figures, standard_figures, summary_bars
from airpath.plots.over_time import fairness, one_way_delay, queue, throughput, window
from airpath.plots.style import COLUMN_IN, PAGE_IN, SchemeStyle, Style, new_axes, render, style_for

__all__ = [
    "COLUMN_IN",
    "PAGE_IN",
    "SchemeStyle",
    "StandardFigure",
    "Style",
    "completion_distribution",
    "completion_distributions",
    "delay_distribution",
    "delay_distributions",
    "ellipse",
    "fairness",
    "metric_bars",
    "new_axes",
    "one_way_delay",
    "queue",
    "render",
    "save_figures",
    "standard_figures",
    "style_for",
    "summary_bars",
    "throughput",
    "trade_off",
    "window",
]
