r"""IGW-mix: a mixture of discounted regressions with inverse-gap-weighted exploration (docs/igw.md, docs/spec/adaptive-theory.md).

Expert of memory m, γ = 1 − 1/m, s² = 2R², from V = λI, θ̂ = 0:

    predict   N(xᵀθ̂, s²(1+q)),  q = xᵀV⁻¹x                                                                          (0.1)
    Bayes     V′ = V + xxᵀ,  V′θ̂′ = Vθ̂ + xr;     fade   V ← γV′ + (1−γ)λI,  Vθ̂ = γV′θ̂′                                  (0.2)
    project   θ̂ ← argmin_{‖θ‖≤S} ‖θ − θ̂‖_V, kept as the state                                                          (0.3)

Mixture: w ∝ w·g(r), then w ← (1−α)w + α/K, α = 1/(t+1). A constant α would add regret proportional to T. ŷ(x) = xᵀΣw_kθ̂_k.

Clicks (§8.1, finite form only), c = min μ′ on |z| ≤ LS: in place of Bayes an online Newton step, V′ = V + c·xxᵀ,
θ̂′ = θ̂ − (μ(xᵀθ̂) − r)V′⁻¹x. Both are

    V′ = V + a·xxᵀ,  V′θ̂′ = Vθ̂ + ρ·x,      (a, ρ) = (1, r) for values, (c, c·xᵀθ̂ + r − μ(xᵀθ̂)) for clicks;

an expert's probability of a click is μ(xᵀθ̂), and ŷ(x) = Σw_kμ(xᵀθ̂_k).

Exploration, b = argmax ŷ, gap = ŷ(b) − ŷ:

    finite    p(x) = 1/(A + g·gap(x)), x ≠ b, the rest on b                                                                   (0.4)
    linear    z = x/√(1+η·gap),  q a design on {z},  p(x) = q(x)/(1+η·gap(x)), x ≠ b, the rest on b                           (0.5)

The design is the average of k ≥ log₂(n/d) steps q ← q·lev/d from the uniform one, whose certificate κ = max_x zᵀM_q⁻¹z/d is at most 2
(Lemma 1c). κ is computed for the q in use. η is chosen as in Theorem 1 (a), (b), (c) or (d); in (d) Exp3.IX chooses it for each block of
⌈√T⌉ rounds, while the experts continue without a restart (§7).

For arms that do not span ℝ^d, 1e-12·tr M_q/d is added to the diagonal, which adds 4S²·1e-12 to the squared error.
"""

from . import strategy  # noqa: F401 - the methods of IgwMix
from .families import GaussianForecasts, LogisticForecasts
from .parts import BLOCKS, KNOWN, NOISE_KNOWN, UNKNOWN, IgwMix

__all__ = ["BLOCKS", "KNOWN", "NOISE_KNOWN", "UNKNOWN", "GaussianForecasts", "IgwMix", "LogisticForecasts"]
