"""Effect sizes: how large a difference is; a test only shows whether there is one."""

import math

from airpath.statistics.anova import Anova
from airpath.statistics.groups import Group


def eta_squared(anova: Anova) -> float:
    """Return the share of the total variation that lies between groups, of these samples; NaN without any."""
    return anova.ss_between / anova.ss_total if anova.ss_total > 0.0 else math.nan


def omega_squared(anova: Anova) -> float:
    """Estimate the same share for the population (Hays); slightly negative when F is below 1."""
    denominator = anova.ss_total + anova.ms_within
    if denominator <= 0.0:
        return math.nan
    return (anova.ss_between - anova.df_between * anova.ms_within) / denominator


def hedges_g(first: Group, second: Group) -> float:
    """Return the difference of two means in pooled standard deviations, bias-corrected (Hedges 1981).

    NaN if nothing varies, or if there are fewer than three samples.
    """
    df = first.n + second.n - 2
    if df < 2:
        return math.nan
    squares = sum((group.n - 1) * group.sd**2 for group in (first, second) if group.n > 1)
    if squares == 0.0:
        return math.nan
    return small_sample_correction(df) * (first.mean - second.mean) / math.sqrt(squares / df)


def small_sample_correction(df: int) -> float:
    """Return Hedges' exact factor Γ(m/2) / (√(m/2) Γ((m-1)/2)) for m degrees of freedom, two or more."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
