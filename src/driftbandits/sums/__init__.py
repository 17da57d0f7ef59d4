"""What is kept of the past: weighted moments of a linear model, and of a likelihood with its maximiser."""
