"""The outcome of an experiment: curves of every trial, verdicts on its claims, bounds of the theory; saved and read back.

OUT/results.parquet   tidy: experiment, environment, strategy, trial, round, regret
OUT/details.json      everything else
"""

import json
import math
import pathlib
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io.files import write_atomically
from ..spec.source import SpecError


@dataclass(frozen=True)
class Curve:
    """One strategy in one environment, all trials."""

    environment: str
    strategy: str
    rounds: NDArray[np.int64]  # (c,)
    regret: NDArray[np.float64]  # (trials, c)
    seconds: list[float]  # (trials,)
    horizon: int
    parameters: dict[str, Any]
    colour: str = ""
    line: str = "solid"
    shown: bool = True
    added: bool = False  # drawn apart: the source does not show it
    memory: dict[str, list[float]] = field(default_factory=dict)  # round, mean, low and high of the effective memory
    reward: dict[str, list[float]] = field(
        default_factory=dict
    )  # round, mean, low, high and best of the reward per round in windows; overall, of all
    plays: dict[str, Any] = field(
        default_factory=dict
    )  # round (w,), shares (w, n) and how many trials: which arms were played when
    facts: dict[str, float] = field(default_factory=dict)  # numbers of the world: T, d, P_T, …

    @property
    def final(self) -> NDArray[np.float64]:
        """Regret of every trial after the last round."""
        return self.regret[:, -1]

    @property
    def reward_per_round(self) -> float | None:
        """Mean of all trials and rounds, where it is known."""
        return self.reward["overall"][0] if self.reward.get("overall") else None

    @property
    def microseconds(self) -> NDArray[np.float64]:
        """Time of a round in every trial."""
        return np.asarray(self.seconds) / self.horizon * 1e6


HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}
LEVEL = 0.05


def decided(margin: float, p: float, contrary: float) -> str:
    """The verdict on a claim: shown, its opposite shown, or neither. With a single trial there is no p-value, and the means decide.

    Examples
    --------
    >>> decided(0.1, 0.001, 0.999), decided(-0.1, 0.999, 0.001), decided(0.1, 0.3, 0.7)
    ('holds', 'fails', 'undecided')
    """
    if margin > 0.0 and (np.isnan(p) or p < LEVEL):
        return HOLDS
    return FAILS if margin <= 0.0 and (np.isnan(contrary) or contrary < LEVEL) else UNDECIDED


@dataclass(frozen=True)
class UnderReading:
    """The test of a claim under one reading of what the source leaves open."""

    reading: str
    margin: float
    p: float  # corrected for all claims tested under this reading (Holm), as is the next
    contrary: float  # of the claim itself: small if the trials show that it is wrong
    times: str = ""  # "7 of 8": in how many replications, each tested alone; for the source's own reading only

    @property
    def verdict(self) -> str:
        """Holds, fails or undecided."""
        return decided(self.margin, self.p, self.contrary)

    @property
    def mark(self) -> str:
        """✓ the trials show it; ✗ they show its contrary; ? neither."""
        return MARKS[self.verdict]


@dataclass(frozen=True)
class Verdict:
    """A claim and what the trials say about it."""

    claim: str
    holds: bool
    margin: float
    p: float
    detail: str
    source: str = ""
    contrary: float = math.nan  # p-value of the claim itself: small if the trials show that it is wrong
    robust: str = ""  # the verdict over seeds and readings, if they were run
    readings: list[UnderReading] = field(default_factory=list)  # the source's own first

    @property
    def verdict(self) -> str:
        """Holds, fails or undecided."""
        return decided(self.margin, self.p, self.contrary)


def counted_verdicts(claims: list[Verdict]) -> str:
    """How many claims hold, fail and are undecided on the trials, in one sentence."""
    held, failed, open_ = (sum(v.verdict == word for v in claims) for word in (HOLDS, FAILS, UNDECIDED))
    many = f"{len(claims)} claim{'' if len(claims) == 1 else 's'}"
    fails, are = "fails" if failed == 1 else "fail", "is" if open_ == 1 else "are"
    return f"Of {many}, {held} hold{'s' if held == 1 else ''} on these trials, {failed} {fails} and {open_} {are} undecided."


@dataclass(frozen=True)
class BoundCurve:
    """A theorem's bound after every checkpoint."""

    environment: str
    strategy: str
    theorem: str
    rounds: list[int]
    values: list[float]
    trivial: float  # the regret no strategy can exceed
    probability: float


@dataclass(frozen=True)
class AxisFit:
    """Regret against one quantity, and the exponent of it."""

    label: str
    strategy: str
    x: list[float]
    mean: list[float]
    std: list[float]
    exponent: float
    exponent_std: float
    theorem: float | None


@dataclass(frozen=True)
class Panel:
    """The outcome of an experiment."""

    name: str
    title: str
    text: str
    figure: str
    unit: str
    trials: int
    horizon: int
    seeds: list[int]
    environments: list[str]  # those shown
    curves: list[Curve]
    claims: list[Verdict] = field(default_factory=list)
    bounds: list[BoundCurve] = field(default_factory=list)
    fits: list[AxisFit] = field(default_factory=list)
    smoke: bool = False  # test-size: nothing was judged

    def shown(self, environment: str | None = None) -> list[Curve]:
        """The curves to draw, in the order of the specification."""
        wanted = self.environments if environment is None else [environment]
        return [c for c in self.curves if c.shown and c.environment in wanted]

    @property
    def has_added(self) -> bool:
        """Whether a curve is shown that the source does not show."""
        return any(c.added for c in self.shown())


def label(panel: Panel, curve: Curve) -> str:
    """The name of a curve, with its environment where the context does not tell it."""
    return curve.strategy if len(panel.environments) == 1 else f"{curve.strategy} @ {curve.environment}"


def readings_of(panels: list[Panel]) -> list[str]:
    """All readings that claims were tested under, in the order of the specifications; none without `--robust`."""
    return list(dict.fromkeys(r.reading for p in panels for v in p.claims for r in v.readings))


def summary(panels: list[Panel], version: str) -> dict[str, Any]:
    """The content of summary.json."""
    first = panels[0]
    return {
        "version": version,
        "seed": first.seeds[0],
        "trials": first.trials,
        "horizon": first.horizon,
        **({"smoke_test": True} if first.smoke else {}),
        "panels": {
            panel.name: {
                "policies": [
                    {
                        "name": label(panel, curve),
                        "final_regret_mean": float(curve.final.mean()),
                        "final_regret_std": float(curve.final.std(ddof=1)) if len(curve.final) > 1 else 0.0,
                        "microseconds_per_round": float(curve.microseconds.mean()),
                    }
                    for curve in panel.shown()
                ],
                "claims": [_told(v) for v in panel.claims],
            }
            for panel in panels
        },
    }


def _told(v: Verdict) -> dict[str, Any]:
    answer: dict[str, Any] = {"claim": v.claim, "holds": v.holds, "verdict": v.verdict, "margin": _finite(v.margin)}
    if v.readings:
        answer["robust"] = v.robust
        answer["replications"] = v.readings[0].times
        answer["readings"] = {
            r.reading: {
                "verdict": r.verdict,
                "margin": _finite(r.margin),
                "p": _finite(r.p),
                "p_contrary": _finite(r.contrary),
            }
            for r in v.readings
        }
    return answer


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def save(panels: list[Panel], root: pathlib.Path, settings: dict[str, Any]) -> None:
    """Write the table and the details."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {
        name: [] for name in ("experiment", "environment", "strategy", "trial", "round", "regret")
    }
    texts: tuple[list[str], list[str], list[str]] = ([], [], [])
    counts: list[int] = []
    for panel in panels:
        for curve in panel.curves:
            trials, points = curve.regret.shape
            for words, word in zip(texts, (panel.name, curve.environment, curve.strategy), strict=True):
                words.append(word)
            counts.append(trials * points)
            columns["trial"].append(np.repeat(np.arange(trials), points))
            columns["round"].append(np.tile(curve.rounds, trials))
            columns["regret"].append(curve.regret.ravel())
    table: dict[str, Any] = {}
    for name, words in zip(("experiment", "environment", "strategy"), texts, strict=True):
        known = list(dict.fromkeys(words))
        codes = np.repeat(np.array([known.index(w) for w in words], np.int32), counts)
        table[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(known))
    for name in ("trial", "round", "regret"):
        table[name] = np.concatenate(columns[name])
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(table), buffer, compression="zstd")
    write_atomically(root / "results.parquet", memoryview(buffer.getvalue()))
    details = {"settings": settings, "panels": [_without_arrays(panel) for panel in panels]}
    write_atomically(root / "details.json", json.dumps(details, default=np.ndarray.tolist))


def _without_arrays(panel: Panel) -> dict[str, Any]:
    data = asdict(panel)
    for curve in data["curves"]:
        curve["shape"] = list(curve["regret"].shape)
        del curve["rounds"], curve["regret"]
    return data


def refuse_unfinished(root: pathlib.Path) -> None:
    """Refuse a folder that `save` has not written into."""
    if not all((root / name).is_file() for name in ("details.json", "results.parquet")):
        raise SpecError(
            f"{root} holds no finished experiment; make one with: driftbandits run, or driftbandits reproduce"
        )


def load(root: pathlib.Path) -> tuple[list[Panel], dict[str, Any]]:
    """Read back what `save` wrote."""
    import pyarrow.parquet as pq

    refuse_unfinished(root)
    details = json.loads((root / "details.json").read_text(encoding="utf-8"))
    table = pq.read_table(root / "results.parquet")
    rounds, regret = table["round"].to_numpy(), table["regret"].to_numpy()
    panels, start = [], 0
    for data in details["panels"]:
        curves = []
        for curve in data["curves"]:
            trials, points = curve.pop("shape")
            stop = start + trials * points
            curves.append(
                Curve(**curve, rounds=rounds[start : start + points], regret=regret[start:stop].reshape(trials, points))
            )
            start = stop
        for claim in data["claims"]:
            claim["readings"] = [UnderReading(**item) for item in claim.get("readings", [])]
        kinds = {"claims": Verdict, "bounds": BoundCurve, "fits": AxisFit}
        lists = {name: [kind(**item) for item in data[name]] for name, kind in kinds.items()}
        panels.append(Panel(**{**data, "curves": curves, **lists}))
    return panels, details["settings"]
