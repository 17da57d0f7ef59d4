"""The tables of algorithms in docs are what the records say."""

import re

import tables

from driftbandits.driftbench import leaderboard
from driftbandits.driftbench.entrants import ENTRANTS


def test_every_table_is_what_the_records_say():
    for name in tables.PAGES:
        page = (tables.ROOT / name).read_text()
        assert "<!-- algorithms:" in page
        assert page == tables.filled(page), f"{name}: run `make tables`"


def test_every_table_of_results_is_what_its_file_says():
    marks = 0
    for name in tables.STUDIED:
        page = (tables.ROOT / name).read_text()
        marks += len(tables.RESULTS.findall(page))
        assert page == tables.filled(page), f"{name}: run `make tables`"
    assert marks >= 1


def test_the_first_table_of_driftbench_has_every_learner_or_says_that_it_has_not():
    """Learners of the suite and peers of `make bench`: each has a file, or stands in the list of what is missing, and not in both."""
    peers = re.findall(r"class (\w+)\(Peer,", (tables.ROOT / "benchmarks" / "driftbench_peers.py").read_text())
    played = {each["learner"] for each in leaderboard.read(tables.SUBMISSIONS) if "untuned" in each["tracks"]}
    told = re.search(r"^Missing[^:]*: (.*?)\.$", (tables.ROOT / "docs" / "driftbench.md").read_text(), re.MULTILINE)
    missing = set(re.findall(r"`(\w+)`", told[1])) if told else set()
    assert len(peers) >= 7
    assert missing == {*ENTRANTS, *peers} - played


def test_the_page_of_all_algorithms_names_each_once():
    page = (tables.ROOT / "docs" / "algorithms.md").read_text()
    for record in tables.records():
        assert page.count(f"| `{record.name}` |") == 1
