"""What people read of the command line: whole, plain and true, in tables that fit 80 columns."""

import io
import sys

import click
import httpx2
import pytest

from gateway.cli import output
from gateway.cli.commands import COMMANDS
from gateway.cli.commands import cli as commands
from gateway.cli.operating.audit import _COLUMNS
from gateway.cli.options import WholeGroup
from gateway.cli.output import print_table
from gateway.cli.problems import plain, plain_lines
from gateway.cli.remote import answer_of, print_answer

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


TABLES_ID = "019a8f3e-6c1d-7e44-9d0b-2f6f5a0c1b7e"
RECORD = (
    "2026-11-29T15:25:24.110111Z",
    TABLES_ID,
    "flight_search",
    "mcp",
    "avinode.search",
    "ok",
    "10",
)


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a table prints on a terminal of so many columns."""

    def _printed(columns, rows, width=80) -> list[str]:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        print_table(columns, rows)
        return click.unstyle(capsys.readouterr().out).splitlines()

    return _printed


def test_a_record_that_does_not_fit_has_a_line_for_each_column(printed):
    lines = printed(_COLUMNS, [RECORD, RECORD])
    first, second = lines[:7], lines[8:]
    assert first == second
    assert lines[7] == ""
    assert dict(line.split(maxsplit=1) for line in first) == dict(
        zip(_COLUMNS, RECORD, strict=True)
    )


def test_it_is_a_table_where_there_is_room(printed):
    heading, row = printed(_COLUMNS, [RECORD], width=140)
    assert heading.split() == list(_COLUMNS)
    assert row.split() == list(RECORD)


def test_words_are_folded_beside_names_that_are_whole(printed):
    text = "Permits the profile to sign in place of its owner, unless it is closed. " * 3
    lines = printed(("setting", "meaning"), [("webhooks.avinode.signed_secrets", text)])
    assert lines[1].startswith("webhooks.avinode.signed_secrets  Permits")
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines[1:]).split()[1:]) == text.strip()


def test_a_long_address_is_whole(printed):
    url = f"https://app.example.com/{'hook' * 40}"
    assert f"url  {url}" in printed(("id", "url"), [(TABLES_ID, url)])
    assert printed(("id", "url"), [(TABLES_ID, url)])[0] == f"id   {TABLES_ID}"


def test_lines_of_a_cell_stay_below_each_other(printed):
    lines = printed(("operation", "details"), [("x" * 70, "one word\ntwo words")])
    assert lines == [f"operation  {'x' * 70}", "details    one word", "           two words"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a title", "a title"),
        ("a\x1b[2Jtitle", r"a\x1b[2Jtitle"),
        ("a\ntitle", r"a\ntitle"),
        ("a\u202etitle", r"a\u202etitle"),
    ],
)
def test_one_line_stays_one_line(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines: a::b", "two\nlines: a::b"),
        ("a\n::error::pwn", "a\n\\x3a:error::pwn"),
        ("a\n  ::set-output name=x::y", "a\n  \\x3a:set-output name=x::y"),
        ("##vso[task.setvariable]", r"\x23#vso[task.setvariable]"),
        ("a\r::error::pwn", r"a\r::error::pwn"),
    ],
)
def test_no_line_is_a_command_of_a_ci(text: str, shown: str) -> None:
    assert plain_lines(text) == shown


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, ""),
        (
            {"gateway-mocked": "amadeus, frankfurter"},
            "note: made up: a mock answered for amadeus, frankfurter\n",
        ),
        ({"gateway-left-out": "2"}, "note: the result lacks 2 rows of the upstream's reply\n"),
        ({"gateway-left-out": "many", "gateway-mocked": "\x1b[2J"}, None),
    ],
)
def test_marks_of_the_answer_are_notes(headers, said, capsys) -> None:
    reply = httpx2.Response(200, headers=headers, content=b'{"total": 1}')

    assert print_answer(answer_of("http://127.0.0.1:8700", reply)) == 0
    out, err = capsys.readouterr()
    assert out == '{\n  "total": 1\n}\n'
    assert "\x1b" not in err
    if said is not None:
        assert err == said
