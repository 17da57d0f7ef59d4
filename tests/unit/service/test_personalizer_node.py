"""The public JavaScript client of the retired service; where Node and its registry are there."""

import json
import pathlib
import shutil
import subprocess

import pytest
from served import listening

SCRIPT = pathlib.Path(__file__).with_name("personalizer.mjs")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not here")
def test_the_javascript_client_drives_a_loop(tmp_path):
    made = subprocess.run(
        ["npm", "install", "--silent", "@azure-rest/ai-personalizer@1.0.0-beta.1"], cwd=tmp_path, capture_output=True
    )
    if made.returncode:
        pytest.skip("the registry of npm cannot be reached")
    shutil.copy(SCRIPT, tmp_path)
    with listening(tmp_path / "data") as url:
        told = subprocess.run(
            ["node", SCRIPT.name, f"{url}/loops/node"], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout)
    assert answer["right"] > 42  # of 60; chance: 30
    assert answer["wait"] == "PT10M"
