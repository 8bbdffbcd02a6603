"""Write docs/cli.md from the help texts of the command: python docs/write_cli.py"""

from collections.abc import Iterator
from pathlib import Path

import click

from cgmh.cli import group

PAGE = Path(__file__).with_name("cli.md")


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and those within it, with their full names."""
    yield name, command
    for part, some in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(f"{name} {part}", some)


def page() -> str:
    """The help of the command and of each of its parts."""
    parts = ["# The command line\n\nMade from the help texts by `python docs/write_cli.py`.\n"]
    for name, command in commands("cgmh", group):
        context = click.Context(command, info_name=name, terminal_width=100, **group.context_settings)
        parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
