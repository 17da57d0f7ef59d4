"""Statements about data that hold at every time they are looked at."""
