"""The self-tuning learner for real rewards, from the equations of docs/spec/learner.md, in NumPy and from the whole history.

Exponential models are recomputed from every observation so far in the coordinates of the moment; random walks run in the raw coordinates
x̃ = (1, x), z = Ax̃. Nothing is updated that can be computed anew. Features must stay within four standard deviations: clipping is not
modelled.
"""

import math

import numpy as np
from scipy.special import ndtr

MEMORIES, RATES = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, math.inf), (1e-2, 1e-3, 1e-5)


class SelfTuning:
    """Fed with what was on offer, chosen and paid; tells means, widths, weights, noise and ρ."""

    def __init__(self, dim, items=0):
        self.d, self.items, self.blocks = dim, items, max(items, 1)
        self.start = (0.125 if items else 0.3) * dim
        grid = MEMORIES[::2] if items or dim > 32 else MEMORIES  # 8, 32, 128, 512, ∞
        memories = [m for m in grid if m >= dim / 2 and m >= 2 * items] + [math.inf]
        self.gamma = np.array([1 - 1 / m for m in memories])
        self.E, self.M = len(self.gamma), len(self.gamma) + len(RATES)
        self.bank = np.array([0] * (self.E - 1) + [1] + [2] * len(RATES))
        self.current = np.array([self.E - 2, self.E - 1, self.M - 1])
        self.weight = 1.0 / np.bincount(self.bank)[self.bank]
        self.error, self.errors, self.noise, self.gaussian = np.zeros(self.M), 0.0, np.zeros(3), -10.0
        self.shown, self.data, self.t, self.next = [], [], 0, 1
        self.W = np.zeros((self.E, 0))  # weight of every observation in every exponential model
        self.since = np.zeros((self.E, self.blocks))  # prior's fading, see `precision_of`
        self.fade = np.ones((self.E, self.blocks))
        self.lam, self.origin, self.mu, self.sd = self.start, False, np.zeros(dim), np.ones(dim)
        self.spread = [1.0, self.start]  # the static model's own prior with items: of intercepts, of slopes
        self.offset = np.zeros(dim + 1)
        self.last = np.zeros(self.blocks)
        self.walk = [[None] * self.blocks for _ in RATES]  # (θ, P) in raw coordinates
        self.duel, self.rho = np.zeros((3, 3)), None
        self.judge_banks()

    # ---------------------------------------------------------------------------------------------------------- coordinates

    @property
    def A(self):
        """z = A(1, x)."""
        A = np.zeros((self.d + 1, self.d + 1))
        A[0, 0] = 1
        A[1:, 0], A[1:, 1:] = -self.mu / self.sd, np.diag(1 / self.sd)
        return A

    @property
    def prior(self):
        """Λ."""
        pinned = 1e8 * max(1.0, len(self.data)) if self.origin else 1.0
        return np.diag([pinned] + [self.lam] * self.d)

    def rows(self, block, A=None):
        """z, y and place in the history of a block's observations."""
        at = [i for i, o in enumerate(self.data) if o[2] == block]
        if not at:
            return np.zeros((0, self.d + 1)), np.zeros(0), at
        Z = np.array([np.r_[1, self.data[i][0]] for i in at]) @ (self.A if A is None else A).T
        return Z, np.array([self.data[i][1] for i in at]), at

    def estimate(self, m, block, full_prior=False):
        """θ and P in z coordinates."""
        Li = np.linalg.inv(self.prior)
        if m >= self.E:
            found = self.walk[m - self.E][block]
            if found is None:
                return np.zeros(self.d + 1), Li
            Ai = np.linalg.inv(self.A)
            return Ai.T @ found[0] - self.offset, Ai.T @ found[1] @ Ai
        Z, r, at = self.rows(block)
        w = self.W[m, at]
        V = (Z * w[:, None]).T @ Z
        prior = (
            np.diag([self.spread[0]] + [self.spread[1]] * self.d) if self.items > 1 and m == self.E - 1 else self.prior
        )
        P = np.linalg.inv(V + (1.0 if full_prior else self.fade[m, block]) * prior)
        return P @ (Z.T @ (w * (r - Z @ self.offset))), P

    def forecast(self, m, block, z, gap):
        """zᵀθ and q of the round `gap` rounds after the block's last."""
        theta, P = self.estimate(m, block)
        q, prior = z @ P @ z, z @ np.linalg.solve(self.prior, z)
        if m >= self.E:
            kappa = 1 - (1 - min(RATES[m - self.E] * self.lam, 0.5)) ** gap
            return z @ theta, (1 - kappa) * q + kappa * prior
        return z @ theta, min(prior, q / self.gamma[m] ** (gap - 1)) if gap > 1 else q

    # ---------------------------------------------------------------------------------------------------------------- rounds

    def views(self, offer):
        """(banks, n) means and standard deviations of what is on offer: arms (n, d), or a context (d,)."""
        n = self.items or len(offer)
        mean, sd = np.zeros((3, n)), np.zeros((3, n))
        for e in range(3):
            for k in range(n):
                z = self.A @ np.r_[1, offer if self.items else offer[k]]
                block = k if self.items else 0
                mean[e, k], q = self.forecast(self.current[e], block, z, self.t + 1 - self.last[block])
                sd[e, k] = math.sqrt(self.noise[e] * q)
        return mean, sd

    def propensities(self, offer, grid=50_001):
        """By integrating over ξ on a grid."""
        mean, sd = self.views(offer)
        if self.noise[0] == 0:
            return np.full(mean.shape[1], 1 / mean.shape[1])
        xi = np.linspace(0, 9, grid)
        mass = np.diff(np.r_[0, 2 * ndtr((xi[1:] + xi[:-1]) / 2) - 1, 1])
        p = np.zeros(mean.shape[1])
        for e in range(3):
            best = np.argmax(mean[e][:, None] + 0.5 * (1 + xi) * sd[e][:, None], axis=0)
            top = np.argmax(mean[e])
            v, gap = sd[e] ** 2 + sd[e, top] ** 2, mean[e, top] - mean[e]
            checks = np.where(gap <= 0, 1.0, v / (v + gap**2) + 1e-12)
            law = np.bincount(best, mass, len(p))
            same = np.isclose(mean[e], mean[e][:, None], atol=1e-9) & np.isclose(sd[e], sd[e][:, None], atol=1e-9)
            law = same @ law / same.sum(axis=1)  # equal arms share
            p += self.rho[e] * (0.99 * law + 0.01 * checks / checks.sum())
        return p

    def play(self, offer, k, r):
        """What was on offer, what was chosen, what it paid."""
        self.shown.append(np.atleast_2d(offer))
        x, block = (offer, k) if self.items else (offer[k], 0)
        self.t += 1
        if self.t == 1:
            self.units(self.origin)
            self.offset[0] = r
        else:
            self.settle(offer, k, r)
        rewards = np.array([o[1] for o in self.data] + [r])
        z, gap = self.A @ np.r_[1, x], self.t - self.last[block]
        f, q = np.array([self.forecast(m, block, z, gap) for m in range(self.M)]).T
        self.judge(r - z @ self.offset, f, q, rewards.var())
        self.absorb(x, r, block, z, gap)
        if len(self.data) >= self.next:
            self.checkpoint(rewards.mean())
        self.judge_banks()

    def settle(self, offer, k, r):
        """The duel, where greedy arms differ; the propensity is the one before the reward."""
        mean, _ = self.before
        greedy = mean.round(12).argmax(axis=1)  # rounding makes no difference
        if len(set(greedy)) > 1:
            w = min(1 / self.p[k], 20.0)
            self.duel *= 1 - 1 / 3000
            self.duel[:, greedy == k] += np.array([[w], [w * r], [w * w]])

    def look(self, offer):
        """Before the choice."""
        self.before, self.p = self.views(offer), self.propensities(offer)
        return self.p

    def judge(self, y, f, q, variance):
        """Evidence, refutation, the models in use."""
        keep = 1 - 1 / 500
        square = (y - f) ** 2 / (1 + q)
        log, gauss = np.log(self.weight), self.gaussian > 0
        v = self.noise[self.bank]
        if self.noise[0] > 0:
            log += -0.5 * np.log1p(q) - (0.5 * square / v if gauss else 2.5 * np.log1p(square / (4 * v)))
            s = square[self.current[0]] / self.noise[0]
            student = math.lgamma(2.5) - math.lgamma(2) - 0.5 * math.log(4 * math.pi) - 2.5 * math.log1p(s / 4)
            self.gaussian = min(30.0, max(-100.0, self.gaussian - 0.5 * math.log(2 * math.pi) - 0.5 * s - student))
        self.error, self.errors = keep * self.error + square, keep * self.errors + 1
        self.noise = (self.error[self.current] + 5 * variance) / (self.errors + 5)
        for e in range(3):
            own = np.flatnonzero(self.bank == e)
            w = np.exp(log[own] - log[own].max())
            self.weight[own] = (1 - 1e-4) * w / w.sum() + 1e-4 / len(own)
            lead = own[np.argmax(self.weight[own])]
            top, self.current[e] = self.weight[lead], lead
            for m in range(lead + 1, own[-1] + 1):
                if self.weight[m] < top * math.exp(-7):
                    self.start_anew(m, lead)
                    self.weight[m] = top * math.exp(-4)
                if self.weight[m] >= top * math.exp(-self.d / 2):
                    self.current[e] = m

    def start_anew(self, m, lead):
        self.error[m] = self.error[lead]
        if m < self.E:
            self.W[m], self.fade[m], self.since[m] = self.W[lead], self.fade[lead], self.since[lead]
        else:
            self.walk[m - self.E] = list(self.walk[lead - self.E])

    def absorb(self, x, r, block, z, gap):
        own = np.array([o[2] == block for o in self.data], bool)
        self.data.append((np.array(x), r, block))
        for m in range(self.E):
            g = self.gamma[m] ** gap
            self.W[m, own] *= g
            self.since[m, block] += 1
            self.fade[m, block] *= g
            period = min(max(self.d + 1, 16), max(1.0, 0.25 / (1 - self.gamma[m]) if self.gamma[m] < 1 else math.inf))
            if self.since[m, block] >= period or g < 0.7:
                self.since[m, block], self.fade[m, block] = 0, 1.0
        self.W = np.column_stack([self.W, np.ones(self.E)])
        raw, A = np.r_[1, x], self.A
        prior = A.T @ np.linalg.inv(self.prior) @ A
        for j, rate in enumerate(RATES):
            theta, P = self.walk[j][block] or (A.T @ self.offset, prior)
            kappa = 1 - (1 - min(rate * self.lam, 0.5)) ** gap
            P = (1 - kappa) * P + kappa * prior
            s = 1 + raw @ P @ raw
            self.walk[j][block] = (theta + P @ raw * (r - raw @ theta) / s, P - np.outer(P @ raw, P @ raw) / s)
        self.last[block] = self.t

    # ------------------------------------------------------------------------------------------------------------ checkpoints

    def units(self, origin):
        X = np.concatenate(self.shown)
        self.mu, self.sd = X.mean(0), X.std(0)
        if len(X) < 2:
            self.mu, self.sd = np.zeros(self.d), np.abs(X[0])
        if origin:
            self.mu, self.sd = np.zeros(self.d), np.sqrt((X**2).mean(0))

    def marginal(self, origin, lam, centre):
        """The marginal likelihood of the first bank's model in use."""
        self.units(origin)
        self.origin, self.lam = origin, lam
        self.offset = np.r_[0.0 if origin else centre, np.zeros(self.d)]
        Z, r, at = self.rows(0)
        w, y = self.W[self.current[0], at], r - Z @ self.offset
        first = 1e8 * max(1.0, w.sum()) if origin else 1.0
        L = np.diag([first] + [lam] * self.d)
        V, b = (Z * w[:, None]).T @ Z, Z.T @ (w * y)
        residual = w @ y**2 - b @ np.linalg.solve(V + L, b)
        return 0.5 * (np.linalg.slogdet(L)[1] - np.linalg.slogdet(V + L)[1]) - 0.5 * w.sum() * math.log(residual)

    def marginal_of_items(self, first, lam):
        """Of all items around their common part, each remembered as a whole, in the coordinates in use."""
        total, residual, L = 0.0, 0.0, np.diag([first] + [lam] * self.d)
        for block in range(self.blocks):
            Z, r, at = self.rows(block)
            if at:
                y = r - Z @ self.offset
                V, b = Z.T @ Z, Z.T @ y
                total += 0.5 * (np.linalg.slogdet(L)[1] - np.linalg.slogdet(V + L)[1])
                residual += y @ y - b @ np.linalg.solve(V + L, b)
        return total - 0.5 * len(self.data) * math.log(residual)

    def checkpoint(self, centre):
        self.next = max(self.next + 1, math.floor(self.next * 1.25))
        before, lam, origin = self.origin, self.lam, self.origin
        if len(self.data) >= 7 and not self.items:
            X = np.concatenate(self.shown)
            far = (X.mean(0) ** 2 > 9 * X.var(0)).any()
            tried = [
                (self.marginal(o, 0.3 * self.d * 10 ** (j / 2), centre) - 0.5 * (0.5 * math.log(10) * j) ** 2, o, j)
                for o in ((False,) if far else (False, True))
                for j in range(-2, 3)
            ]
            _, origin, j = max(tried)
            lam = math.sqrt(lam * 0.3 * self.d * 10 ** (j / 2))
        if len(self.data) >= 7 and self.items:
            for i, start in ((1, self.start), (0, 1.0)):
                tried = []
                for j in range(-2, 5):
                    spread = list(self.spread)
                    spread[i] = start * 10 ** (j / 2)
                    tried.append((self.marginal_of_items(*spread) - 0.5 * (0.5 * math.log(10) * j) ** 2, spread[i]))
                self.spread[i] = math.sqrt(self.spread[i] * max(tried)[1])
        self.origin, self.lam = origin, lam
        self.units(origin)
        self.offset = np.r_[0.0 if origin else centre, np.zeros(self.d)]
        self.since[:], self.fade[:] = 0, 1.0
        if self.items:  # the common part, in units of Λ
            L, m = self.prior, self.current[0]
            total, moved = L.copy(), np.zeros(self.d + 1)
            for block in range(self.blocks):
                if any(o[2] == block for o in self.data):
                    theta, P = self.estimate(m, block)
                    total += L - L @ P @ L
                    moved += L @ theta
            self.offset = self.offset + np.linalg.solve(total, moved)
        for block in range(self.blocks):
            if len(self.data) < 64 or before != self.origin:
                theta, P = self.estimate(self.E - 1, block)
                for j in range(len(RATES)):
                    self.walk[j][block] = (self.A.T @ (theta + self.offset), self.A.T @ P @ self.A)

    def judge_banks(self):
        rewards = np.array([o[1] for o in self.data] or [0.0])
        n = np.where(self.duel[2] > 0, self.duel[0] ** 2 / np.maximum(self.duel[2], 1e-300), 0.0)
        mean = np.where(n > 0, self.duel[1] / np.maximum(self.duel[0], 1e-300), 0.0)
        size = n + 2
        mean = (mean * n + 2 * rewards.mean()) / size
        rho = np.array([1.0, 0.1, 1.0]) if self.items else np.array([1.0, 0.03, 0.03])
        for e in range(3):
            for f in range(3):
                if f != e:
                    spread = math.sqrt((rewards.var() + 1e-300) * (1 / size[e] + 1 / size[f]))
                    rho[e] *= ndtr((mean[e] - mean[f]) / spread)
        self.rho = rho / rho.sum()
