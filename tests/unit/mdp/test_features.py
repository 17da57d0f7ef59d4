"""What is known of a problem, built from what one has; and the constants that follow from it."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.protocol import settled

CALM, STORM = np.full((3, 2, 3), 1 / 3), np.broadcast_to(np.eye(3)[:, None], (3, 2, 3))


def test_a_mixture_of_models():
    features = db.mdp.mixture_of([CALM, STORM], rewards=[np.ones((3, 2)), np.zeros((3, 2))])
    np.testing.assert_array_equal(features.psi @ [0.25, 0.75], 0.25 * CALM + 0.75 * STORM)
    assert features.phi.shape == (3, 2, 2)
    assert db.mdp.mixture_of([CALM, STORM]).phi is None
    assert repr(features) == "Features(linear mixture, 3 states, 2 actions, 2 features)"
    for models, message in (
        ([CALM, CALM[:, :1]], "shapes"),
        ([2 * CALM], "not a distribution"),
        ([CALM * np.nan], "NaN"),
    ):
        with pytest.raises(db.DriftBanditsError, match=message):
            db.mdp.mixture_of(models)


def test_features_of_moves():
    features = db.mdp.logit(lambda s, a, t: [t - s, a * (t > s)] if abs(t - s) <= 1 else None, states=4, actions=2)
    assert features.reachable.sum() == 2 * (4 + 6)
    np.testing.assert_array_equal(features.psi[1, 1, 2], [1, 1])
    with pytest.raises(db.DriftBanditsError, match="same length"):
        db.mdp.logit(lambda s, a, t: np.ones(1 + s), states=2, actions=1)
    with pytest.raises(db.DriftBanditsError, match="None for every move"):
        db.mdp.logit(lambda s, a, t: None, states=2, actions=1)


@pytest.mark.interpreted
def test_practical_constants_do_not_depend_on_units():
    """Features of the rewards × 1000, parameters / 1000: the same plans."""
    rng = np.random.default_rng(0)
    psi, phi = np.moveaxis(rng.dirichlet(np.ones(3), (2, 3, 2)), 0, -1), rng.random((3, 2, 2))
    plans = []
    for scale in (1.0, 1000.0):
        features = db.mdp.features_of(scale * phi, psi)
        agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=0.9), features, horizon=3)
        agent.begin_episode()
        agent.observe(0, 0, 1, 0.7, 2)
        plans.append(agent.begin_episode())
    np.testing.assert_allclose(*plans, rtol=1e-9)


def test_theory_s_constants_are_one_word_away():
    world = db.mdp.riverswim(episodes=100)
    strategy, _ = settled(db.zoo.weight_ucrl(gamma=0.9, constants="theory"), world.task)
    assert strategy.transition.lam == 10**2 * 2
    assert strategy.reward.lam == 2
    assert strategy.transition.delta == pytest.approx(1 / (4 * 100 * 10))
    assert strategy.transition.scale == 1.0
    assert not strategy.rule.pooled
    one_hot, task = settled(db.zoo.weight_ucrl(gamma=0.9, constants="theory"), db.mdp.tabular(3, 2).task(4, 50))
    assert task.moves.psi.shape == (6, 3, 18)
    assert pytest.approx(6**0.5) == one_hot.transition.S
    with pytest.raises(db.DriftBanditsError, match="number of episodes"):
        settled(db.zoo.weight_ucrl(gamma=0.9, constants="theory"), db.mdp.tabular(3, 2).task(4, 0))
    with pytest.raises(db.DriftBanditsError, match="S²A"):
        settled(db.zoo.weight_ucrl(gamma=0.9, constants="theory"), db.mdp.tabular(100, 4).task(4, 10))


EVEN = np.full((2, 2, 2), 0.5)  # a model of two states and two actions


def one(*move):
    return [1.0]


def zero(*move):
    return [0.0]


def made(strategy, features=None, **options):
    known = db.mdp.tabular(2, 2) if features is None else features
    return db.EpisodicAgent(strategy, known, horizon=3, compile="never", **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.zoo.weight_ucrl(constants="best"), "constants = 'best'"),
        (lambda: db.EpisodicAgent(db.zoo.weight_ucrl(), horizon=3), "give features"),
        (lambda: db.EpisodicAgent(db.zoo.mnl_weight_ucrl(), db.mdp.tabular(2, 2), horizon=3), "multinomial-logit"),
        (
            lambda: db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(2, 2), horizon=3, reward_range=(1, 0)),
            "low < high",
        ),
        (lambda: db.mdp.tabular(0, 2), "states = 0"),
        (lambda: db.mdp.tabular(2, 2, known_rewards=[[1, 2], [3]]), "known_rewards has rows of different lengths"),
        (lambda: db.mdp.tabular(2, 2, known_rewards="free"), "known_rewards holds strings"),
        (lambda: db.mdp.mixture_of(None), "must be a list"),
        (lambda: db.mdp.mixture_of([]), "models is empty"),
        (lambda: db.mdp.mixture_of(["calm"]), r"models\[0\] holds strings"),
        (
            lambda: db.mdp.mixture_of([EVEN, EVEN * [[1.0], [1.2]]]),
            r"models\[1\] .* state 0 with action 1: .* sum to 1.2",
        ),
        (lambda: db.mdp.mixture_of([EVEN + np.array([1.0, -1.0])]), r"models\[0\] .* the least is -0.5"),
        (lambda: db.mdp.mixture_of([EVEN * np.nan]), r"models\[0\] contains NaN"),
        (lambda: db.mdp.mixture_of([EVEN * [[1.0], [0.0]]]), "a pair that was never seen"),
        (lambda: db.mdp.mixture_of([EVEN], rewards=[]), "rewards is empty"),
        (lambda: db.mdp.mixture_of([EVEN], rewards=[np.ones((2, 2)), np.ones(2)]), "rewards have shapes"),
        (lambda: db.mdp.logit([1.0], states=2, actions=1), "must be a function"),
        (lambda: db.mdp.logit(lambda s, a, t: "near", states=2, actions=1), "holds strings"),
        (lambda: db.mdp.logit(lambda s, a, t: [[1.0]], states=2, actions=1), r"shapes \[\(1, 1\)\]"),
        (lambda: db.mdp.logit(lambda s, a, t: [], states=2, actions=1), "same length ≥ 1"),
        (lambda: db.mdp.logit(one, states=2, actions=1, successors=lambda s, a: [0.5]), "a successor = 0.5"),
        (lambda: made(db.zoo.weight_ucrl(), "a lake"), "features = 'a lake' is not allowed"),
        (lambda: made(db.zoo.weight_ucrl(), db.mdp.features_of(np.zeros((2, 2, 1)), EVEN[..., None])), "phi is 0"),
        (lambda: made(db.zoo.mnl_weight_ucrl(), db.mdp.logit(zero, states=2, actions=1)), "psi is 0"),
        (lambda: made(db.zoo.weight_ucrl(share_stages="no")), "share_stages = 'no'"),
        (lambda: made(db.zoo.weight_ucrl(cap=["stage"])), r"cap = \['stage'\]"),
        (
            lambda: made(db.zoo.weight_ucrl(transition_bonus_scale="small")),
            "transition_bonus_scale = 'small' is a text",
        ),
        (lambda: made(db.zoo.weight_ucrl(transition_bonus_scale=np.nan)), "transition_bonus_scale = nan"),
        (lambda: made(db.zoo.weight_ucrl(reward_noise=0.1)), "reward_range cover the noise"),
        (lambda: made(db.zoo.weight_ucrl), r"call it: weight_ucrl\(\)"),
        (lambda: made("weight_ucrl"), "no learner of episodic MDPs"),
        (lambda: db.zoo.bob_ucrl(db.zoo.weight_ucrl(), episodes=9), r"weight_ucrl\(gamma=0.9\)"),
        (lambda: db.zoo.sw_ucrl(window=0), "window = 0 .* episodes remembered"),
        (lambda: db.zoo.restart_ucrl(period=1.5), "period = 1.5"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        make()


def test_an_unknown_option_is_named_and_the_nearest_suggested():
    with pytest.raises(TypeError, match="'gama'; did you mean 'gamma'"):
        db.zoo.weight_ucrl(gama=0.9)
    with pytest.raises(TypeError, match="'kappa'; it takes gamma, half_life"):
        db.zoo.weight_ucrl(gamma=0.9, kappa=0.1)
