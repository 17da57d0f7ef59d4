"""A wrong use of the command is one line, as every other error."""

import pytest

from command_line import invoke, refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serve", "--prot", "9"), "No such option: --prot"),
        (("nothing",), "No such command 'nothing'"),
        (("serve", "--port", "x"), "--port x is not allowed; it must be an integer from 0 to 65535;"),
        (("serve", "--rate", "-1"), "--rate -1 is not allowed; it must be a number ≥ 0;"),
        (("paper", "results", "--columns", "3"), "--columns 3 is not allowed; it must be an integer from 1 to 2;"),
        (("paper", "results", "--figures", "eps"), "--figures eps is not allowed; it must be one of both, pdf, pgf;"),
        (
            ("tune", "lb_weight_ucb", "--horizon", "9", "--dim", "x"),
            "--dim x is not allowed; it must be an integer ≥ 1;",
        ),
    ],
)
def test_it_is_one_line(arguments, message):
    line = refused(*arguments)
    assert message in line
    assert "--help" in line
    assert "Input should" not in line


def test_without_arguments_it_is_the_help():
    result = invoke()
    assert result.exit_code == 2
    assert "serve" in result.output
