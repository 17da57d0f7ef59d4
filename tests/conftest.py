"""Settings for all tests: reproducible hypothesis runs, smaller sizes where kernels are interpreted."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")  # no child processes; where they are the subject, a test says so

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    max_examples=25 if INTERPRETED else 100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")
