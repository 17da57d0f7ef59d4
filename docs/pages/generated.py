"""Everything that is written before Sphinx reads: the reference, the command, the tables of results, the diagram."""

import pathlib

from . import architecture, command, reference, results

#: docs/gallery, in the order of the site.
TUTORIALS = (
    "recommender.py",
    "pricing.py",
    "models.py",
    "own_log.py",
    "figure.py",
    "algorithm.py",
    "mdp.py",
)


class TutorialOrder:
    """Tutorials in their order."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """The place of a file."""
        return TUTORIALS.index(pathlib.Path(name).name)


def write(docs: pathlib.Path) -> None:
    """Write all generated pages."""
    (docs / "generated").mkdir(exist_ok=True)
    for old in (docs / "generated").iterdir():
        if old.name not in (*results.WRITTEN, "reference_toctree.md"):
            old.unlink()  # of another version
    pages = reference.write(docs / "reference")
    command.write(docs / "reference")
    tree = [
        "```{toctree}",
        ":hidden:",
        "",
        *(f"reference/{page}" for page in pages),
        "reference/command_options",
        "```",
        "",
    ]
    reference.put(docs / "generated" / "reference_toctree.md", "\n".join(tree))
    results.write(docs)
    architecture.write(docs / "generated")
