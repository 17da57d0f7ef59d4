"""What is seen: tables, figures and the report."""
