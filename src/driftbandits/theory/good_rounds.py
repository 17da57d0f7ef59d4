r"""Rounds in which discounting outruns the drift: what repairs Theorem 3 (self-concordant bandits).

The noise of round s has the variance μ′(X_sᵀθ_s), but Lemma 3 measures it in the norm of H_t(θ) = λc_μI + Σ_s w_s μ′(X_sᵀθ)X_sX_sᵀ with
w_s = γ^{t−1−s}. The self-normalised inequality (Faury et al. 2020, Theorem 1) holds for the matrix

    H̃_t = λc_μI + Σ_s w_s² μ′(X_sᵀθ_s) X_sX_sᵀ                      (weights squared, every slope at its own parameter)

With |μ″| ≤ Mμ′ slopes differ by at most e^{M|z₁−z₂|}. Let ℓ = log(1/γ). Round t is *good* if

    M L ‖θ_s − θ_{t−1}‖ ≤ ρ (t−1−s) ℓ        for all s ≤ t−1,  ρ = 1                                                     (1)

Then w_s μ′(X_sᵀθ_s) ≤ μ′(X_sᵀθ_{t−1}), one factor w_s is left over, and H̃_t ⪯ H_t(θ_{t−1}): the printed radius is valid. Bad rounds
are few: (1) holds whenever the queue that receives MLΔ_j and serves ρℓ a round is empty, and a queue that received MLP_T in all cannot
be busy in more than MLP_T/(ρℓ) rounds. With ρ = ½ the bias can be measured in the local norm as well.
"""

from math import exp, inf, log

import numpy as np

from ..errors import integer, positive, real, require
from .checks import discount, drift, nonnegative, slopes
from .paths import Path, path_array, path_steps


def bad_rounds(path: Path, *, gamma: float, L: float = 1.0, M: float = 1.0, share: float = 1.0) -> int:
    """The number of rounds of a path in which the queue behind the good rounds is busy; every other round is good.

        W_1 = 0,   W_{j+1} = max{0, W_j + MLΔ_j − ρℓ};     counted are the rounds t = 2, …, T with W_{t−1} > 0

    Parameters
    ----------
    path : the parameter path (T, d).
    gamma : discount in (0, 1); ℓ = log(1/γ).
    L, M : bound of ‖x‖, and |μ″| ≤ Mμ′ (1 always serves; tanh(LS/2) for the logistic link).
    share : ρ in (0, 1]; ½ for the local bias.

    Examples
    --------
    >>> import numpy as np
    >>> jump = np.repeat([[1.0, 0.0], [-1.0, 0.0]], 3000, axis=0)
    >>> bad_rounds(jump, gamma=0.988558859589), bad_rounds(jump, gamma=0.988558859589, share=0.5)
    (173, 347)
    """
    leak = _share(share) * -log(discount(gamma))
    reach = positive("L", L, "it bounds the arms") * positive("M", M, "it bounds |μ″|/μ′")
    load, busy = 0.0, 0
    for step in path_steps(path)[:-1]:  # the last step happens after the last decision's data
        load = max(0.0, load + reach * float(step) - leak)
        busy += load > 0.0
    return busy


def bad_rounds_bound(*, P_T: float, gamma: float, L: float = 1.0, M: float = 1.0, share: float = 1.0) -> float:
    """M L P_T/(ρ log(1/γ)), which `bad_rounds` never exceeds.

    Examples
    --------
    >>> round(bad_rounds_bound(P_T=2.0, gamma=0.988558859589), 3)
    173.806
    """
    reach = positive("L", L, "it bounds the arms") * positive("M", M, "it bounds |μ″|/μ′")
    return reach * drift("P_T", P_T) / (_share(share) * -log(discount(gamma)))


def round_inflation(
    path: Path, *, gamma: float, k_mu: float, c_mu: float, t: int | None = None, L: float = 1.0, M: float = 1.0
) -> float:
    """Λ_t = max{1, max_{s<t} γ^{t−1−s} min{e^{ML‖θ_s−θ_t‖}, k_μ/c_μ}}: by how much to widen the radius of one round, good or bad.

    The noise part of β̃ times √Λ_t is valid in round t with the comparator θ_t. It never exceeds the global Λ of `drift_inflation`,
    which knows nothing of the path.

    Parameters
    ----------
    path : the parameter path (T, d).
    gamma, k_mu, c_mu : discount in (0, 1), largest and smallest slope.
    t : the round; the last one if omitted.
    L, M : as in `bad_rounds`.

    Examples
    --------
    >>> path = [[0.0]] * 9 + [[1.0]]
    >>> round(round_inflation(path, gamma=0.9, k_mu=0.25, c_mu=0.01), 4), round_inflation(path, gamma=0.9, k_mu=0.25, c_mu=0.01, t=9)
    (2.7183, 1.0)
    """
    (k_mu, c_mu), decay, array = slopes(k_mu, c_mu), -log(discount(gamma)), path_array(path)
    reach = positive("L", L, "it bounds the arms") * positive("M", M, "it bounds |μ″|/μ′")
    t = len(array) if t is None else integer("t", t, least=1, why="rounds are counted from one")
    require(t <= len(array), "t", t, f"≤ {len(array)}", "the path has no more rounds")
    if t == 1:
        return 1.0
    ages = np.arange(t - 2, -1, -1)  # t − 1 − s for s = 1, …, t − 1
    moved = np.minimum(reach * np.linalg.norm(array[: t - 1] - array[t - 1], axis=-1), log(k_mu / c_mu))
    return exp(max(0.0, float(np.max(moved - decay * ages, initial=-inf))))


def jump_cost(*, gap: float, P_T: float, gamma: float, L: float = 1.0, M: float = 1.0, share: float = 1.0) -> float:
    """gap · MLP_T/(ρℓ): a bad round costs at most the largest one-round regret."""
    return nonnegative("gap", gap, "it is a regret") * bad_rounds_bound(P_T=P_T, gamma=gamma, L=L, M=M, share=share)


def _share(value: float) -> float:
    number = real("share", value)
    require(0.0 < number <= 1.0, "share", value, "in (0, 1]", "it is the share of log(1/γ) that the drift may use up")
    return number
