"""What an experiment asks of its results: claims to test, bounds to draw, quantities to scale with."""

from dataclasses import dataclass

from .tables import Table

RELATIONS = ("<", "about")
QUANTITIES = ("regret", "time", "exponent")


@dataclass(frozen=True)
class Claim:
    """A sentence and the comparison that tests it."""

    text: str
    left: tuple[str, ...]
    relation: str
    right: tuple[str, ...]
    line: int
    value: float | None = None  # a number to compare with in place of `right`
    factor: float = 1.0
    tolerance: float = 0.0
    quantity: str = "regret"
    axis: str = ""
    environments: tuple[str, ...] = ()
    source: str = ""  # who says so


@dataclass(frozen=True)
class BoundLine:
    """A theorem's bound, drawn next to a strategy."""

    strategy: str
    use: str


@dataclass(frozen=True)
class Axis:
    """Final regret against one quantity, on log axes."""

    group: str
    x: str
    label: str
    theorem: float | None


def read_claim(t: Table) -> Claim:
    """A [[claim]]."""
    t.only("text", "left", "relation", "right", "factor", "tolerance", "quantity", "axis", "environments", "source")
    quantity = t.choice("quantity", QUANTITIES, "regret")
    number = isinstance(t.data.get("right"), int | float)
    relation = t.choice("relation", RELATIONS, "<")
    tolerance = float(t.get("tolerance", "number", 0.0))
    if relation == "about" and tolerance <= 0.0:
        raise t.error(
            "relation = 'about' needs tolerance = …: the largest relative difference that is still about the same"
        )
    return Claim(
        text=t.get("text", "text"),
        left=t.get("left", "texts"),
        relation=relation,
        right=() if number else t.get("right", "texts"),
        value=float(t.data["right"]) if number else None,
        line=t.source.line(*t.where),
        factor=float(t.get("factor", "number", 1.0)),
        tolerance=tolerance,
        quantity=quantity,
        axis=t.get("axis", "text", ... if quantity == "exponent" else ""),
        environments=t.get("environments", "texts", ()),
        source=t.get("source", "text", ""),
    )


def read_bound(t: Table) -> BoundLine:
    """A [[bound]]."""
    t.only("strategy", "use")
    return BoundLine(t.get("strategy", "text"), t.get("use", "text"))


def read_axis(t: Table) -> Axis:
    """An [[axis]]."""
    t.only("group", "x", "label", "theorem")
    theorem = t.get("theorem", "number", None)
    return Axis(
        t.get("group", "text"),
        t.get("x", "text"),
        t.get("label", "text", t.data["x"]),
        None if theorem is None else float(theorem),
    )
