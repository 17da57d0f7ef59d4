"""Roles of the algorithms."""

import pytest

from driftbandits.zoo.record import RECORDS
from driftbandits.zoo.roles import role_of


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("tuning-free", "self_tuning adaptive_weight_ucb adaptive_weight_glm_ucb igw_mix bob bob_glm bob_ucrl"),
        ("detection", "dal master"),
        ("never forgets", "oful cw_oful glm_ucb glb_omd log_ucb1 log_ucb2 ofu_log ucrl_vtr ucrl_mnl"),
        ("fixed forgetting", "lb_weight_ucb d_lin_ucb sw_ucb restart_ucb weight_ucrl mnl_sw_ucrl scb_pw_weight_ucb"),
    ],
)
def test_roles(role: str, names: str) -> None:
    assert {name: role_of(name) for name in names.split()} == dict.fromkeys(names.split(), role)


def test_every_algorithm_has_a_role() -> None:
    assert all(role_of(name) for name in RECORDS)
