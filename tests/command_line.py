"""The command, called as users call it, in this process."""

from typing import Any

from typer.testing import CliRunner

from driftbandits.cli import application

app = application()


def invoke(*arguments: str) -> Any:
    """The whole result: exit_code, stdout, stderr."""
    return CliRunner().invoke(app, list(arguments))


def call(*arguments: str, code: int = 0) -> str:
    """What it printed; it must exit with this code."""
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    return str(result.output)


def refused(*arguments: str) -> str:
    """The one line on standard error of a call that exits with 2, without a traceback."""
    result = invoke(*arguments)
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return str(result.stderr)
