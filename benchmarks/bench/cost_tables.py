"""Tables of cost: µs by shape, targets, ratios, growth with t, and limits."""

from .peers import OURS, PEERS
from .tables import label, table


def costs(data):
    """µs of CPU per decision with its learning step, by shape."""
    cost = data["cost"]
    names = [n for n in (*OURS, *PEERS) if cost.get(n)]
    shapes = list(dict.fromkeys(shape for n in names for shape in cost[n]))
    rows = [
        [shape, *("" if cost[n].get(shape) is None else f"{cost[n][shape]:.0f}" for n in names)] for shape in shapes
    ]
    return table(["µs", *map(label, names)], rows)


def targets(data):
    """The targets for cost, each with its number."""
    cost, lines = data["cost"], []
    for own in OURS:
        mine = cost.get(own, {})
        for peer, wanted in (("bayesianbandits", 10), ("river", 10), ("vowpalwabbit", 3)):
            theirs = cost.get(peer, {})
            shapes = [s for s in mine if mine[s] and theirs.get(s)]
            if shapes:
                told = [theirs[s] / mine[s] for s in shapes]
                missed = [f"{s} ({x:.1f})" for s, x in zip(shapes, told, strict=True) if x < wanted]
                span = f"{min(told):.1f} – {max(told):.1f} ×"
                wish = f"≥ {wanted} × less CPU than {peer}"
                where = f", missed at {'; '.join(missed)}" if missed else ""
                lines.append([label(own), wish, span, f"met at {len(told) - len(missed)} of {len(told)} sizes{where}"])
        long = data["long"].get(own, {})
        if "late" in long:
            ratio = long["late"] / long["early"]
            lines.append([label(own), "flat in t", f"{ratio:.2f} ×", "met" if ratio < 1.1 else "missed"])
    return table(["", "target", "measured", ""], lines)


def ratios(data):
    """How many times our CPU each peer needs."""
    found, rows = data["cost"], []
    for shape in ("n = 10, d = 10", "n = 10, d = 50", "n = 80, d = 10", "10 items, d = 10", "1000 items, d = 10"):
        for own in OURS:
            base, told = found.get(own, {}).get(shape), {n: found.get(n, {}).get(shape) for n in PEERS}
            if base:
                rows.append([shape, label(own), *("" if told[n] is None else f"{told[n] / base:.1f} ×" for n in PEERS)])
    return table(["", "against", *map(label, PEERS)], rows)


def growth(data):
    """Early and late rounds of one run, and memory."""
    rows = []
    for n in (*OURS, *PEERS):
        long = data["long"].get(n, {})
        if "late" in long:
            row = [label(n), f"{long['early']:.0f}", f"{long['late']:.0f}", f"{long['late'] / long['early']:.2f}"]
            rows.append([*row, f"{long['MB']:.0f}", f"{long['MB grown']:.1f}"])
    head = [
        "learner",
        "µs, rounds 200–400",
        "µs, last 200 of 2000",
        "ratio",
        "MB, imports and compiled code included",
        "MB since round 400",
    ]
    return table(head, rows)


def limits(data):
    rows = []
    for r in data["limits"]:
        by_hand = f"{r['C']:.0f}" if r["C"] else "no compiler"
        over = f"{r['ours'] / r['C']:.2f}" if r["C"] else ""
        numbers = [f"{r['ours']:.0f}", by_hand, f"{r['dgemm']:.0f}", over, f"{r['ours'] / r['dgemm']:.2f}"]
        rows.append([f"d = {r['d']}, n = {r['n']}", *numbers])
    return table(
        ["ns per round", "`lb_weight_ucb`", "hand-written C", "one dgemm d×d·d×n", "ours / C", "ours / dgemm"], rows
    )
