"""The options of the command, written from the command itself: what `--help` says, as a page."""

import importlib.util
import inspect
import pathlib
import re
from typing import Any


def page() -> str:
    """One section per subcommand."""
    import typer

    from driftbandits.cli import application

    group: Any = typer.main.get_command(application())
    lines = ["# Options of the command", "", paragraph(group.help), "", paragraph(group.epilog), ""]
    for name, command in group.commands.items():
        if getattr(command, "hidden", False):
            continue
        usage = " ".join(["driftbandits", name, *pieces(command)])
        lines += [f"## {name}", "", *told(command.help), "", "```text", usage, "```", ""]
        rows = [row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
        lines += ["| | | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def pieces(command: Any) -> list[str]:
    """Arguments of the usage line."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    shown = [(p.metavar or p.name.upper()) + ("…" if p.nargs == -1 else "") for p in arguments]
    return ["[OPTIONS]", *(s if p.required else f"[{s}]" for s, p in zip(shown, arguments, strict=True))]


def told(text: str | None) -> list[str]:
    """The help text; an indented line or one that starts with the command is an example."""
    out = []
    for block in inspect.cleandoc(plain(text)).split("\n\n"):
        if re.match(r"\s*driftbandits ", block):
            out += ["```text", *(line.strip() for line in block.splitlines()), "```", ""]
        else:
            out += [paragraph(block), ""]
    return out


def paragraph(text: str | None) -> str:
    """Running text without the marks of Rich."""
    return escaped(" ".join(plain(text).split()))


def plain(text: str | None) -> str:
    """Text without the marks of Rich."""
    from rich.text import Text

    return Text.from_markup(text or "").plain


def escaped(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_\[\]|<>$])", r"\\\1", text)


def row(parameter: Any) -> str:
    """An option: how it is written, what it does, its default."""
    if parameter.param_type_name == "argument":
        names = parameter.metavar or parameter.name.upper()
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = parameter.default
    if callable(default) or default in (None, False, "", ()) or "Sentinel" in repr(default):
        shown = "required" if parameter.required else ""
    else:
        shown = escaped(str(default))
    return f"| `{names}` | {paragraph(getattr(parameter, 'help', ''))} | {shown} |"


def write(folder: pathlib.Path) -> None:
    """Write command_options.md, where the command can be made."""
    from .reference import put

    if importlib.util.find_spec("typer"):
        put(folder / "command_options.md", page())
