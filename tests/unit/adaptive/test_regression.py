"""Sums, elimination and forecasts of the engine against dense ridge regression over the whole history."""

import math

import numpy as np
import pytest
from naive import adaptive as naive

from driftbandits.adaptive import by_memory, explained, fading, forecasting, regression, steady, sums, tuning
from driftbandits.adaptive.columns import CONSTANT, Layout, Slots, new_scale
from driftbandits.adaptive.engine import smallest_engine
from driftbandits.core.kernel import entry
from driftbandits.core.lanes import LANES

pytestmark = pytest.mark.xdist_group("adaptive")
RATES = [
    -math.log1p(-1.0 / 8.0),
    -math.log1p(-1.0 / 40.0),
    0.0,
    0.01,
    0.002,
    0.0,
]  # two groups of four lanes, the last not full
GROUPS = 2
CELLS = [math.log(2.0) / RATES[LANES * (m // LANES)] for m in range(len(RATES))]  # of the first memory in each group


@entry
def fold(state, g, i, tick, y, w, work):
    explained.split_priors(state, work)
    regression.fold(state, g, i, tick, y, w, work)


@entry
def renew(state, g, own, work):
    if own:
        regression.renew_own(state, g, 0, work)
    regression.renew(state, g, work)


@entry
def look(state, m, i, work, out):
    forecasting.measure_prior(state, work)
    mean, q = forecasting.forecast(state, m // LANES, i, True, work)
    out[0], out[1] = mean[m % LANES], q[m % LANES]
    out[2] = regression.noise(state, m)


@entry
def restart(state, m, lead, tick, work):
    regression.restart(state, m, lead, tick)
    regression.renew_own(state, m // LANES, 0, work)


def blank(p, k, N, seed=0):
    """A state with a prior that is not diagonal."""
    rng = np.random.default_rng(seed)
    state = sums.new_state(np.array(RATES), N, p, k)
    for voice in range(2):
        for array, size in ((state.Lam, p), (state.Kap, k)):
            X = rng.normal(size=(size, size))
            array[voice] = X @ X.T + np.diag(rng.uniform(0.3, 2.0, size))
        state.Kinv[voice] = np.linalg.inv(state.Kap[voice])
    work = sums.new_work(len(RATES), p, k)
    sums.check(state, work)
    return state, work


def history(n, p, k, N, seed=1):
    rng = np.random.default_rng(seed)
    rows = []
    for tick in range(n):
        phi, psi = np.r_[1.0, rng.normal(size=p - 1)], np.r_[1.0, rng.normal(size=k)][:k]
        rows.append(
            naive.Seen(phi, psi, int(rng.integers(N)), 2.0 + rng.normal(), float(rng.uniform(0.5, 2.0)), float(tick))
        )
    return rows


def learn(state, work, seen, sign=1.0):
    work.phi[:], work.psi[:] = seen.phi, seen.psi
    numbers = state.numbers
    numbers[[sums.COUNT, sums.SUM, sums.SQUARES]] += sign, sign * seen.y, sign * seen.y**2
    for g in range(GROUPS):
        fold(state, g, seen.item, seen.tick, seen.y, sign * seen.w, work)
    numbers[sums.NEWEST] = max(numbers[sums.NEWEST], seen.tick)
    if len(seen.psi):
        state.last[seen.item] = max(state.last[seen.item], seen.tick)


def compare(state, work, rows, N, rel=1e-8, **cut):
    rng = np.random.default_rng(9)
    p, k = state.b.shape[1], state.Kap.shape[1]
    for m, rate in enumerate(RATES):
        voice = int(m == len(RATES) - 1)
        for item in range(N):
            work.phi[:], work.psi[:] = np.r_[1.0, rng.normal(size=p - 1)], np.r_[1.0, rng.normal(size=k)][:k]
            out = np.empty(3)
            look(state, m, item, work, out)
            own = {name: value[m] for name, value in cut.items()}
            want = naive.forecast(
                work.phi, work.psi, item, rows, N, state.Lam[voice], state.Kap[voice], rate, CELLS[m], **own
            )
            assert out == pytest.approx(want, rel=rel, abs=1e-10), (m, item)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_estimates_are_those_of_the_full_design_whatever_the_order(k):
    p, N = 5, 6
    rows = history(50, p, k, N - 1)  # the last item is never seen
    order = np.random.default_rng(3).permutation(len(rows))
    state, work = blank(p, k, N)
    for s in order:
        learn(state, work, rows[s])
    for g in range(GROUPS):
        renew(state, g, False, work)
    compare(state, work, rows, N)


@pytest.mark.parametrize("missing", [False, True])
def test_own_effects_of_the_shared_columns_are_eliminated_exactly_by_the_short_form(missing):
    p, N = 6, 4
    state, work = blank(p, p, N)
    state.numbers[sums.SEPARATE] = 1.0
    rng = np.random.default_rng(4)
    for voice in range(
        2
    ):  # K = κ₀uuᵀ + D, as `columns.own_prior` makes it; a number that may be missing adds an entry beside D
        u = np.r_[1.0, rng.normal(size=p - 1)]
        K = 20.0 * np.outer(u, u) + np.diag(np.r_[0.0, rng.uniform(0.5, 3.0, p - 1)])
        if missing:
            K[2, 4] += 0.3
            K[4, 2] += 0.3
        state.Kap[voice], state.Kinv[voice] = K, np.linalg.inv(K)
    rows = [seen._replace(phi=seen.psi) for seen in history(60, p, p, N)]
    for s in np.random.default_rng(3).permutation(len(rows)):
        learn(state, work, rows[s])
    assert work.kind[0] == (explained.PLAIN if missing else explained.SPLIT)
    for g in range(GROUPS):
        renew(state, g, False, work)
    compare(state, work, rows, N)


@pytest.mark.parametrize("k", [1, 3])
def test_what_was_taken_back_has_never_been(k):
    p, N = 4, 4
    rows = history(40, p, k, N)
    state, work = blank(p, k, N)
    for seen in rows:
        learn(state, work, seen)
    wrong = naive.Seen(rows[7].phi, rows[7].psi, rows[7].item, 50.0, 3.0, rows[7].tick)
    learn(state, work, wrong)
    learn(state, work, wrong, -1.0)
    for g in range(GROUPS):
        renew(state, g, False, work)
    compare(state, work, rows, N, rel=1e-7)


def test_own_sums_give_the_same_parts_at_once_as_one_by_one():
    state, work = blank(5, 3, 6)
    for seen in history(60, 5, 3, 6):
        learn(state, work, seen)
    before = state.E.copy(), state.e.copy(), state.tau.copy()
    for g in range(GROUPS):
        renew(state, g, True, work)
    for one, other in zip(before, (state.E, state.e, state.tau), strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-10)


def test_a_restarted_memory_is_the_leader_before_and_itself_after():
    p, k, N = 4, 2, 5
    rows = history(60, p, k, N)
    state, work = blank(p, k, N)
    state.Lam[1], state.Kap[1], state.Kinv[1] = state.Lam[0], state.Kap[0], state.Kinv[0]
    late = [5, 21]
    for s, seen in enumerate(rows[:40]):
        if s not in late:
            learn(state, work, seen)
    for g in range(GROUPS):
        renew(state, g, False, work)
    restart(state, 2, 0, 39.0, work)
    for seen in rows[40:]:
        learn(state, work, seen)
    for s in late:
        learn(state, work, rows[s])
    for g in range(GROUPS):
        renew(state, g, False, work)
    never = [-math.inf] * 3
    cut = {"cut": [-math.inf, -math.inf, 39.0, *never], "cut_rate": [0.0, 0.0, RATES[0], 0.0, 0.0, 0.0]}
    compare(state, work, rows, N, **cut)


def test_an_item_unobserved_keeps_its_mean_and_loses_its_certainty_up_to_the_prior():
    state, work = blank(1, 1, 2)
    one = np.ones(1)
    for tick in range(400):
        learn(state, work, naive.Seen(one, one, int(tick >= 30), 5.0 if tick < 30 else 1.0, 1.0, float(tick)))
    renew(state, 0, False, work)
    work.phi[:], work.psi[:] = 1.0, 1.0
    out = np.empty(3)
    look(state, 0, 0, work, out)
    assert out[0] == pytest.approx(5.0, abs=0.9)
    assert out[1] >= state.Kinv[0, 0, 0]


def test_columns_and_items_that_come_later_are_as_if_they_had_always_been():
    p, k, N = 4, 2, 5
    rows = history(50, p, k, N)
    for s, seen in enumerate(rows):
        if s < 30:  # a shared and an own column that do not exist yet
            seen.phi[3] = seen.psi[1] = 0.0
    state, work = blank(3, 1, 2)
    for seen in rows[:30]:
        if seen.item < 2:
            learn(state, work, seen._replace(phi=seen.phi[:3], psi=seen.psi[:1]))
    state = sums.with_items(state, N)
    state = sums.grown(state, np.array([0, 1, 2, -1]), np.array([0, -1]))
    whole, work = blank(p, k, N)
    state = state._replace(Lam=whole.Lam, Kap=whole.Kap, Kinv=whole.Kinv)
    sums.check(state, work)
    kept = [seen for s, seen in enumerate(rows) if s >= 30 or seen.item < 2]
    for g in range(GROUPS):
        renew(state, g, True, work)
    for seen in rows[30:]:
        learn(state, work, seen)
    for g in range(GROUPS):
        renew(state, g, False, work)
    compare(state, work, kept, N)


def test_an_indicator_continues_the_constant():
    state, work = blank(2, 1, 1)
    rows = history(20, 2, 1, 1)
    for seen in rows:
        learn(state, work, seen)
    wide = sums.grown(state, np.array([0, 1, 0]), np.array([0]))
    phi = np.array([[*seen.phi, 1.0] for seen in rows])
    w = np.array([seen.w for seen in rows])
    known = by_memory.sums_of(wide)
    assert known.V[2] == pytest.approx(phi.T @ (w[:, None] * phi))
    assert known.own_S[0, 2, 0] == pytest.approx(w @ phi)


def test_shapes_are_checked_against_each_other():
    state, work = blank(3, 2, 4)
    with pytest.raises(ValueError, match=r"own_S has shape"):
        sums.check(state._replace(own_S=state.own_S[:, :, :, :2]), work)
    with pytest.raises(ValueError, match=r"work.phi has shape"):
        sums.check(state, work._replace(phi=np.zeros(2)))
    state.numbers[sums.USE] = 9.0
    with pytest.raises(ValueError, match=r"does not exist"):
        sums.check(state, work)


@pytest.mark.interpreted  # its entry is of this test alone
def test_the_marginal_likelihood_is_that_of_the_dense_normal_law():
    p = k = 3
    N = 4
    layout = Layout(
        np.zeros(p, np.int64), np.arange(p), np.stack([np.arange(p), np.arange(p), [0] * p, [0] * p], 1), np.arange(k),
        np.zeros(k, np.int64),
        np.stack([np.arange(k), [0] * k], 1),
    )  # fmt: skip
    items, context = new_scale([CONSTANT], [0]), new_scale([CONSTANT, 1, 1], [0, 1, 2])
    context.seen[1:], context.mean[1:], context.M2[1:] = 10.0, [0.5, -1.0], [20.0, 5.0]
    context.mu[1:], context.s[1:] = [0.5, -1.0], np.sqrt([2.0, 0.5])
    rows = history(40, p, k, N)
    state, work = blank(p, k, N)
    for seen in rows:
        learn(state, work, seen._replace(w=1.0))
    rows = [seen._replace(w=1.0) for seen in rows]
    got, want = [], []

    engine = smallest_engine()._replace(
        state=state, layout=layout, items=items, context=context, slots=Slots(np.zeros(1), np.zeros(3)), work=work
    )

    @entry
    def evaluate(engine):
        return tuning.marginal_likelihood(engine, 5, np.full(4, tuning.UNTRIED))

    for separate in (0.0, 1.0):
        for offset in ([0.0, 0.0, 0.0, 0.0], [0.5, -1.0, 1.0, 0.5], [0.0, 1.0, -1.5, -0.5]):
            state.numbers[sums.SEPARATE] = separate
            state.offset[1] = offset
            got.append(evaluate(engine))
            want.append(naive.evidence(rows, N, state.Lam[1], state.Kap[1]))
    assert np.diff(got) == pytest.approx(np.diff(want), rel=1e-8)
    pairs = [(0, c) for c in range(p)]
    plain = (np.zeros(1), np.ones(1), {})
    e = 2.0  # two numbers
    precision = 10.0 ** np.array(
        [state.offset[1, 0] + math.log10(4.6)] + [state.offset[1, 1] + math.log10(0.58 * e)] * 2
    )
    assert state.Lam[1] == pytest.approx(naive.prior(pairs, plain, (context.mu, context.s, {}), precision))


@entry
def step(state, g, i, tick, y, w, work):
    """One observation as `steps.learn` learns it; whether it was learned by a step of rank one."""
    explained.split_priors(state, work)
    if steady.is_steady(state, g, i, tick, w, work):
        steady.learn_steadily(state, g, i, tick, y, w, work)
        return True
    regression.fold(state, g, i, tick, y, w, work)
    return False


def step_by_step(state, work, rows):
    """Learn rows, in every group by a step of rank one where that is possible; how many there were in each group."""
    taken, numbers = np.zeros(GROUPS, int), state.numbers
    for seen in rows:
        work.phi[:], work.psi[:] = seen.phi, seen.psi
        numbers[[sums.COUNT, sums.SUM, sums.SQUARES]] += 1.0, seen.y, seen.y**2
        short = [step(state, g, seen.item, seen.tick, seen.y, seen.w, work) for g in range(GROUPS)]
        numbers[sums.NEWEST] = max(numbers[sums.NEWEST], seen.tick)
        numbers[sums.LEARNED] += 1.0
        if len(seen.psi) and seen.item >= 0:
            state.last[seen.item] = max(state.last[seen.item], seen.tick)
        for g in range(GROUPS):
            if not short[g]:
                renew(state, g, False, work)
        taken += short
    return taken


@pytest.mark.parametrize(("p", "k"), [(1, 1), (5, 0), (5, 1), (5, 3), (4, 4)])
@pytest.mark.parametrize("late", [False, True])
def test_steps_of_rank_one_leave_what_the_whole_history_says(p, k, late):
    """Two items, so that cells are shorter and longer than the time between observations of one."""
    N, rows = 3, history(90, p, k, 2)
    if late:  # every third comes up to nine decisions late
        rows = sorted(rows, key=lambda seen: seen.tick + (seen.tick % 9.0 if seen.tick % 3.0 == 0.0 else 0.0))
    state, work = blank(p, k, N)
    for end in (35, 60, 90):
        taken = step_by_step(state, work, rows[0 if end == 35 else 35 if end == 60 else 60 : end])
        compare(state, work, rows[:end], N)
    assert taken[1] >= 25
    assert taken[0] >= (10 if k < 2 else 1)


@pytest.mark.compiled  # 550 steps of 70 columns
def test_steps_of_rank_one_of_many_columns_keep_their_digits():
    """Of 70 columns all is computed from the sums every 560 rewards only: just before that estimates are those of the sums."""
    p, k, N, rounds = 70, 1, 2, 550
    state, work = blank(p, k, N)
    g = GROUPS - 1  # the group whose memories forget slowest: shorter ones refresh their priors more often
    taken, numbers = 0, state.numbers
    for seen in history(rounds, p, k, N):
        work.phi[:], work.psi[:] = seen.phi, seen.psi
        numbers[[sums.COUNT, sums.SUM, sums.SQUARES]] += 1.0, seen.y, seen.y**2
        short = step(state, g, seen.item, seen.tick, seen.y, seen.w, work)
        numbers[sums.NEWEST], state.last[seen.item] = seen.tick, seen.tick
        numbers[sums.LEARNED] += 1.0
        taken += short
        if not short:
            renew(state, g, False, work)
    assert taken > 0.9 * rounds
    before = [getattr(state, name)[g].copy() for name in ("theta", "rest", "E", "e", "tau")]
    renew(state, g, True, work)
    for name, was in zip(("theta", "rest", "E", "e", "tau"), before, strict=True):
        now = getattr(state, name)[g]
        assert np.abs(now - was).max() <= 1e-9 * np.abs(now).max(), name


@pytest.mark.parametrize("k", [1, 2])
def test_an_item_that_was_away_for_very_long_is_learned_anew(k):
    """Its sums have faded to nothing in the short memories, to the last bit."""
    p, N = 3, 2
    rows = history(90, p, k, N)
    gone = [seen._replace(item=1 if 20 <= s < 60 else seen.item) for s, seen in enumerate(rows)]
    rows = [seen._replace(tick=seen.tick + (8000.0 if s >= 40 else 0.0)) for s, seen in enumerate(gone)]
    state, work = blank(p, k, N)
    step_by_step(state, work, rows)
    compare(state, work, rows, N, rel=1e-6)


def test_steps_of_rank_one_know_rows_without_a_name_and_times_in_seconds():
    p, k, N = 4, 1, 2
    rows = [seen._replace(tick=1.7e9 + 3.0 * seen.tick) for seen in history(60, p, k, N)]
    plain = [seen._replace(item=-2) if s % 4 == 0 else seen for s, seen in enumerate(rows)]
    state, work = blank(p, k, N)
    assert min(step_by_step(state, work, plain)) > 20
    # A row without a name is one of an item that has no own columns.
    flat = [seen._replace(psi=np.zeros(k), item=0) if seen.item < 0 else seen for seen in plain]
    named = [seen.tick for seen in plain if seen.item == 0]
    flat = [seen if seen.psi.any() or seen.tick <= max(named) else seen._replace(item=1) for seen in flat]
    compare(state, work, flat, N, rel=1e-6)


def test_a_step_of_rank_one_is_not_taken_where_more_changes():
    state, work = blank(3, 2, 2)
    state.numbers[sums.NEWEST], state.last[:] = 5.0, 4.0
    cell = CELLS[0]  # 5.19…
    assert steady.is_steady(state, 0, 0, 5.1, 1.0, work)
    assert steady.is_steady(state, 0, 0, 4.5, 1.0, work)  # late
    assert not steady.is_steady(state, 0, 0, cell, 1.0, work)  # priors are refreshed
    assert steady.is_steady(state, 1, 0, cell, 1.0, work)  # those of slower memories are not yet
    assert not steady.is_steady(state, 0, 0, 5.1, -1.0, work)  # taken back
    state.last[0] = -3.0
    assert not steady.is_steady(state, 0, 0, 5.1, 1.0, work)  # the item's own prior is refreshed
    state.last[0] = sums.NEVER
    assert steady.is_steady(state, 0, 0, 5.1, 1.0, work)  # it has nothing but a prior
    state.cut[0] = 5.05
    assert not steady.is_steady(state, 0, 0, 5.1, 1.0, work)  # what was observed before the cut fades otherwise
    assert not steady.is_steady(state, 0, 0, 5.01, 1.0, work)
    state.cut[0] = sums.NEVER
    state.numbers[sums.LEARNED] = steady.ANEW - 1.0
    assert not steady.is_steady(state, 0, 0, 5.1, 1.0, work)  # computed anew, to be rid of rounding


def test_priors_are_refreshed_in_every_cell_and_fade_in_between():
    state, _ = blank(2, 1, 1)
    out, B = np.empty(LANES), CELLS[0]
    for t in (0.0, 0.3 * B, 0.999999 * B, B, 4.25 * B, -0.5 * B):
        fading.prior_weights(state, 0, t, out)
        assert out == pytest.approx([naive.strength(t, rate, B) for rate in RATES[:LANES]])
        assert out[2] == 1.0
        assert np.abs(np.log2(out)).max() <= 0.5 + 1e-12
    state.numbers[sums.FIRST] = 1.0  # then cells are those of the second memory
    assert fading.length_of_cells(state, 0) == pytest.approx(math.log(2.0) / RATES[1])
    state.numbers[sums.FIRST] = (
        5.0  # none of the group takes part; all that forget still have priors that are refreshed
    )
    assert fading.length_of_cells(state, 0) == pytest.approx(math.log(2.0) / RATES[3])
