"""The code of the page on values and explanations runs."""

import pathlib
import re

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "value.md").read_text()


def test_the_code_of_the_page_runs():
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "value.md", "exec"), names)
    bandit = names["bandit"]
    assert bandit.value("static").own.n == 350
    assert {*bandit.info()["challengers"]} == {"static", "fast", "rule"}
