"""Machine code decides and estimates as interpreted kernels do: records of `Bandit` among the golden digests.

`make digests` computes two of these without the compiler, which takes a hundred times as long, and `make digests-all` all records.
"""

import pytest
from digests.collect import bandit_works
from digests.run import difference, read

pytestmark = pytest.mark.xdist_group("bandit")
#: The four words for features are one model; the other two have all kinds of its columns.
ALIKE = ("bandit/item,", "bandit/hybrid,")
WORKS = [work for work in bandit_works() if not work.name.startswith(ALIKE)]


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_decisions_and_estimates_are_the_golden_ones_of_the_interpreter(work):
    assert difference(read()[work.name]["interpreted"], work.compute()) == ""
