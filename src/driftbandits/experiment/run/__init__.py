"""What is done: cells are planned, compiled, run on threads or a cluster, and stored."""
