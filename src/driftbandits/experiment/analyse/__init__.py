"""What it means: curves, bounds, exponents and verdicts on the claims."""
