r"""Generalized linear models in one pass over the data: one proximal step per observation (onepass-proof §1; after GLB-OMD).

    Ā_t = γH_t + (1−γ)λI,    Ā_tθ̄_t = γH_tθ_t (ridge)  or  θ̄_t = θ_t (prox)
    θ_{t+1} = argmin ℓ_t(θ) + (1/2η)‖θ − θ̄_t‖²_{Ā_t},    ℓ_t(θ) = b(x_tᵀθ) − r_t x_tᵀθ,  b′ = μ
    H_{t+1} = Ā_t + a_t x_t x_tᵀ,    a_t = 2η·min_{y=±‖x_t‖S} [b(y)−b(z)−μ(z)(y−z)]/(y−z)²,    z = x_tᵀθ_{t+1}

The step moves along Ā⁻¹x only, so the d-dimensional problem reduces to one scalar equation, z + ηq(μ(z)−r) = x_tᵀθ̄ with q = x_tᵀĀ⁻¹x_t. The
result is the linear learner with weight a_t instead of 1, and a pseudo-reward instead of the reward:

    A ← γA + a_t xxᵀ,    b ← γb + (a_t z + η(r−μ(z)))x,    θ = (A+λI)⁻¹b,    A = H − λI

State and time per round depend on d alone. With μ(z) = z and η = 1 it is ridge regression. The weight is a_t and not μ′(z), because the
proof needs the curvature between z and x_tᵀθ_*; with μ′(z) the confidence sets fail for S ≥ 4 (onepass-proof §5).

`OnePass`      optimism in the norm H⁻¹, an index on the scale of xᵀθ: with `radius.MixLoss`
`OnePassMean`  the same θ with the bonus in V⁻¹ around μ(xᵀθ): in the place of `Generalized`, with its radii

Two options limit the influence of single observations. With the forecast z̄ = x_tᵀθ̄ and q as above,

    `robust` τ > 0    a residual |r − μ(z̄)| > τ√(1+q) is cut to that size and adds nothing to H: Huber's loss (after Wang et al. 2025)
    `caution` c > 0   every observation has weight min(1, c/√q): uncertain directions are down-weighted (after He et al. 2022)

An observation waits in the sums until `estimate`, which has the link; no second one may be added before that.
"""

from . import step  # noqa: F401 - the methods of `estimate`
from .parts import OnePass, OnePassMean, in_one_pass

__all__ = ["OnePass", "OnePassMean", "in_one_pass"]
