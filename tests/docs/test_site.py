"""What the site needs and can be checked without building it: every page is reachable, every link leads somewhere, nothing is forgotten."""

import ast
import doctest
import importlib
import json
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest
from pages import codelines, generated, reference, results

import driftbandits

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = (
    "generated",
    "reference",
    "tutorials",
    "gallery",
    "pages",
    "results",
    "_templates",
    "static",
)  # not written by hand
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in MADE)
THEOREMS = sorted((DOCS / "theorems").glob("*.md"))
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


# ------------------------------------------------------------------------------------------------------------------------ pages


def entries(page):
    """The pages that a page's toctrees name, without suffix, from the folder of docs."""
    for block in TOCTREE.findall(page.read_text()):
        for line in block.splitlines():
            if line.strip() and not line.startswith(":"):
                name = re.sub(r"^.*<(.+)>$", r"\1", line.strip())
                yield (page.parent / name).resolve().relative_to(DOCS)


def test_every_page_is_in_exactly_one_toctree():
    named = [entry for page in PAGES for entry in entries(page)]
    written = [page.relative_to(DOCS).with_suffix("") for page in PAGES]
    lost = [str(page) for page in written if page not in named and page != pathlib.Path("index")]
    assert lost == [], "put each into the toctree of its section"
    assert [str(e) for e in named if named.count(e) > 1] == []
    made = [e for e in named if e not in written]
    assert {e.parts[0] for e in made} <= {"generated", "reference", "tutorials"}


def slugs(page):
    """The anchors of a page's headings, as MyST makes them."""
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def leads(page, target):
    """Whether a link of a page leads somewhere."""
    place, _, anchor = target.partition("#")
    path = (page.parent / place).resolve() if place else page
    relative = path.relative_to(DOCS) if path.is_relative_to(DOCS) else None
    if relative and relative.parts[0] == "tutorials":
        return f"{path.stem}.py" in generated.TUTORIALS
    if relative and relative.parts[0] == "reference":
        return path.stem == "command_options" or path.stem in [reference.slug(p) for p in reference.PAGES]
    if relative and relative.parts[0] == "generated":
        return path.name in results.WRITTEN
    return path.exists() and (not anchor or path.suffix != ".md" or anchor in slugs(path))


def links(page):
    """Links of a page to other pages and files here."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    return [target for target in LINK.findall(text) if not re.match(r"\w+:", target)]


def test_every_link_leads_somewhere():
    texts = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    assert sum(len(links(page)) for page in texts) > 100
    lost = [
        f"{page.relative_to(ROOT)}: {target}" for page in texts for target in links(page) if not leads(page, target)
    ]
    assert lost == []


def test_a_link_that_leads_nowhere_is_found():
    page = DOCS / "theory.md"
    assert leads(page, "theory.md#how-sure-are-we")
    assert not leads(page, "theory.md#how-sure-is-it")
    assert not leads(page, "nothing.md")
    assert not leads(page, "tutorials/nothing.rst")


# -------------------------------------------------------------------------------------------------------------------- reference


def test_every_public_name_has_a_page():
    for page in filter(reference.exists, reference.PAGES):
        module = importlib.import_module(reference.full(page.module))
        text = reference.page_text(page)
        shown = set(re.findall(r"^   ~?(?:driftbandits\.)?(\w+)$", text, re.MULTILINE))
        things = {n for n in reference.names(module) if not isinstance(getattr(module, n), type(os))}
        assert things, page
        assert things <= shown, f"{page.module}: {things - shown}"


def test_no_package_with_public_names_is_forgotten():
    known = {page.module for page in reference.PAGES} | set(reference.INSIDE)
    found = set()
    for info in pkgutil.iter_modules(driftbandits.__path__):
        file = pathlib.Path(driftbandits.__path__[0]) / info.name
        source = file / "__init__.py" if info.ispkg else file.with_suffix(".py")
        tree = ast.parse(source.read_text())
        if any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in tree.body):
            found.add(info.name)
    assert found - known == set(), "give each a page in docs/pages/reference.py, or say there why not"


def test_every_error_is_public():
    errors = importlib.import_module("driftbandits.errors")
    own = {
        name for name, thing in vars(errors).items() if isinstance(thing, type) and thing.__module__ == errors.__name__
    }
    assert {name for name in own if not name.startswith("_")} == set(errors.__all__)


# --------------------------------------------------------------------------------------------------------------------- theorems


@pytest.mark.parametrize("page", THEOREMS, ids=lambda page: page.stem)
def test_a_theorem_leads_to_its_code_its_tests_and_its_numbers(page):
    text = page.read_text()
    lines, tests = codelines.spoken_of(text), codelines.TEST.findall(text)
    assert len(lines) >= 3
    assert len(tests) >= 3
    for target, code in lines:
        assert codelines.find(target, code)
    for target in tests:
        assert "def test_" in codelines.test_source(target)[0]
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, page.stem, str(page), 0)
    assert len(test.examples) >= 2
    told = []
    assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)


def test_there_is_a_page_for_every_theorem():
    theorems = {record.theorem for record in driftbandits.zoo.RECORDS.values() if record.theorem}
    titles = " ".join(page.read_text().partition("\n")[0] for page in THEOREMS)
    numbers = {name.removeprefix("Theorem ") for name in theorems} - {"appendix on BOB"}
    assert numbers
    assert [n for n in sorted(numbers) if f"Theorem {n}:" not in titles] == []


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("driftbandits.theory.linear:lb_lambda", "return dimension"),  # not there
        ("driftbandits.theory.linear:lb_regret_bound", "gamma"),  # in many lines
        ("driftbandits.theory.linear:lb_lamda", "return"),  # no such function
        ("driftbandits.memory.discounted:remember[Window]", "fade"),  # no such method
    ],
)
def test_a_line_that_is_not_there_is_found(target, code):
    with pytest.raises(codelines.NotFound):
        codelines.find(target, code)


# --------------------------------------------------------------------------------------------------------------------- tutorials


def test_every_tutorial_has_its_place():
    assert sorted(p.name for p in (DOCS / "gallery").glob("*.py")) == sorted(generated.TUTORIALS)


ALL_TUTORIALS = """
import contextlib, io, json, runpy, sys, traceback
import matplotlib.pyplot as plt
told = {}
for name in sys.argv[1:]:
    out, problem = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(name, run_name="__main__")
    except BaseException:
        problem = traceback.format_exc()
    plt.close("all")
    told[name] = out.getvalue(), problem
json.dump(told, open("told.json", "w"))
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """All tutorials at a small size in one process, interpreted (the site runs them whole): what each printed, and its error."""
    folder = tmp_path_factory.mktemp("tutorials")
    for name in generated.TUTORIALS:
        text = (DOCS / "gallery" / name).read_text()
        small, found = re.subn(r"^((?:ROUNDS|EPISODES)\b[^=]*= )\d+", r"\g<1>80", text, flags=re.MULTILINE)
        assert found == 1
        (folder / name).write_text(small)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALL_TUTORIALS, *generated.TUTORIALS],
        cwd=folder,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads((folder / "told.json").read_text())


@pytest.mark.interpreted
@pytest.mark.xdist_group("tutorials")
@pytest.mark.parametrize("name", generated.TUTORIALS)
def test_a_tutorial_runs(name, played):
    printed, problem = played[name]
    assert problem is None, problem[-2000:]
    assert printed.strip()


# ----------------------------------------------------------------------------------------------------------------------- results


def test_the_tables_show_every_row_of_their_files():
    file = DOCS / "results" / "which.json"
    made, table = results.read(file), results.which(file)
    assert len(re.findall(r"^\| `", table, re.MULTILINE)) == len(made["rows"]) > 20
    assert made["made_by"] in table


def test_a_summary_shows_every_policy_and_claim():
    file = DOCS / "results" / "paper.json"
    made, text = results.read(file), results.panels(file)
    shown = [p for panel in made["panels"].values() for p in (*panel["policies"], *panel["claims"])]
    assert len(shown) > 40
    assert [p for p in shown if f"| {p.get('name', p.get('claim'))} |" not in text] == []


def test_readings_are_columns():
    readings = {"paper": {"verdict": "holds", "margin": 0.2}, "other": {"verdict": "fails", "margin": -0.1}}
    claim = {
        "claim": "c",
        "holds": True,
        "verdict": "holds",
        "margin": 0.3,
        "robust": "r",
        "replications": "8 of 8",
        "readings": readings,
    }
    head, _, row = results.claims([claim]).splitlines()
    assert head == "| claim | here | margin | robust | replications | other |"
    assert row == "| c | holds | +30% | r | 8 of 8 | ✗ -10% |"


def test_a_missing_file_is_said(tmp_path):
    assert "no result file" in results.which(tmp_path / "which.json")


def test_the_picture_of_the_architecture_has_every_part():
    from pages import architecture

    graph = architecture.imports()
    height = architecture.levels(graph)
    assert all(height[other] < height[name] for name, others in graph.items() for other in others)
    picture = architecture.picture()
    assert [name for name in graph if f">{name}</text>" not in picture] == []
    assert set(architecture.WORDS) <= set(graph) | {"lab", "replay"}
