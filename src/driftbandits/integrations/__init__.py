"""Interfaces to other libraries. `import driftbandits` imports none of them."""
