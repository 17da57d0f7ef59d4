"""Settings for all tests: reproducible hypothesis runs, smaller sizes where kernels are interpreted."""

import os

from hypothesis import HealthCheck, settings

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    max_examples=25 if INTERPRETED else 100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")
