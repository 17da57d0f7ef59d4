"""`driftbandits list`."""

import json

from command_line import call


def test_lists() -> None:
    rows = json.loads(call("list", "--json"))
    assert {"kind": "strategy", "name": "oful", "text": rows[[r["name"] for r in rows].index("oful")]["text"]} in rows
    assert "unit_arms" in call("list", "environments")
    assert "logistic" in call("list", "links")
    assert "lb-regret" in call("list", "panels")
