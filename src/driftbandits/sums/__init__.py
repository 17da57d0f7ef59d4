"""Sufficient statistics of the weighted past: the moments of a linear model, and the atoms of a likelihood with its solver."""
