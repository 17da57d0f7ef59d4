"""Time of an episode of the MDP learners, as ratios and exponents of growth; the table of docs/mdp.md is written from the file it leaves.

    python benchmarks/bench_mdp.py                    # all sections; docs/results/bench_mdp.json, then `python docs/tables.py`
    python benchmarks/bench_mdp.py tables memory      # these sections anew, the others of the file stay

An episode is planning, acting and learning; in the sections `linear`, `multinomial` and `measured`, which simulate, exact evaluation of the
policy too. The references are (a) `tests/naive`, which recomputes everything from a short history, (b) the planning step alone in
vectorised NumPy from ready-made sufficient statistics, what one would write by hand, and (c) the bare contractions ψ·V by BLAS.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import gymnasium
import numpy as np

import driftbandits as db
from driftbandits.io.files import write_atomically
from driftbandits.mdp.curvature import kappa_of

HERE = pathlib.Path(__file__).resolve().parents[1]
KEPT = HERE / "docs" / "results" / "bench_mdp.json"
sys.path.insert(0, str(HERE / "tests"))
import naive

NAMES = {False: "linear mixture", True: "multinomial"}


def row(what, seconds, *against, target=None):
    """A row of the table: CPU seconds, and (text, number) pairs to compare them with."""
    print(f"{what:60s} {1e3 * seconds:10.3f} ms   " + "; ".join(text.format(f"{x:.3g}") for text, x in against))
    return {"what": what, "seconds": seconds, "against": against, "target": target}


def best_of(call, repeat=5):
    """The shortest of a few timings, in seconds of CPU."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def exponent(sizes, times):
    """The slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


# --------------------------------------------------------------------------------------------------- simulated, small


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


def linear_of(states, actions, horizon, dim, episodes, past):
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
    return row(
        f"linear mixture, S={states}, A={actions}, H={horizon}, d={dim}",
        episode,
        ("{} × faster than the planning step alone in vectorised NumPy", plain / episode),
        ("{} × than `tests/naive`", slow / episode),
        (f"{{}} × the CPU of its {horizon} contractions ψ·V by BLAS", episode / blas),
    )


def linear():
    """The linear mixture, small and middling."""
    return [linear_of(6, 2, 10, 4, 2000, 50), linear_of(50, 4, 20, 20, 20, 5)]


def multinomial():
    """The multinomial-logit mixture, small."""
    states, actions, horizon, dim, episodes, past = 6, 2, 10, 4, 400, 20
    world = db.mdp.random_mnl(states=states, actions=actions, horizon=horizon, dim=dim, episodes=episodes)
    world.optimal  # noqa: B018
    c = {"lam_theta": dim, "lam_w": dim, "delta": 0.001, "reward_bonus_scale": 0.1}
    strategy = db.zoo.mnl_weight_ucrl(gamma=0.95, transition_bonus_scale=1e-4, **c, **world.bounds)
    db.simulate_mdp(strategy, world, episodes=2)
    half = best_of(lambda: db.simulate_mdp(strategy, world, episodes=episodes // 2), 3) / (episodes // 2)
    episode = best_of(lambda: db.simulate_mdp(strategy, world), 3) / episodes
    run = db.simulate_mdp(strategy, world, episodes=past, record=True)
    psi = naive.subtract_reference(world.psi, world.reachable, world.reachable.argmax(axis=2))
    oracle = {"U": world.U, "memory": ("discounted", 0.95), "reward_scale": 0.1, "transition_scale": 1e-4}
    known = {k: v for k, v in (c | world.bounds).items() if k not in ("reward_bonus_scale", "L_phi")}
    history = run.states, run.actions, run.rewards
    slow = best_of(lambda: naive.mnl_plan(world.phi, psi, world.reachable, *history, **oracle, **known), 1)
    return [
        row(
            f"multinomial, S={states}, A={actions}, H={horizon}, d={dim}, U={world.U}",
            episode,
            ("{} × faster than `tests/naive`", slow / episode),
            ("{} × an episode of the first half of the run", episode / half),
        )
    ]


def measured():
    """Nothing set, seven memories and a measured bonus, against one memory and the paper's bonus."""
    found = []
    for name, world, learner in (
        ("the shop, nothing set", db.mdp.inventory(episodes=500), db.zoo.weight_ucrl),
        ("the multinomial river, nothing set", db.mdp.mnl_riverswim(episodes=500), db.zoo.mnl_weight_ucrl),
    ):
        free, one = (
            best_of(lambda strategy=strategy, world=world: db.simulate_mdp(strategy, world), 4) / 500
            for strategy in (learner(), learner(gamma=0.95))
        )
        found.append(row(name, free, ("{} × one memory with a fixed bonus", free / one)))
    return found


# ----------------------------------------------------------------------------------------------- agents, tables and large


def chain(states, actions, successors, dim, multinomial):
    """Sparse features of random moves to near states."""
    rng = np.random.default_rng(0)
    steps = rng.permuted(np.tile(np.arange(4 * successors), (states, actions, 1)), axis=2)[..., :successors]
    to = (np.arange(states)[:, None, None] + steps) % states
    psi = rng.dirichlet(np.ones(successors), size=(states, actions, dim)).transpose(0, 1, 3, 2)
    return to, db.mdp.sparse_features(to, psi, multinomial=multinomial)


def episode_of(strategy, features, to, horizon, episodes=6):
    """CPU seconds of an episode of an agent: planning, acting, learning; the fastest but for the first."""
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


def lake_of(strategy, episodes=300):
    """CPU seconds of an episode of FrozenLake 4×4 through `db.run`, the environment's own steps included."""
    env = gymnasium.make("FrozenLake-v1")
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(16, 4), horizon=20, seed=0, compile="now")
    db.run(agent, env, episodes=20, seed=0)
    return best_of(lambda: db.run(agent, env, episodes=episodes), 3) / episodes


def tables():
    """Learners that know nothing, in Gymnasium's FrozenLake and beyond."""
    free, fixed = db.zoo.weight_ucrl(), db.zoo.weight_ucrl(half_life=100.0)
    times = [lake_of(strategy) for strategy in (free, fixed)]
    both = ("{} × with one memory that is given", times[0] / times[1])
    found = [row("table, FrozenLake 4×4 by `db.run`, H=20", times[0], both, target=1e-3)]
    to, _ = chain(500, 4, 10, 1, False)
    table = db.mdp.tabular(500, 4, successors=10)
    times = [episode_of(strategy, table, to, 50) for strategy in (free, fixed)]
    both = ("{} × with one memory that is given", times[0] / times[1])
    return [*found, row("table, S=500, A=4, H=50, 10 successors", times[0], both, target=0.3)]


def large():
    """Thousands of states: time against their number, at a fixed number of successors; exponents in A, H and d at 400 states."""
    sizes, found = (1250, 2500, 5000), []
    for multinomial in (False, True):
        strategy = large_learner(multinomial)
        times = [episode_of(strategy, *reversed(chain(n, 4, 8, 10, multinomial)), 10) for n in sizes]
        grows = [("grows as S^{}", exponent(sizes, times)), *growth(strategy, multinomial)]
        found.append(row(f"{NAMES[multinomial]}, S=5000, A=4, H=10, d=10, 8 successors", times[-1], *grows))
    return found


def large_learner(multinomial):
    """One memory, a fixed bonus; κ is given, for it is timed by itself."""
    return db.zoo.mnl_weight_ucrl(half_life=100.0, kappa=1e-3) if multinomial else db.zoo.weight_ucrl(half_life=100.0)


def growth(strategy, multinomial):
    """Exponents of the time of an episode in A, H and d: one of them doubles twice, all else stays."""
    base = {"actions": 4, "horizon": 10, "dim": 10}
    for what, sizes in {"actions": (4, 8, 16), "horizon": (10, 20, 40), "dim": (10, 20, 40)}.items():
        times = []
        for size in sizes:
            c = base | {what: size}
            to, features = chain(400, c["actions"], 8, c["dim"], multinomial)
            times.append(episode_of(strategy, features, to, c["horizon"]))
        yield ({"actions": "at S=400 as A^{}", "horizon": "H^{}", "dim": "d^{}"}[what], exponent(sizes, times))


def memory():
    """A fresh process builds, checks, plans and learns with 5000 states, nothing set: its largest resident memory, and time to build."""
    found = []
    for multinomial in (False, True):
        order = [sys.executable, __file__, "--resident", NAMES[multinomial]]
        told = json.loads(subprocess.run(order, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        what = f"{NAMES[multinomial]}, S=5000: to build and check the features"
        size = ("{} GB resident at most, in a process that plans and learns with nothing set", told["peak"])
        found.append(row(what, told["seconds"], size, ("NumPy and driftbandits imported: {} GB", told["empty"])))
    return found


def resident(multinomial):
    """What `memory` asks of a fresh process, in GB."""

    def peak():  # of this program alone: what getrusage tells contains that of the process which started it
        status = pathlib.Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**20

    empty = peak()
    began = time.process_time()
    to, features = chain(5000, 4, 8, 10, multinomial)
    seconds = time.process_time() - began
    episode_of(db.zoo.mnl_weight_ucrl() if multinomial else db.zoo.weight_ucrl(), features, to, 10)
    print(json.dumps({"empty": empty, "peak": peak(), "seconds": seconds}))


def kappas():
    """κ of random multinomial worlds."""
    found = []
    for states, dim in ((100, 20), (1000, 10)):
        moves = chain(states, 4, 8, dim, True)[1].task(1, 1).moves
        seconds = best_of(lambda moves=moves: kappa_of(moves, 2.0), 1)
        found.append(row(f"κ, S={states}, A=4, d={dim}, 8 successors", seconds, ("once", 0.0)))
    return found


SECTIONS = {f.__name__: f for f in (linear, multinomial, measured, tables, large, memory, kappas)}


def main():
    """Time the sections, and keep them beside those timed before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    parser.add_argument("--resident", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.resident:
        resident(asked.resident == NAMES[True])
        return
    kept = json.loads(KEPT.read_text())["sections"] if KEPT.exists() else {}
    for name in asked.sections or SECTIONS:
        made = {"date": time.strftime("%Y-%m-%d"), "rows": SECTIONS[name]()}
        kept = {section: made if section == name else kept.get(section) for section in SECTIONS}
        kept = {section: found for section, found in kept.items() if found}
        whole = {"made_by": "python benchmarks/bench_mdp.py", "sections": kept}
        write_atomically(KEPT, (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main()
