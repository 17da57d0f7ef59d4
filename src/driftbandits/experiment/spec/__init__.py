"""Specifications: a TOML file becomes an experiment with its formulas, grids and claims."""
