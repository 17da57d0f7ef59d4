"""Weighted ridge regression, the estimator of all linear bandits (paper, Section 3).

    V_t = λI + Σ_{s≤t} w_{t,s} x_s x_sᵀ,      b_t = Σ_{s≤t} w_{t,s} r_s x_s,      θ̂_{t+1} = V_t⁻¹ b_t

The sums hold V − λI. The recursion printed in the paper, V ← γV + xxᵀ + (1−γ)λI, keeps λI constant; here it is added when factoring.
"""

from ..core.linalg import cholesky, solve
from ..core.parts import Model
from ..errors import positive
from ..protocol import Estimate, Moments, estimate


class Linear(Model):
    """Rewards xᵀθ + noise, estimated by ridge regression with λ > 0."""

    lam: float

    def check(self) -> None:
        """V must be invertible before the first observation."""
        positive("lam", self.lam, "V = λI must be invertible in round 1")


@estimate.register(Linear)
def _(model: Linear, sums: Moments, est: Estimate) -> None:
    cholesky(sums.A, model.lam, est.factor)
    cholesky(sums.A2, model.lam, est.factor2)
    solve(est.factor, sums.b, est.theta)
