"""Columns of dicts."""

from typing import Any


def there(value: Any, absent: set[str]) -> Any:
    """A struct has all its fields in every row: None means that this row has none."""
    return value if value is None else {k: v for k, v in value.items() if not (v is None and k in absent)}
