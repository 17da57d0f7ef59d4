"""What is written for a manuscript, checked as its author would meet it: by LaTeX where it is installed, by its structure everywhere."""

import pathlib
import re
import shutil
import subprocess

PREAMBLE = r"""\documentclass[%s]{article}
\usepackage[%s]{geometry}
\usepackage{booktabs, pgfplots}
\pgfplotsset{compat=1.18}
\usepgfplotslibrary{fillbetween}
\setlength{\parindent}{0pt}
\begin{document}
"""
WIDTHS = {1: 3.25, 2: 6.75}  # inches of a column, and of the text
KNOWN = re.compile(r"[ -~\n]")  # what plain pdflatex sets in any font


def structure(source: str) -> None:
    """Braces and environments close, every row of a table has as many cells as its columns, and no letter is left that TeX lacks."""
    assert not set(KNOWN.sub("", re.sub(r"(?m)^%.*", "", source)))
    bare = source.replace(r"\{", "").replace(r"\}", "")
    for opening, closing in (("{", "}"), (r"\begin{", r"\end{"), (r"\begingroup", r"\endgroup")):
        assert bare.count(opening) == bare.count(closing), opening
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", source, re.DOTALL):
        for row in re.findall(r"(.*)\\\\\n", body):
            cells = row.replace(r"\&", "").count("&") + 1
            assert cells == len(columns) or f"multicolumn{{{len(columns)}}}" in row, row


def problems(folder: pathlib.Path, inputs: list[str], columns: int) -> list[str] | None:
    r"""What pdflatex complains of in a manuscript that has these \input lines: errors, and what is wider than the column (or the text).

    None if there is no pdflatex with booktabs and pgfplots here.
    """
    if not _has_latex():
        return None
    layout = f"textwidth={WIDTHS[columns]}in, textheight=9in"
    text = PREAMBLE % ("10pt", layout) + "\n\n".join(inputs) + "\n\\end{document}\n"
    (folder / "manuscript.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "manuscript.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    return re.findall(r"(?m)^(?:!|Overfull|LaTeX Warning: Float too large).*", said) or ["failed"] * (
        done.returncode != 0
    )


def _has_latex() -> bool:
    if not all(map(shutil.which, ("pdflatex", "kpsewhich"))):
        return False
    found = subprocess.run(["kpsewhich", "booktabs.sty", "pgfplots.sty"], capture_output=True, check=False)
    return len(found.stdout.split()) == 2
