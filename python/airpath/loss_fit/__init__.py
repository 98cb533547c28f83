"""Loss chains fitted to captures, loss traces, and traces of delivery opportunities."""

from airpath.loss_fit.fitting import fit
from airpath.loss_fit.results import LossFit

__all__ = ["LossFit", "fit"]
