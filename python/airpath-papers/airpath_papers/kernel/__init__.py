"""Figures on real kernels: how a figure runs where a run takes as long as it says."""
