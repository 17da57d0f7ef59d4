"""A wrong use of the command is one line, as every other error."""

import pytest

from command_line import invoke, refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serve", "--prot", "9"), "No such option: --prot"),
        (("nothing",), "No such command 'nothing'"),
        (("serve", "--port", "x"), "Invalid value for '--port'"),
    ],
)
def test_it_is_one_line(arguments, message):
    line = refused(*arguments)
    assert message in line
    assert "--help" in line


def test_without_arguments_it_is_the_help():
    result = invoke()
    assert result.exit_code == 2
    assert "serve" in result.output
