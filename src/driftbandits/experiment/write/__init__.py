"""Output: tables, figures and the report."""
