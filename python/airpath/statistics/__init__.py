"""Statistics over repetitions, as the field prints them: analysis of variance, comparisons, effect sizes."""

from airpath.statistics.analysis import Analysis, analyse, analyse_metric, paired_metric
from airpath.statistics.anova import Anova, WelchAnova, one_way, welch
from airpath.statistics.comparisons import PairComparison, games_howell, tukey_hsd
from airpath.statistics.difference import MeanDifference, MeanEstimate, mean_difference, welch_interval
from airpath.statistics.effects import eta_squared, hedges_g, omega_squared
from airpath.statistics.groups import Group, grand_mean, total
from airpath.statistics.layout import TextTable, analysis_tables, analysis_text
from airpath.statistics.paired import PairedComparison, paired

__all__ = [
    "Analysis",
    "Anova",
    "Group",
    "MeanDifference",
    "MeanEstimate",
    "PairComparison",
    "PairedComparison",
    "TextTable",
    "WelchAnova",
    "analyse",
    "analyse_metric",
    "analysis_tables",
    "analysis_text",
    "eta_squared",
    "games_howell",
    "grand_mean",
    "hedges_g",
    "mean_difference",
    "omega_squared",
    "one_way",
    "paired",
    "paired_metric",
    "total",
    "tukey_hsd",
    "welch",
    "welch_interval",
]
