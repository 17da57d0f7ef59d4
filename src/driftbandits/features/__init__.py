"""Features from values that are no numbers: `calendar`, the hour of the day and the day of the week as points on circles."""

from .calendars import calendar

__all__ = ["calendar"]
