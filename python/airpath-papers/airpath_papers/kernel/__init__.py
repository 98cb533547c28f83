"""Figures on real kernels, where a run takes its nominal duration."""
