"""The names under which Gymnasium finds our environments: the entry point `gymnasium.envs` of this package.

Gymnasium calls `register` while it is itself being imported, so this module imports nothing at its top.
"""

NAMES = (
    "RiverSwim",
    "RiverSwimCurrent",
    "MNLRiverSwim",
    "MNLRiverSwimOneSided",
    "Inventory",
    "RandomLinearMixture",
    "RandomMNL",
)


def register() -> None:
    """Register all ids `driftbandits/…-v0`; a second call has no effect."""
    from gymnasium.envs import registration

    for name in NAMES:
        if f"driftbandits/{name}-v0" not in registration.registry:
            registration.register(
                id=f"driftbandits/{name}-v0",
                entry_point="driftbandits.integrations.gymnasium:make_env",
                kwargs={"world": name},
            )
