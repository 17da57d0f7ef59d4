"""Every algorithm under its paper's name: one short composition each."""

from .linear import d_lin_ts, d_lin_ucb, d_rand_lin_ucb, lb_weight_ucb, oful, restart_ucb, sw_ucb
from .meta import bob, master

__all__ = ["bob", "d_lin_ts", "d_lin_ucb", "d_rand_lin_ucb", "lb_weight_ucb", "master", "oful", "restart_ucb", "sw_ucb"]
