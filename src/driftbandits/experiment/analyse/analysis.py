"""From the results of cells to an outcome: curves, memory, bounds, fits, verdicts."""

import inspect
from typing import Any

import numpy as np

from ... import theory
from ...errors import DriftBanditsError
from ..run.cells import Cell, Result
from ..run.checks import FACTS, claim_places
from ..run.plan import Plan
from ..spec.formulas import Scope, call_theory
from .behaviour import plays, rewards
from .claims import judge
from .looks import looks
from .panel_results import AxisFit, BoundCurve, Curve, Panel, Verdict
from .statistics import exponents

BOUND_POINTS = 30
TUNED = ("gamma", "lam", "S", "L", "R", "lam_theta", "lam_w")


def analyse(plan: Plan, results: dict[str, Result], bounds: list[BoundCurve] | None = None) -> Panel:
    """The outcome of a finished experiment; `bounds` are those of `theory_bounds`, if they are known already."""
    e = plan.experiment
    shown = [x.name for x in plan.environments if x.shown]
    curves = curves_of(plan, results)
    return Panel(
        name=e.name,
        title=e.title,
        text=e.text,
        figure=e.figure,
        unit=e.unit,
        trials=e.trials * len(e.seeds),
        horizon=e.horizon,
        seeds=list(e.seeds),
        environments=shown,
        curves=curves,
        claims=[] if e.smoke else verdicts(plan, curves),
        smoke=e.smoke,
        bounds=theory_bounds(plan) if bounds is None else bounds,
        fits=_fits(plan, curves),
    )


def verdicts(plan: Plan, curves: list[Curve]) -> list[Verdict]:
    """Every claim of the experiment, tested on these curves."""
    e = plan.experiment
    shown = [x.name for x in plan.environments if x.shown]
    pairs = {(c.strategy, c.environment) for c in curves}
    places = {axis.group: [x.name for x in plan.environments if x.group == axis.group] for axis in e.axes}
    answer = []
    for claim in e.claims:
        group = places.get(claim.axis, [])
        axis = next((a for a in e.axes if a.group == claim.axis), None)
        x = {name: float(plan.scopes[name][axis.x]) for name in group} if axis else {}
        answer.append(judge(claim, curves, claim_places(claim, shown, pairs), x, group))
    return answer


def _facts(scope: Scope) -> dict[str, float]:
    return {name: float(scope[name]) for name in FACTS if name in scope}


def curves_of(plan: Plan, results: dict[str, Result]) -> list[Curve]:
    """One curve for each strategy in each environment, with all its trials."""
    facts = {name: _facts(scope) for name, scope in plan.scopes.items()}
    groups: dict[tuple[str, str], list[Any]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.environment, cell.strategy), []).append(cell)
    entries, drawn = {s.name: s for s in plan.strategies}, looks(plan.strategies)
    curves = []
    for (environment, strategy), cells in groups.items():
        runs = [results[cell.key] for cell in cells]
        entry = entries[strategy]
        curves.append(
            Curve(
                environment=environment,
                strategy=strategy,
                rounds=runs[0].rounds,
                regret=np.stack([r.regret for r in runs]),
                seconds=[r.seconds for r in runs],
                horizon=cells[0].horizon,
                parameters=cells[0].spec["strategy"],
                colour=drawn[strategy][0],
                line=drawn[strategy][1],
                shown=entry.shown,
                added=entry.added,
                memory=_memory(runs),
                reward=rewards(runs),
                plays=plays(cells, runs) if entry.shown else {},
                facts=facts[environment],
            )
        )
    return curves


def _memory(runs: list[Result]) -> dict[str, list[float]]:
    """Effective memory over time, where a strategy traces it: geometric mean over trials, and a factor of one std."""
    if not all("effective_memory" in r.trace for r in runs):
        return {}
    logs = np.log(np.maximum([r.trace["effective_memory"] for r in runs], 1.0))
    mean, std = logs.mean(axis=0), logs.std(axis=0)
    parts = {"mean": mean, "low": mean - std, "high": mean + std}
    return {"round": runs[0].trace["round"], **{name: np.exp(values).tolist() for name, values in parts.items()}}


def _fits(plan: Plan, curves: list[Curve]) -> list[AxisFit]:
    fits = []
    for axis in plan.experiment.axes:
        places = [x.name for x in plan.environments if x.group == axis.group]
        for strategy in (s for s in plan.strategies if s.shown):
            found = [c for name in places for c in curves if c.environment == name and c.strategy == strategy.name]
            if len(found) < 2:
                continue
            x = [c.facts[axis.x] for c in found]
            final = np.column_stack([c.final for c in found])
            slopes = exponents(x, final)
            spread = final.std(axis=0, ddof=1) if len(final) > 1 else np.zeros(len(x))
            fits.append(
                AxisFit(
                    label=axis.title,
                    strategy=strategy.name,
                    x=x,
                    mean=final.mean(axis=0).tolist(),
                    std=spread.tolist(),
                    exponent=float(slopes.mean()),
                    exponent_std=float(slopes.std(ddof=1)) if len(slopes) > 1 else 0.0,
                    theorem=axis.theorem,
                )
            )
    return fits


def theory_bounds(plan: Plan) -> list[BoundCurve]:
    """Each theorem's bound as a function of time: the same γ and λ, the theorem's δ, and the rounds so far.

    They depend on no result, so what is wrong with them is known before the cells run.
    """
    shown = {s.name for s in plan.strategies if s.shown}
    first = {(cell.strategy, cell.environment): cell for cell in reversed(plan.cells)}
    return [
        _bound_curve(plan, i, cell)
        for i, line in enumerate(plan.experiment.bounds)
        for (strategy, _), cell in reversed(first.items())
        if strategy == line.strategy and strategy in shown
    ]


def _bound_curve(plan: Plan, i: int, cell: Cell) -> BoundCurve:
    function = getattr(theory, plan.experiment.bounds[i].use)
    scope = plan.scopes[cell.environment]
    parameters = cell.spec["strategy"]
    own = {k: v for k, v in parameters.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    known = {k: own[k] for k in TUNED if k in own and k in inspect.signature(function).parameters}
    rounds = np.unique(np.linspace(2, cell.horizon, BOUND_POINTS).astype(int))
    values = []
    bound: Any = None
    for t in rounds:
        try:
            bound = call_theory(function, [], known, scope.inner({**own, **_drift_until(scope, int(t))}))
            values.append(float(bound.total))
        except DriftBanditsError as problem:
            raise plan.experiment.source.error(str(problem), "bound", i) from None
        except (AttributeError, TypeError, ValueError, ArithmeticError) as problem:
            message = f"{function.__name__} gives no bound on the regret here: {problem}"
            raise plan.experiment.source.error(message, "bound", i) from None
    return BoundCurve(
        cell.environment,
        cell.strategy,
        bound.theorem,
        [int(t) for t in rounds],
        values,
        bound.gap * bound.horizon,
        bound.probability,
    )


def _drift_until(scope: Scope, t: int) -> dict[str, Any]:
    """T, P_T and the changes as they are after t rounds (the drift is taken to be even)."""
    horizon = int(scope["T"])
    facts: dict[str, Any] = {"T": t}
    if "P_T" in scope:
        facts["P_T"] = float(scope["P_T"]) * t / horizon
        facts["changes"] = int(scope["changes"]) * t // horizon
    return facts
