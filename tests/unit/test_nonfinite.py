"""Kernels are compiled with flags that let LLVM reorder sums; whatever relies on NaN or infinity must survive them.

`RELIES` lists every compiled function that compares with either, or negates an order (`not a < b`, true for NaN), found by reading
the sources; variables that only begin at ±∞ are not listed. A new one fails the first test until it is listed here: with one of the
patterns that `test_patterns_survive` tries, or with a check of its own.
"""

import ast
import math

import numpy as np
import pytest
from table import ONE_OF_EACH, make

import driftbandits as db
from driftbandits.agent.engine import _decide, _observe
from driftbandits.core import ball, linalg, ties
from driftbandits.core.kernel import entry
from driftbandits.core.rooms import PACKAGE, ROOMS
from driftbandits.core.state import duplicate, pack
from driftbandits.links import Logistic
from driftbandits.meta import schedule
from driftbandits.protocol import NO_SLOT, Setting, settle, start
from driftbandits.rule import width
from driftbandits.sums import likelihood

RELIES = {
    "adaptive.choice._add_voice": "−∞ marks an item that is gone",
    "adaptive.columns.count": "isnan: a missing value",
    "adaptive.columns.cut": "isnan: a missing value",
    "adaptive.columns.hold_still": "isnan: a missing value",
    "adaptive.columns.shift": "isnan: a missing value",
    "alarms.bettors.fits": "a NaN place is outside its bracket",
    "alarms.bettors.standardise": "a missing value is not between −∞ and ∞",
    "inference.outcomes.fits": "a NaN place is outside its bracket",
    "mdp.likelihood.likeliest": "a first decrement is compared with infinity",
    "core.ball._definite": "a NaN pivot is not positive",
    "core.ball.quadratic_on_ball": "a NaN norm ends the search at once",
    "core.checks.largest_square": "strict: tests/unit/test_checks.py",
    "sums.likelihood.newton": "a first decrement is compared with infinity",
    "meta.dlin_ucb._doubt": "a slave that was never tested is infinitely uncertain",
    "meta.dlin_ucb._make": "a place that is free is infinitely bad",
    "meta.igw_mix.families._": "a range without an end",
    "adaptive.choice.weights_of_checks": "−∞ marks an item that is gone",
    "adaptive.envelope.add_law": "−∞ marks an item that is gone",
    "adaptive.envelope.tolerance": "−∞ marks an item that is gone",
    "mdp.one_pass._": "a transition without a place makes NaN of the sums",
    "model.one_pass.sums._": "an observation without a place makes NaN of the sums",
    "model.one_pass.step.step_on_ball": "a bracket begins at [0, ∞), and NaN is outside every bracket",
    "model.descent.descend": "a NaN slope or value ends the descent",
    "env.rewards._": "a range without an end",
    "rule.bounding.bound_arms": "a maximum begins at −∞, a bound at ∞",
    "rule.confidence.pole": "an arm that is not decided is infinitely far",
    "rule.parameter.greedy": "−∞ marks that nothing was found",
    "rule.relaxed.push": "a bracket begins at [0, ∞), and NaN is outside every bracket",
    "rule.width.score_contenders": "−∞ marks an evaluated arm, and is where the maximum begins",
}
#: Open functions that only Python calls.
PYTHON_ONLY = {"start", "limits", "extreme_slopes", "describe", "trace", "report", "settle", "grow", "conditioning"}
WORDS = {"isfinite", "isinf", "isnan", "inf", "nan"}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def is_compiled(function):
    names = [ast.unparse(d).split("(")[0] for d in function.decorator_list]
    methods = [n.split(".")[0] for n in names if n.endswith(".register")]
    return bool({"kernel", "solver", "entry"} & set(names)) or any(m not in PYTHON_ONLY for m in methods)


def is_start(node):
    """An infinity that a variable begins with: a maximum at −∞, a minimum or a bracket at ∞."""
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(value, ast.Attribute) and value.attr == "inf"


def mentions(function):
    starts = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            starts |= {id(part) for value in values if is_start(value) for part in ast.walk(value)}
    for node in ast.walk(function):
        if getattr(node, "attr", getattr(node, "id", None)) in WORDS and id(node) not in starts:
            yield ast.unparse(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from (
                ast.unparse(c)
                for c in ast.walk(node.operand)
                if isinstance(c, ast.Compare) and isinstance(c.ops[0], ORDERS)
            )


def compiled_functions():
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if ROOMS[place.parts[0]].compiled:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and is_compiled(node):
                    yield f"{'.'.join(place.with_suffix('').parts)}.{node.name}", set(mentions(node))


@pytest.mark.interpreted  # reads the sources
def test_every_function_that_relies_on_nan_or_infinity_is_listed():
    found = {name: words for name, words in compiled_functions() if words}
    assert set(found) == set(RELIES)


def test_no_compiled_function_asks_numba_whether_a_number_is_finite():
    """Numba's isfinite tests whether x − x is NaN, which `reassoc` folds to 0."""
    asks = {name for name, words in compiled_functions() if any(w.endswith("isfinite") for w in words)}
    assert not asks


# ---------------------------------------------------------------------------------------------------------- the patterns


def patterns(x, limit):
    """What compiled code does with NaN and infinity: max, min, not below a limit, NaN, ±∞, a bracket, −∞ and NaN as marks."""
    top, low, first, missing, unbounded, bracketed, gone, there, missed = -np.inf, np.inf, -1, 0, 0, 0, 0, 0, 0
    other = 0
    high = np.inf
    for i in range(x.shape[0]):
        top = max(top, x[i])
        low = min(low, x[i])
        if first < 0 and not x[i] < limit:
            first = i
        if math.isnan(x[i]):
            missing += 1
        if math.isinf(x[i]):
            unbounded += 1
        if not 0.0 < x[i] < high:
            bracketed += 1
        if high == np.inf and x[i] > 0.5:
            high = x[i]
        if x[i] == -np.inf:
            gone += 1
        there += x[i] > -np.inf
        if not -np.inf < x[i] < np.inf:
            missed += 1
        if x[i] != limit:
            other += 1
    return top, low, first, missing, unbounded, bracketed, gone, there, missed, other


def test_patterns_survive():
    call = entry(patterns)
    rng = np.random.default_rng(0)
    for n in range(24):
        for special in (0.25, np.nan, np.inf, -np.inf):
            for i in range(max(n, 1)):
                x = rng.uniform(-1.0, 1.0, n)
                x[i : i + 1] = special
                if np.isnan(special):  # max and min with NaN depend on the order, in Python too
                    assert call(x, 2.0)[2:] == patterns(x, 2.0)[2:], (n, i)
                else:
                    assert call(x, 2.0) == patterns(x, 2.0), (n, i, special)


# ---------------------------------------------------------------------------------------------------------- one by one


@entry
def _largest(score):
    return linalg.largest(score)


@entry
def _level(best):
    return ties.tie_level(best)


def test_nan_is_never_the_largest():
    for n in range(20):
        score = np.random.default_rng(n).uniform(-1.0, 1.0, n)
        assert _largest(score) == (score.max() if n else -np.inf)
        for a in range(n):
            for special in (np.nan, np.inf, -np.inf):
                trial = score.copy()
                trial[a] = special
                rest = np.delete(trial, a) if special != np.inf else trial
                assert _largest(trial) == (rest.max() if len(rest) else -np.inf), (n, a, special)
        assert _largest(np.full(n, np.nan)) == -np.inf


def test_nothing_is_below_the_level_of_no_arm():
    assert _level(-np.inf) == -np.inf
    assert np.isnan(_level(np.nan))


@entry
def _definite(A, U):
    return ball._definite(A, 0.0, U)


@entry
def _on_ball(A, q, factor, y, z):
    return ball.quadratic_on_ball(A, q, 1.0, factor, y, z)


def test_a_matrix_with_nan_is_not_positive_definite():
    for d in range(1, 7):
        A = np.eye(d) + 0.1
        assert _definite(A, np.zeros((d, d)))
        for k in range(d):
            bad = A.copy()
            bad[k, k] = np.nan
            assert not _definite(bad, np.zeros((d, d))), (d, k)


def test_a_search_that_meets_nan_ends():
    for d in range(1, 7):
        for k in range(d):
            q, y = np.ones(d), np.zeros(d)
            q[k] = np.nan
            assert _on_ball(np.eye(d), q, np.zeros((d, d)), y, np.zeros(d)) == 0.0, (d, k)
            assert np.isnan(y).any()


@entry
def _opened(plan):
    schedule._open(plan, 3)
    return schedule._failed_test(plan)


def test_a_block_of_master_begins_without_a_least_index():
    state = start(make("master"), Setting(3, np.zeros((3, 0)), 40), np.random.default_rng(0))
    state.plan.rate[0] = 1.0
    assert _opened(state.plan) == 2  # τ = 0: the gap test, 0 ≥ 0; never test 1, whose level is infinite
    assert state.plan.sums.least[0] == np.inf


@entry
def _contend(rule, model, est, work, arms, score):
    return width.score_contenders(rule, model, est, 1.0, work, arms, score)


def test_lazy_scoring_meets_nan_and_minus_infinity():
    """Twenty fixed arms at d = 10: one stands out and is evaluated; with θ̂ = NaN no arm waits, and nothing is."""
    arms = np.random.default_rng(0).uniform(-0.3, 0.3, (10, 40))
    strategy = settle(db.zoo.oful(lam=1.0, S=1.0, L=1.0, R=0.5, delta=0.05), 10)
    for poison in (0.0, np.nan):
        answers = []
        for call in (_contend, _contend.__wrapped__):
            state = start(strategy, Setting(10, arms, 40), np.random.default_rng(0))
            assert state.work.bound.shape == (40,)
            state.est.factor[...] = np.eye(10)
            state.est.theta[:] = arms[:, 7] * 100.0 + poison
            state.work.bound[:] = 1e-3
            score = np.zeros(40)
            answers.append((call(strategy.rule, strategy.model, state.est, state.work, arms, score), score))
        assert answers[0][0] == answers[1][0] == True  # noqa: E712
        np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-12)


@entry
def _newton(link, sums, theta, work):
    return likelihood.newton(link, sums, 0.5, sums.b, 1.0, theta, work)


def test_the_first_step_of_newton_has_no_decrement_before_it():
    """From d = 8 on a Hessian is kept while decrements fall fast; before the first one stands ∞."""
    counts = []
    for call in (_newton, _newton.__wrapped__):
        arms = np.random.default_rng(1).uniform(-0.3, 0.3, (9, 30))
        sums = likelihood.blank_atoms(Setting(9, arms, 0), 0, False)
        sums.N[:], sums.b[:] = 5.0, np.linspace(-3.0, 3.0, 9)
        theta, work = np.zeros(9), likelihood.blank_newton_work(9)
        counts.append(call(Logistic(), sums, theta, work))
        assert work.error[0] <= 1e-9
    assert counts[0] == counts[1] > 2


# ------------------------------------------------------------------------- the solvers, inside the strategies that use them

#: Compiled for the contract tests anyway; under the slow mark newton, descend and descend_from_starts, push and ascend.
POISONED = [pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in ONE_OF_EACH]
MORE = ("scb_weight_ucb", "master", "scb_pw_weight_ucb", "adaptive_weight_glm_ucb")


@pytest.mark.parametrize("name", [*POISONED, *(pytest.param(n, marks=pytest.mark.slow) for n in MORE)])
@pytest.mark.compiled
def test_a_poisoned_state_is_treated_alike_by_compiled_code_and_python(name):
    """NaN in the sums ends every search, and the same numbers are NaN afterwards: no comparison was folded away."""
    agent = db.Agent(make(name), dim=3, seed=0, horizon=40)
    rng = np.random.default_rng(0)
    arms = rng.uniform(-0.5, 0.5, (5, 3))  # the same in all rounds: MASTER asks for that
    for _ in range(6):
        agent.select(arms)
        agent.update(float(rng.integers(0, 2)))
    clean = agent._state
    names = [key for key, a in pack(clean).items() if a.dtype == np.float64 and a.size and key.endswith(("b", "theta"))]
    assert names
    for key in names:
        outcome = []
        for decide, observe in ((agent._decide, agent._observe), (_decide.__wrapped__, _observe.__wrapped__)):
            state, score = duplicate(clean), np.zeros(4)
            inside(state, key)[...] = np.nan
            with np.errstate(all="ignore"):
                observe(agent.strategy, state, np.full(3, 0.4), 1.0, NO_SLOT)
                offer = np.ascontiguousarray(np.eye(4)[:3] * 0.5)
                k = decide(agent.strategy, state, offer, score, True, np.random.default_rng(1))
            outcome.append((k, {n: np.isnan(a) for n, a in pack(state).items() if not n.startswith("work")}))
        assert outcome[0][0] == outcome[1][0], key
        for n, where in outcome[0][1].items():
            np.testing.assert_array_equal(where, outcome[1][1][n], err_msg=f"{key} → {n}")


def inside(state, key):
    for name in key.split("."):
        state = getattr(state, name)
    return state
