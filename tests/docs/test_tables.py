"""The tables of algorithms in docs are what the records say."""

import tables


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


def test_the_page_of_all_algorithms_names_each_once():
    page = (tables.ROOT / "docs" / "algorithms.md").read_text()
    for record in tables.records():
        assert page.count(f"| `{record.name}` |") == 1
