"""Every number of the specification that code, tests and documentation cite exists in docs/spec."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec"
FOLDERS = ("src", "tests", "docs", "experiments", "benchmarks", "examples")
DOCUMENTS = sorted(p.stem for p in SPEC.glob("*.md") if p.stem not in ("README", "resolutions"))

NUMBER = r"(?:\d+|[A-Z]\b)(?:\.\d+)*"
SECTION = re.compile(rf"\b({'|'.join(DOCUMENTS)})(?:\.md)?`? ((?:(?:, |–| and )?§{NUMBER})+)", re.IGNORECASE)
RESOLUTION = re.compile(r"\bresolutions? ((?:(?:, |–| and )?[A-Z]\d+)+)", re.IGNORECASE)
#: How documents were cited once: a file and a number without its sign, which the two patterns above would not see.
UNCHECKED = re.compile(rf"\b(?i:{'|'.join(DOCUMENTS)})\.md`?,? (?:section )?\d|\([A-G]\d+(?:, [A-G]\d+)*\)")


def sources():
    """Text files that may cite."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md", ".toml") and path != pathlib.Path(__file__):
                yield path
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))


def headings(document):
    """The numbers of a document's sections."""
    return set(re.findall(rf"^#+ ({NUMBER})", (SPEC / f"{document}.md").read_text(), re.MULTILINE))


def resolutions():
    """The numbers of all resolutions."""
    return set(re.findall(r"^\| ([A-Z]\d+) \|", (SPEC / "resolutions.md").read_text(), re.MULTILINE))


def missing(text):
    """Citations in a text that lead nowhere."""
    known = resolutions()
    for match in RESOLUTION.finditer(text):
        yield from (f"resolution {n}" for n in re.findall(r"[A-Z]\d+", match[1]) if n not in known)
    for match in SECTION.finditer(text):
        document = match[1].lower()
        yield from (f"{document} §{n}" for n in re.findall(rf"§({NUMBER})", match[2]) if n not in headings(document))


def test_every_citation_leads_somewhere():
    lost = [f"{path.relative_to(ROOT)}: {what}" for path in sources() for what in missing(path.read_text())]
    assert lost == []


def test_every_citation_can_be_checked():
    loose = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources()
        if SPEC not in path.parents
        for match in UNCHECKED.finditer(path.read_text())
    ]
    assert loose == []


def test_there_are_citations_to_check():
    cited = [m[0] for path in sources() if SPEC not in path.parents for m in RESOLUTION.finditer(path.read_text())]
    sections = [m[0] for path in sources() if SPEC not in path.parents for m in SECTION.finditer(path.read_text())]
    assert len(cited) >= 50
    assert len(sections) >= 20


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("see resolution A99", ["resolution A99"]),
        ("resolutions A2, Z1 and A5", ["resolution Z1"]),
        ("algorithms §2.4 and theory §99", ["theory §99"]),
        ("successors §A.3, §A.77", ["successors §A.77"]),
        ("resolutions A8–A10; algorithms §2.1–§2.6", []),
    ],
)
def test_a_lost_citation_is_found(text, lost):
    assert list(missing(text)) == lost
