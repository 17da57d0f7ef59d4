"""`driftbandits list`."""

import json

from command_line import call


def test_lists() -> None:
    rows = json.loads(call("list", "--json"))
    oful = next(row for row in rows if row["name"] == "oful")
    assert (oful["kind"], oful["group"]) == ("strategy", "never forgets")
    assert oful["text"].startswith("OFUL")
    assert "unit_arms" in call("list", "environments")
    assert "logistic" in call("list", "links")
    assert "lb-regret" in call("list", "panels")


def test_strategies_are_grouped_and_the_tuning_free_come_first() -> None:
    lines = call("list").splitlines()
    headers = [line.partition(":")[0] for line in lines if line and not line.startswith(" ")]
    assert headers == ["Tuning-free", "Fixed forgetting", "Detection", "Never forgets"]
    assert lines[1].split()[0] == "self_tuning"
    groups = [block.splitlines() for block in call("list").strip().split("\n\n")]
    names = {block[0].partition(":")[0]: [line.split()[0] for line in block[1:]] for block in groups}
    assert "lb_weight_ucb" in names["Fixed forgetting"]
    assert "oful" in names["Never forgets"]
    assert {"dal", "master"} <= set(names["Detection"])
    assert sum(map(len, names.values())) == len(json.loads(call("list", "--json")))
