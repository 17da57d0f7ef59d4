r"""Optimism over a convex set that contains the paper's: play argmax_x max_{θ∈E} xᵀθ (OFULog-r, Abeille, Faury, Calauzènes 2021).

    C = {‖θ‖ ≤ S, ‖g(θ) − g(θ̂)‖_{H⁻¹(θ)} ≤ ρ}                                         the paper's, not convex: `parameter`
    E = {‖θ‖ ≤ S, F(θ) − F(θ̂) ≤ B²},   B² = ρ²/(4h(D̂)),   h(D) = (e^{−D}+D−1)/D²         convex, and contains C
    D̂ = min{D̄(b), L(S+‖θ̂‖)},   D̄(b) = (b²+b√(b²+4))/2,   b = Lρ/√(λc_μ)

E is larger than C, often much larger: in the paper's experiments it is the whole ball where C is not. This rule therefore differs from that
of SCB-PW-WeightUCB. Around an iterate θ the loss is replaced by its quadratic model, and max xᵀy subject to that model and to the ball is
solved exactly, along y(τ) = argmin_{‖y‖≤S} ½‖y−θ‖²_H + uᵀ(y−θ) − τxᵀy. This is a Newton method and takes a few evaluations per arm. On
convergence the Lagrangian dual at the multipliers (1/τ, ν/τ) bounds the value from above:

    max_E xᵀθ ≤ xᵀθ + (1/τ)(F(θ̂) + B² − F(θ)) + (ν/2τ)(S² − ‖θ‖²) + ‖r‖²/(2(λc_μ+ν)/τ),     r = x − (u + νθ)/τ

A choice is *certified* if its value is at least every arm's upper bound, up to 1e-7. Arms whose cheap bound

    xᵀθ ≤ min( S‖x‖, xᵀθ̂ + ‖x‖_{H⁻¹(θ̂)}·B/√h(L(S+‖θ̂‖)) )

cannot win are skipped. If E is empty, which requires ‖θ̂‖ > S, the rule is greedy at the maximum-likelihood θ of the ball.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import factor_of, quadratic_on_ball
from ..core.kernel import kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, dot, norm, solve_lower, symmetric_product
from ..core.parts import Rule
from ..core.ties import best_arm, tie_level
from ..errors import positive
from ..protocol import Setting, blank_work, choose, index, mean, report
from ..sums.likelihood import Atoms, evaluate, loss, newton_on_ball

GAP = 1e-7  # the largest difference between upper bound and value that counts as certified
EMPTY, CERTIFIED, NOT_CERTIFIED = 0.0, 1.0, 2.0  # the status of a round's choice


class RelaxedParameterBased(Rule):
    """Optimism over the relaxed confidence set E."""

    S: float
    L: float

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, "it bounds the norm of θ")
        positive("L", self.L, "it bounds the norm of every arm")


class ChoiceTally(NamedTuple):
    """The number of choices, of certified ones, and of those with an empty set."""

    choices: Vector  # (1,)
    certified: Vector  # (1,)
    empty: Vector  # (1,) the set was empty


def blank_tally() -> ChoiceTally:
    """The counts before the first choice."""
    return ChoiceTally(choices=np.zeros(1), certified=np.zeros(1), empty=np.zeros(1))


class RelaxedWork(NamedTuple):
    """Workspace, and the count of certified choices."""

    value: Vector  # (1,)    index of the last choice
    tally: ChoiceTally
    level: Vector  # (1,)    F(θ̂) + B²
    status: Vector  # (1,)    `EMPTY`, `NOT_CERTIFIED` if an arm has no certificate, else `CERTIFIED`
    upper: Vector  # (1,)    largest upper bound
    centre: Vector  # (d,)    maximum-likelihood θ of the ball
    theta: Vector  # (d,)
    x: Vector  # (d,)
    y: Vector  # (d,)
    q: Vector  # (d,)
    t: Vector  # (d,)
    factor: Matrix  # (d, d)


@blank_work.register(RelaxedParameterBased)
def _(rule: RelaxedParameterBased, setting: Setting) -> RelaxedWork:
    d = setting.dim
    numbers, vectors = [np.zeros(1) for _ in range(3)], [np.zeros(d) for _ in range(6)]
    return RelaxedWork._make([np.zeros(1), blank_tally(), *numbers, *vectors, np.zeros((d, d))])


@choose.register(RelaxedParameterBased)
def _(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    beta: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    optimistic_values(rule, model, sums, est, beta, work, arms, score, True)
    k = best_arm(score, rng)
    work.tally.choices[0] += 1.0
    work.tally.empty[0] += work.status[0] == EMPTY
    if work.status[0] == CERTIFIED and score[k] >= work.upper[0] - GAP:
        work.tally.certified[0] += 1.0
    work.value[0] = mean(model, score[k])
    return k


@index.register(RelaxedParameterBased)
def _(rule: Any, model: Any, sums: Any, est: Any, beta: float, work: RelaxedWork, arms: Matrix, score: Vector) -> None:
    optimistic_values(rule, model, sums, est, beta, work, arms, score, False)
    for a in range(score.shape[0]):
        score[a] = mean(model, score[a])


@report.register(RelaxedParameterBased)
def _(rule: RelaxedParameterBased, work: RelaxedWork) -> dict[str, Any]:
    choices = max(float(work.tally.choices[0]), 1.0)
    return {"certified": float(work.tally.certified[0]) / choices, "empty_set": float(work.tally.empty[0]) / choices}


# -------------------------------------------------------------------------------------------------------------- the set


@kernel
def expansion(D: float) -> float:
    """h(D) = (e^{−D} + D − 1)/D²; near 0 by its series, because the formula suffers from cancellation."""
    if D < 1e-2:
        return 0.5 - D / 6.0 + D * D / 24.0 - D * D * D / 120.0
    return float((np.exp(-D) + D - 1.0) / (D * D))


@kernel
def budget(rule: Any, ridge: float, beta: float, size: float) -> float:
    """B² = ρ²/(4h(D̂)), with size = ‖θ̂‖."""
    b = rule.L * beta / sqrt(ridge)
    D = min(0.5 * (b * b + b * sqrt(b * b + 4.0)), rule.L * (rule.S + size))
    return beta * beta / (4.0 * expansion(D))


@kernel
def copy(source: Vector, to: Vector) -> None:
    """Copy a vector."""
    for i in range(source.shape[0]):
        to[i] = source[i]


@solver
def open_set(rule: Any, model: Any, sums: Atoms, est: Any, beta: float, work: RelaxedWork) -> float:
    """Start a round: level, centre and emptiness of E. Returns B/√h(L(S+‖θ̂‖)) and leaves the factor of H(θ̂) in work.factor."""
    ridge = model.lam * model.c_mu
    size = norm(est.hat)
    B2 = budget(rule, ridge, beta, size)
    copy(est.hat, work.centre)
    if size > rule.S:
        for i in range(est.hat.shape[0]):
            work.centre[i] *= rule.S / size
        newton_on_ball(model.link, sums, ridge, sums.b, rule.L, rule.S, work.centre, est.newton)
    work.level[0] = loss(model.link, sums, ridge, est.hat) + B2
    work.status[0] = CERTIFIED
    if size > rule.S and loss(model.link, sums, ridge, work.centre) > work.level[0]:
        work.status[0] = EMPTY
    evaluate(model.link, sums, ridge, sums.b, est.hat, est.newton.u, est.newton.H)
    factor_of(est.newton.H, 0.0, work.factor)
    return float(sqrt(B2 / expansion(rule.L * (rule.S + size))))


@solver
def optimistic_values(
    rule: Any,
    model: Any,
    sums: Atoms,
    est: Any,
    beta: float,
    work: RelaxedWork,
    arms: Matrix,
    score: Vector,
    lazy: bool,
) -> None:
    """Write max xᵀθ over E of every arm; if lazy, only of arms that can win, and an upper bound for the others."""
    d, n = arms.shape
    spread = open_set(rule, model, sums, est, beta, work)
    work.upper[0] = -np.inf
    top = 0
    for a in range(n):
        for i in range(d):
            work.x[i] = arms[i, a]
        if work.status[0] == EMPTY:
            score[a] = dot(work.x, work.centre)
            continue
        solve_lower(work.factor, work.x, work.t)
        score[a] = min(rule.S * norm(work.x), dot(work.x, est.hat) + spread * norm(work.t))
        if score[a] > score[top]:
            top = a
    if work.status[0] == EMPTY:
        return
    # The arm with the largest bound is solved first: its value rules out most of the others.
    best = -np.inf
    for k in range(n + 1):
        a = top if k == 0 else k - 1
        if k > 0 and (a == top or (lazy and score[a] < tie_level(best))):
            continue
        for i in range(d):
            work.x[i] = arms[i, a]
        score[a] = solve_arm(rule, model, sums, est, work, score[a])
        best = max(best, score[a])


@solver
def solve_arm(rule: Any, model: Any, sums: Atoms, est: Any, work: RelaxedWork, bound: float) -> float:
    """The value of the arm in work.x, given an upper bound; records the bound that remains in work.upper."""
    ridge = model.lam * model.c_mu
    size = norm(work.x)
    if size == 0.0:
        value = upper = 0.0
    else:
        value = upper = rule.S * size
        for i in range(work.x.shape[0]):
            work.theta[i] = work.x[i] * rule.S / size
        if bound < value or loss(model.link, sums, ridge, work.theta) > work.level[0]:
            upper = min(bound, maximise(rule, model, sums, est, work))
            value = dot(work.x, work.theta)
            if upper - value > GAP:  # not certified: use the upper bound, which keeps the choice optimistic
                value = upper
                work.status[0] = NOT_CERTIFIED
    work.upper[0] = max(work.upper[0], upper)
    return float(value)


# ----------------------------------------------------------------------------------------------------------- the relaxed set


@solver
def push(
    x: Vector, H: Matrix, u: Vector, slack: float, S: float, theta: Vector, y: Vector, q: Vector, t: Vector, U: Matrix
) -> tuple[float, float]:
    """max xᵀy subject to uᵀ(y−θ) + ½‖y−θ‖²_H ≤ slack and ‖y‖ ≤ S: y, and the multipliers (τ, ν).

    The value of the constraint increases with s = τ², linearly while ‖y‖ < S, so s is found by Newton steps kept inside a bracket. τ = 0 if
    even the least value is above the slack.
    """
    d = x.shape[0]
    low, high = 0.0, np.inf
    s = 0.0
    nu = 0.0
    for k in range(60):
        tau = sqrt(s)
        symmetric_product(H, theta, q)
        for i in range(d):
            q[i] += tau * x[i] - u[i]
        nu = quadratic_on_ball(H, q, S, U, y, t)
        for i in range(d):
            t[i] = y[i] - theta[i]
        symmetric_product(H, t, q)
        excess = 0.5 * dot(q, t) + dot(u, t) - slack
        if k == 0 and excess >= 0.0:
            return 0.0, nu
        if abs(excess) <= 1e-13 * (abs(slack) + abs(dot(u, t))) or (high < np.inf and high - low <= 1e-15 * high):
            break
        if excess > 0.0:
            high = s
        else:
            low = s
        # d(model)/ds = ½·xᵀ(K⁻¹ − K⁻¹yyᵀK⁻¹/yᵀK⁻¹y)x with K = H + νI; the second term only on the sphere
        solve_lower(U, x, q)
        slope = dot(q, q)
        if nu > 0.0:
            solve_lower(U, y, t)
            slope -= dot(q, t) ** 2 / dot(t, t)
        new = s - excess / (0.5 * slope) if slope > 1e-300 else np.inf
        if not low < new < high:
            new = 0.5 * (low + high) if high < np.inf else 4.0 * s + 1.0
        if s > 1e30:
            break
        s = new
    return sqrt(s), nu


@solver
def maximise(rule: Any, model: Any, sums: Atoms, est: Any, work: RelaxedWork) -> float:
    """θ ← argmax xᵀθ over E, for the arm in work.x; returns the dual's upper bound."""
    d = work.x.shape[0]
    ridge = model.lam * model.c_mu
    H, u = est.newton.H, est.newton.u
    copy(work.centre, work.theta)
    evaluate(model.link, sums, ridge, sums.b, work.theta, u, H)
    slack = work.level[0] - loss(model.link, sums, ridge, work.theta)
    upper = rule.S * norm(work.x)
    for _ in range(50):
        tau, nu = push(work.x, H, u, slack, rule.S, work.theta, work.y, work.q, work.t, est.newton.factor)
        length = 0.0
        for i in range(d):
            length += (work.y[i] - work.theta[i]) ** 2
        length = rule.L * sqrt(length)
        share = 1.0 if length <= 1.0 else np.log1p(length) / length
        for i in range(d):
            work.theta[i] += share * (work.y[i] - work.theta[i])
        evaluate(model.link, sums, ridge, sums.b, work.theta, u, H)
        slack = work.level[0] - loss(model.link, sums, ridge, work.theta)
        if length <= 1e-5 and tau > 0.0:
            rest = 0.0
            for i in range(d):
                rest += (work.x[i] - (u[i] + nu * work.theta[i]) / tau) ** 2
            bound = dot(work.x, work.theta) + slack / tau + 0.5 * nu / tau * (rule.S**2 - dot(work.theta, work.theta))
            upper = min(upper, bound + 0.5 * rest * tau / (ridge + nu))
            if upper - dot(work.x, work.theta) <= 1e-3 * GAP or length <= 1e-9:
                break
    return float(upper)
