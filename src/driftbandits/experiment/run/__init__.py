"""Running: cells are planned, compiled, run on threads or a cluster, and stored."""
