"""The code of the page on neighbours runs, and its learners play on the features that it says."""

import pathlib
import re

import pytest

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "neighbours.md").read_text()


@pytest.mark.interpreted
def test_the_code_of_the_page_runs():
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "neighbours.md", "exec"), names)
    for learner, features in (("exact", 30), ("random", 100)):
        agent = names["db"].Agent(names[learner], dim=2, compile="never")
        agent.select(names["arms"])
        assert agent.info()["features"] == features
