"""`driftbandits cite`."""

import json

from command_line import call


def test_cite() -> None:
    assert call("cite", "master", "d_lin_ucb").count("@inproceedings") == 4
    assert list(json.loads(call("cite", "oful", "--json"))) == ["wang2023revisiting", "abbasi2011improved"]


def test_the_version_with_mdps_is_cited_for_mdps() -> None:
    """The conference paper has none; the extended version is arXiv 2601.01069."""
    assert list(json.loads(call("cite", "weight_ucrl", "--json"))) == ["wang2026revisiting"]
    assert "2601.01069" in call("cite", "weight_ucrl")
    both = list(json.loads(call("cite", "weight_ucrl", "oful", "--json")))
    assert both == ["wang2023revisiting", "wang2026revisiting", "abbasi2011improved"]
    assert "2410.13772" in call("cite", "master")  # which proves that its tests do not fire at practical horizons
