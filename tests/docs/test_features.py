"""The code of the page on features runs."""

import pathlib
import re

import pytest

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "features.md").read_text()


@pytest.mark.interpreted
def test_the_code_of_the_page_runs():
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "features.md", "exec"), names)
    assert names["bandit"].info()["rewards"] == 1
