"""Formatting of numbers for readers."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

NO_VALUE = "—"
"""Text for a missing value."""
SAME = "the same in all seeds"
"""Text instead of an interval or a p value if nothing varies."""


UNITS: Final[Mapping[str, tuple[str, float]]] = MappingProxyType(
    {
        "queue_mean_bytes": ("kB", 1e-3),
        "queue_p95_bytes": ("kB", 1e-3),
        "loss_rate": ("%", 100.0),
        "congestion_loss_rate": ("%", 100.0),
        "channel_loss_rate": ("%", 100.0),
        "cwnd_mean_bytes": ("kB", 1e-3),
        "retransmitted_packets": ("", 1.0),
    }
)
"""Display units of metrics, with the conversion factor, if they differ from those of the tables."""


def mean_and_half_width(row: Mapping[str, Any], factor: float = 1.0) -> str:
    """Format mean ± half-width of the confidence interval of one row of the statistics, times a factor.

    The half-width has two significant digits, and the mean as many decimals, but not more than four
    significant digits. A half-width that is zero at these decimals is left out. A missing value is a dash.
    """
    mean, half = factor * row["mean"], factor * (row["ci95_high"] - row["ci95_low"]) / 2
    if math.isnan(mean):
        return NO_VALUE
    if math.isnan(half) or half == 0.0:
        return number(mean)
    largest = max(abs(mean), half)
    decimals = min(1 - _exponent(half), 3 - _exponent(largest))
    if decimals > 9:
        return f"{mean:.4g} ± {half:.2g}"
    shown_mean, shown_half = (f"{round(value, decimals):.{max(0, decimals)}f}" for value in (mean, half))
    return shown_mean if float(shown_half) == 0.0 else f"{shown_mean} ± {shown_half}"


def _exponent(value: float) -> int:
    return math.floor(math.log10(value))


def number(value: float) -> str:
    """Format four significant digits: integers in full, a power of ten below 1e-6, a dash for NaN."""
    if math.isnan(value):
        return NO_VALUE
    if value == round(value) and abs(value) < 1e15:
        return str(round(value))
    if abs(value) < 1e-6:
        return f"{value:.3g}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, min(digits, 9))}f}"


def percent(share: float) -> str:
    """Format a share (0 to 1) as a percentage without decimals."""
    return f"{100 * share:.0f} %"
