"""Any number."""

from .kind import Kind

KIND = Kind("a number")
