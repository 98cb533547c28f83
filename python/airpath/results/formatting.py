"""Numbers for people."""

import math
from collections.abc import Mapping
from typing import Any

NO_VALUE = "—"
"""What stands where there is no value."""


def mean_and_half_width(row: Mapping[str, Any]) -> str:
    """Write mean ± half-width of the confidence interval of one row of the statistics.

    The half-width has two significant digits, the mean as many decimals as the half-width. A dash
    stands where there is no value.
    """
    mean, half = row["mean"], (row["ci95_high"] - row["ci95_low"]) / 2
    if math.isnan(mean):
        return NO_VALUE
    if math.isnan(half) or half == 0.0:
        return number(mean)
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}" if decimals <= 9 else f"{mean:.4g} ± {half:.2g}"


def number(value: float) -> str:
    """Four significant digits, whole numbers whole, with a power of ten below 1e-6; a dash for NaN."""
    if math.isnan(value):
        return NO_VALUE
    if value == round(value) and abs(value) < 1e15:
        return str(round(value))
    if abs(value) < 1e-6:
        return f"{value:.3g}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, min(digits, 9))}f}"
