"""`driftbandits cite`."""

import json

from command_line import call


def test_cite() -> None:
    assert call("cite", "master", "d_lin_ucb").count("@inproceedings") == 3
    assert list(json.loads(call("cite", "oful", "--json"))) == ["wang2023revisiting", "abbasi2011improved"]
