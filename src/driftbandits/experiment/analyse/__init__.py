"""Analysis of finished trials: curves, bounds, exponents and verdicts on the claims."""
