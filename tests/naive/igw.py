"""IGW-mix from the equations of docs/spec/adaptive-theory.md, in NumPy."""

import numpy as np
from scipy.optimize import brentq


def project(V, theta, S):
    """argmin_{‖u‖≤S} ‖u − θ‖_V, by its multiplier."""
    if np.linalg.norm(theta) <= S:
        return theta
    at = lambda nu: np.linalg.solve(V + nu * np.eye(len(V)), V @ theta)  # noqa: E731
    top = 1.0
    while np.linalg.norm(at(top)) > S:
        top *= 2
    return at(brentq(lambda nu: np.linalg.norm(at(nu)) - S, 0.0, top, xtol=1e-14, rtol=1e-14))


class Expert:
    """One discounted regression, (0.1)–(0.3)."""

    def __init__(self, m, d, S, R, lam):
        self.m, self.S, self.s2, self.lam = m, S, 2 * R * R, lam
        self.V, self.theta = lam * np.eye(d), np.zeros(d)

    def width(self, x):
        return x @ np.linalg.solve(self.V, x)

    def log_density(self, x, y):
        v = self.s2 * (1 + self.width(x))
        return -0.5 * np.log(2 * np.pi * v) - 0.5 * (y - x @ self.theta) ** 2 / v

    def bayes(self, x, y):
        """V′ and θ̂′."""
        V = self.V + np.outer(x, x)
        return V, np.linalg.solve(V, self.V @ self.theta + x * y)

    def learn(self, x, y):
        g = 1 - 1 / self.m
        V, theta = self.bayes(x, y)
        self.V = g * V + (1 - g) * self.lam * np.eye(len(x))
        self.theta = project(self.V, np.linalg.solve(self.V, g * V @ theta), self.S)

    def distance(self, u, V=None, theta=None):
        """D(u) = ‖u − θ̂‖²_V/2s²."""
        V, theta = (self.V, self.theta) if V is None else (V, theta)
        return (u - theta) @ V @ (u - theta) / (2 * self.s2)


def mu(z):
    return 1 / (1 + np.exp(-z))


class Newton(Expert):
    """One discounted online Newton regression of clicks (§8.1); s² = 1."""

    def __init__(self, m, d, S, c, lam):
        super().__init__(m, d, S, np.sqrt(0.5), lam)
        self.c = c

    def log_density(self, x, y):
        return np.log(mu(x @ self.theta) if y == 1 else 1 - mu(x @ self.theta))

    def bayes(self, x, y):
        V = self.V + self.c * np.outer(x, x)
        return V, self.theta - (mu(x @ self.theta) - y) * np.linalg.solve(V, x)


class Mixture:
    """Fixed share with α_t = 1/(t+1)."""

    def __init__(self, K, d, S, R, lam, expert=Expert):
        self.experts = [expert(2.0**k, d, S, R, lam) for k in range(1, K + 1)]
        self.w, self.t = np.full(K, 1 / K), 0

    @property
    def theta(self):
        return sum(w * e.theta for w, e in zip(self.w, self.experts, strict=True))

    def log_density(self, x, y):
        return np.logaddexp.reduce(np.log(self.w) + [e.log_density(x, y) for e in self.experts])

    def learn(self, x, y):
        log = np.log(self.w) + [e.log_density(x, y) for e in self.experts]
        w = np.exp(log - log.max())
        for e in self.experts:
            e.learn(x, y)
        self.t += 1
        a = 1 / (self.t + 1)
        self.w = (1 - a) * w / w.sum() + a / len(w)


def leverages(Z, q):
    return ((Z @ np.linalg.inv((Z * q[:, None]).T @ Z)) * Z).sum(1)


def design(Z, steps):
    """The averaged design, its certificate κ, and q^{k+1}."""
    n, d = Z.shape
    q, total = np.full(n, 1 / n), np.zeros(n)
    for _ in range(steps):
        total += q
        q = q * leverages(Z, q) / d
    average = total / steps
    return average, leverages(Z, average).max() / d, q


def linear_form(X, theta, eta):
    """(0.5): p, κ, ŷ."""
    n, d = X.shape
    y = X @ theta
    b = y.argmax()
    gap = y[b] - y
    q, kappa, _ = design(X / np.sqrt(1 + eta * gap)[:, None], int(np.ceil(np.log2(max(n / d, 1)))) + 1)
    p = q / (1 + eta * gap)
    p[b] += 1 - p.sum()
    return p, kappa, y


def finite_form(X, theta, g, y=None):
    """(0.4); ŷ = Xθ if it is not given."""
    y = X @ theta if y is None else y
    b = y.argmax()
    p = 1 / (len(X) + g * (y[b] - y))
    p[b] += 1 - p.sum()
    return p, y


def decision(X, p, gap, c):
    """dec(c) of Lemma 1."""
    mean = p @ X
    inverse = np.linalg.inv((X * p[:, None]).T @ X)
    spread = (((X - mean) @ inverse) * (X - mean)).sum(1)
    return (p @ gap - gap + spread / (4 * c)).max()
