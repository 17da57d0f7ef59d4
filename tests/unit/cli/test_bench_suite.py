"""`driftbandits bench-suite` and `driftbandits leaderboard`."""

import json

from command_line import call, refused


def test_a_tiny_run_and_its_page(tmp_path):
    told = call(
        *(
            "bench-suite",
            "numpy_linucb",
            "uniform",
            "--tiny",
            "-j",
            "1",
            "--world",
            "linear-hard",
            "--track",
            "untuned",
        ),
        *("--out", str(tmp_path), "--cells", str(tmp_path / "cells")),
    )
    assert "The scores mean nothing" in told
    made = json.loads((tmp_path / "numpy_linucb.json").read_text())
    assert made["version"] == 1
    assert made["platform"]["numpy"]
    assert list(made["tracks"]) == ["untuned"]
    assert "leaderboard.html" in call("leaderboard", str(tmp_path))
    assert (tmp_path / "leaderboard-untuned.tex").read_text().startswith("% DriftBench v1, untuned")


def test_the_list_and_mistakes():
    told = call("bench-suite", "--list")
    assert "mdp-hard" in told
    assert "numpy_linucb" in told
    assert "unknown world 'linear-hrad'" in refused("bench-suite", "uniform", "--tiny", "--world", "linear-hrad")
    assert "no folder" in refused("leaderboard", "nowhere")
