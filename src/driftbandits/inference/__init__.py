"""Confidence bounds that are valid at all times, so that data may be inspected as often as one likes."""
