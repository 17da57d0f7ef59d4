r"""What items have in common: θ_k = m̄ + δ_k with δ_k ~ N(0, Λ⁻¹), so that an item never seen is expected to be like the others.

Item k's data say about m̄ what their least-squares estimate says, with covariance V_k⁻¹ + Λ⁻¹ (in units of the noise): precision

    W_k = (V_k⁻¹ + Λ⁻¹)⁻¹ = Λ − ΛP_kΛ,    and   W_k·(V_k⁻¹b_k) = ΛP_kb_k = Λθ_k

so m̄ moves by Δ = (Λ + Σ_k W_k)⁻¹ Σ_k Λθ_k: one more Λ, the prior of m̄ itself around the mean reward.
"""

from ...core.kernel import solver
from ...core.linalg import Vector, solve
from .models import factorise, precision, recompute
from .parts import EXPONENTIAL, SelfTuningState


@solver
def common_part(state: SelfTuningState, delta: Vector) -> None:
    """Δ, from the first bank's model in use; its P and θ are made anew."""
    models, work = state.models, state.work
    m, p = state.evidence.current[EXPONENTIAL], delta.shape[0]
    A = work.W  # the sum of W_k; recompute uses work.A
    for i in range(p):
        delta[i] = 0.0
        for j in range(p):
            A[i, j] = 0.0
        A[i, i] = precision(state, i)
    for block in range(models.last.shape[0]):
        if models.n[m, block] <= 0.0 or models.alive[block] == 0.0:
            continue
        recompute(state, m, block)
        P, theta = models.P[m, block], models.theta[m, block]
        for i in range(p):
            li = precision(state, i)
            delta[i] += li * theta[i]
            A[i, i] += li
            for j in range(p):
                A[i, j] -= li * precision(state, j) * P[i, j]
    factorise(A, work.U)
    solve(work.U, delta, delta)
