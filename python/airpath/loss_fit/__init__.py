"""Chains of losses fitted to recordings: captures, traces of losses, traces of opportunities."""

from airpath.loss_fit.fitting import fit
from airpath.loss_fit.results import LossFit

__all__ = ["LossFit", "fit"]
