"""Code shared by `reproduce` and `run`: run experiments and show the results."""

import json
import pathlib
from typing import Any

import typer

from ..experiment.spec.experiment import Experiment
from ..experiment.write.publish import publish, this_command
from .console import Reporter, show_published


def run_and_show(
    name: str, experiments: list[Experiment], folder: pathlib.Path, *, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Run experiments into a folder and print the results; the options are those of `publish`."""
    with Reporter(quiet or as_json) as reporter:
        done = publish(name, experiments, folder, progress=reporter, command=this_command(), **options)
    if as_json:
        typer.echo(json.dumps(done.summary, indent=1))
    elif not quiet:
        show_published(done, reporter.seconds)


def number_or_formula(text: str) -> Any:
    """A number, or the text of a formula."""
    try:
        return float(text)
    except ValueError:
        return text
