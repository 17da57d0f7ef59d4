"""Plots as data (`plot`), drawn by matplotlib (`paper`) or plotly (`interactive`), and HTML pages (`page`)."""

from .plot import Axis, Bar, Heat, Plot, Series

__all__ = ["Axis", "Bar", "Heat", "Plot", "Series"]
