"""Time of an episode of the MDP learners, as a ratio to the same planning step in NumPy.

    python benchmarks/bench_mdp.py

An episode is planning, exact policy evaluation, roll-out and learning. The references are (a) `tests/naive`, which
recomputes everything from a short history, and (b) the planning step alone in vectorised NumPy from ready-made sufficient
statistics: what one would write by hand.
"""

import pathlib
import sys
import time

import numpy as np

import driftbandits as db
from driftbandits.mdp.curvature import kappa_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import naive


def best_of(call, repeat=5):
    """The shortest of a few timings, in seconds of CPU."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def numpy_linear_plan(phi, psi, Lam, b, Sigma, c, beta_r, beta_w, H):
    """Backward induction with bonuses, vectorised over all pairs."""
    V = np.zeros(len(phi))
    for h in range(H - 1, -1, -1):
        features = np.tensordot(psi, V, axes=([2], [0]))
        Q = phi @ np.linalg.solve(Lam[h], b[h]) + features @ np.linalg.solve(Sigma[h], c[h])
        Q += beta_r * np.sqrt(np.einsum("sai,ij,saj->sa", phi, np.linalg.inv(Lam[h]), phi))
        Q += beta_w * np.sqrt(np.einsum("sai,ij,saj->sa", features, np.linalg.inv(Sigma[h]), features))
        V = np.clip(Q, 0, H).max(axis=1)
    return V


def linear(states, actions, horizon, dim, episodes, past):
    """One size of the linear mixture."""
    world = db.mdp.random_linear_mixture(states=states, actions=actions, horizon=horizon, dim=dim, episodes=episodes)
    world.optimal  # noqa: B018 (shared by all trials: made once)
    c = {"lam_theta": dim, "lam_w": horizon**2 * dim, "delta": 0.001, "transition_bonus_scale": 0.1}
    strategy = db.zoo.weight_ucrl(gamma=0.95, **c, **world.bounds)
    db.simulate_mdp(strategy, world, episodes=2)
    episode = best_of(lambda: db.simulate_mdp(strategy, world)) / episodes
    run = db.simulate_mdp(strategy, world, episodes=past, record=True)
    values = [np.vstack([Q.max(axis=2), np.zeros(states)]) for Q in run.Q]
    oracle = {k: v for k, v in (c | world.bounds).items() if k != "transition_bonus_scale"}
    history = run.states, run.actions, run.rewards, values
    slow = best_of(
        lambda: naive.linear_mixture_plan(
            world.phi, world.psi, *history, memory=("discounted", 0.95), transition_scale=0.1, **oracle
        ),
        1 if states > 10 else 3,
    )
    spd = np.stack([np.eye(dim) * 3.0] * horizon)
    b = np.ones((horizon, dim))
    plain = best_of(lambda: numpy_linear_plan(world.phi, world.psi, spd, b, spd, b, 1.0, 1.0, horizon))
    V = np.ones(states)
    blas = best_of(lambda: [np.tensordot(world.psi, V, axes=([2], [0])) for _ in range(horizon)])
    name = f"linear mixture S={states} A={actions} H={horizon} d={dim}"
    print(f"{name:44s} {1e6 * episode:9.1f} µs per episode   {slow / episode:8.0f} × faster than tests/naive")
    print(f"{'':44s} {plain / episode:9.1f} × faster than vectorised NumPy planning alone")
    print(f"{'':44s} {episode / blas:9.2f} × the time of its {horizon} contractions ψ·V by BLAS")


def multinomial(states, actions, horizon, dim, episodes, past):
    """One size of the multinomial-logit mixture."""
    world = db.mdp.random_mnl(states=states, actions=actions, horizon=horizon, dim=dim, episodes=episodes)
    world.optimal  # noqa: B018
    c = {"lam_theta": dim, "lam_w": dim, "delta": 0.001, "reward_bonus_scale": 0.1}
    strategy = db.zoo.mnl_weight_ucrl(gamma=0.95, transition_bonus_scale=1e-4, **c, **world.bounds)
    db.simulate_mdp(strategy, world, episodes=2)
    half = min(db.simulate_mdp(strategy, world, episodes=episodes // 2).seconds for _ in range(3)) / (episodes // 2)
    episode = min(db.simulate_mdp(strategy, world).seconds for _ in range(3)) / episodes
    run = db.simulate_mdp(strategy, world, episodes=past, record=True)
    psi = naive.subtract_reference(world.psi, world.reachable, world.reachable.argmax(axis=2))
    oracle = {"U": world.U, "memory": ("discounted", 0.95), "reward_scale": 0.1, "transition_scale": 1e-4}
    known = {k: v for k, v in (c | world.bounds).items() if k not in ("reward_bonus_scale", "L_phi")}
    history = run.states, run.actions, run.rewards
    slow = best_of(lambda: naive.mnl_plan(world.phi, psi, world.reachable, *history, **oracle, **known), 1)
    name = f"multinomial    S={states} A={actions} H={horizon} d={dim} U={world.U}"
    print(f"{name:44s} {1e6 * episode:9.1f} µs per episode   {slow / episode:8.0f} × faster than tests/naive")
    print(f"{'':44s} {episode / half:9.2f} × the time of an episode in the first half of the run")


def chain(states, actions, successors, dim, multinomial):
    """Sparse features of random moves to near states."""
    rng = np.random.default_rng(0)
    steps = rng.permuted(np.tile(np.arange(4 * successors), (states, actions, 1)), axis=2)[..., :successors]
    to = (np.arange(states)[:, None, None] + steps) % states
    psi = rng.dirichlet(np.ones(successors), size=(states, actions, dim)).transpose(0, 1, 3, 2)
    return to, db.mdp.sparse_features(to, psi, multinomial=multinomial)


def episode_of(strategy, features, to, horizon, episodes=3):
    """CPU seconds of an episode of an agent: planning, acting, learning."""
    agent = db.EpisodicAgent(strategy, features, horizon=horizon, seed=0, compile="now")
    rng, times = np.random.default_rng(0), []
    for _ in range(episodes + 1):
        began, s = time.process_time(), 0
        agent.begin_episode()
        for h in range(horizon):
            a = agent.act(h, s)
            s_next = int(to[s, a, rng.integers(to.shape[2])])
            agent.observe(h, s, a, 0.5, s_next)
            s = s_next
        times.append(time.process_time() - began)
    return min(times[1:])


def tables():
    """Learners that know nothing, at the sizes of Gymnasium's worlds and beyond."""
    for states, horizon, successors in ((16, 20, 3), (500, 50, 10)):
        to, _ = chain(states, 4, successors, 1, False)
        adaptive, fixed = (
            episode_of(strategy, db.mdp.tabular(states, 4, successors=successors), to, horizon)
            for strategy in (db.zoo.weight_ucrl(), db.zoo.weight_ucrl(half_life=100.0))
        )
        name = f"table          S={states} A=4 H={horizon} U={successors}"
        print(
            f"{name:44s} {1e6 * fixed:9.1f} µs per episode   {adaptive / fixed:8.1f} × with the memory to be found out"
        )


def growth():
    """Exponents of the time of an episode in A, H and d: one of them doubles twice, all else stays."""
    base = {"states": 400, "actions": 4, "horizon": 10, "dim": 10}
    for name, strategy, multinomial in (
        ("linear mixture", db.zoo.weight_ucrl(half_life=100.0), False),
        ("multinomial   ", db.zoo.mnl_weight_ucrl(half_life=100.0, kappa=1e-3), True),
    ):
        found = []
        for what, sizes in {"actions": (4, 8, 16), "horizon": (10, 20, 40), "dim": (10, 20, 40)}.items():
            times = []
            for size in sizes:
                c = base | {what: size}
                to, features = chain(c["states"], c["actions"], 8, c["dim"], multinomial)
                times.append(episode_of(strategy, features, to, c["horizon"]))
            found.append(
                f"{what[0].upper() if what != 'dim' else 'd'}^{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}"
            )
        print(f"{name} S=400 A=4 H=10 d=10 U=8: grows as {', '.join(found)}")


def measured():
    """Nothing set, seven memories and a measured bonus, against one memory and the paper's bonus."""
    for name, world, free, one in (
        ("inventory", db.mdp.inventory(episodes=500), db.zoo.weight_ucrl(), db.zoo.weight_ucrl(gamma=0.95)),
        (
            "river, logit",
            db.mdp.mnl_riverswim(episodes=500),
            db.zoo.mnl_weight_ucrl(),
            db.zoo.mnl_weight_ucrl(gamma=0.95),
        ),
    ):
        times = []
        for strategy in (free, one):
            db.simulate_mdp(strategy, world, episodes=2)
            times.append(best_of(lambda strategy=strategy: db.simulate_mdp(strategy, world), 3))
        print(
            f"{name:44s} {2000 * times[0]:9.1f} µs per episode with nothing set, {times[0] / times[1]:.1f} × one memory"
        )


def kappas():
    """κ of random multinomial worlds."""
    for states, dim in ((100, 20), (1000, 10)):
        _, features = chain(states, 4, 8, dim, True)
        moves = features.task(1, 1).moves
        seconds = best_of(lambda moves=moves: kappa_of(moves, 2.0), 1)
        print(f"{f'kappa          S={states} A=4 d={dim} U=8':44s} {1e3 * seconds:9.1f} ms")


def large():
    """Thousands of states: time against their number, at a fixed number of successors."""
    sizes, horizon = (1250, 2500, 5000), 10
    for name, strategy, multinomial in (
        ("linear mixture", db.zoo.weight_ucrl(half_life=100.0), False),
        ("multinomial   ", db.zoo.mnl_weight_ucrl(half_life=100.0, kappa=1e-3), True),
    ):
        times = []
        for states in sizes:
            to, features = chain(states, 4, 8, 10, multinomial)
            times.append(episode_of(strategy, features, to, horizon))
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        label = f"{name} S={sizes[-1]} A=4 H={horizon} d=10 U=8"
        print(f"{label:44s} {1e3 * times[-1]:9.1f} ms per episode   grows as S^{exponent:.2f}")


def main():
    tables()
    measured()
    kappas()
    large()
    growth()
    linear(6, 2, 10, 4, 2000, 50)
    linear(50, 4, 20, 20, 20, 5)
    multinomial(6, 2, 10, 4, 400, 20)


if __name__ == "__main__":
    main()
