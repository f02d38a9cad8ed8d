"""What people read of the command line: whole, plain, and true."""

import io
import sys

import click
import pytest

from gateway.cli import output
from gateway.cli.commands import COMMANDS
from gateway.cli.commands import cli as commands
from gateway.cli.options import WholeGroup

ID = "019a8f3e-7c1d-7b52-8a90-3f4e5d6c7b8a"


class Terminal(io.StringIO):
    """A terminal as far as anybody asks."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_ids_stay_whole_on_narrow_terminals(monkeypatch, width):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "dumb")
    row = (ID, "2026-11-20T12:00:00Z", "avinode", "quote_received", "completed", "1/8", "")
    output.print_table(("id", "received_at", "provider", "event", "state", "tries", "error"), [row])
    assert ID in terminal.getvalue()
    assert "…" not in terminal.getvalue()


def test_a_list_without_rows_says_so_apart_from_the_output(capsys):
    output.print_table(("id", "agent"), [])
    assert tuple(capsys.readouterr()) == ("", "none\n")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_help_is_cut(name):
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    context = click.Context(command, info_name=f"gateway {name}", terminal_width=80)
    text = command.get_help(context)
    assert isinstance(command, WholeGroup) is isinstance(command, click.Group)
    body = text.partition("\n")[2]
    assert "..." not in body.replace("WEBHOOK_ID...", "").replace("[JOB_ID...]", "")


def test_a_tool_is_shown_as_text_alone(cli):
    out = cli("tools", "show", "sheets.search_client").out
    assert "{" not in out
    lines = [line.split() for line in out.partition("\narguments\n")[2].splitlines()]
    assert lines[0] == ["name", "type", "required", "description"]
    assert lines[1][:3] == ["query", "string", "yes"]
    assert lines[2][:7] == ["fields", "list", "of", "one", "of", "client_id,", "name,"]


def test_what_is_not_there_is_not_said_to_need_another_request(cli):
    code, _, err = cli("webhooks", "show", "nope")
    assert code == 1
    assert "There is no webhook with this id." in err
    assert "fix: Check the path and the id in it; lists show the existing ids." in err


def test_a_table_of_many_rows_has_aligned_columns_and_no_control_characters(capsys):
    rows = [(f"id{number}", "a\x1b[2Jb", "") for number in range(2000)]
    output.print_table(("id", "text", "none"), rows)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2001
    assert lines[0] == "id      text       none"
    assert lines[1] == r"id0     a\x1b[2Jb"
