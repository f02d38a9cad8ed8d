"""Tables on a terminal of 80 columns: what other commands need is never folded."""

import sys

import click
import pytest

from gateway.cli.operating.audit import _COLUMNS
from gateway.cli.output import print_table

ID = "019a8f3e-6c1d-7e44-9d0b-2f6f5a0c1b7e"
RECORD = ("2026-11-29T15:25:24.110111Z", ID, "flight_search", "mcp", "avinode.search", "ok", "10")


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
    assert f"url  {url}" in printed(("id", "url"), [(ID, url)])
    assert printed(("id", "url"), [(ID, url)])[0] == f"id   {ID}"


def test_lines_of_a_cell_stay_below_each_other(printed):
    lines = printed(("operation", "details"), [("x" * 70, "one word\ntwo words")])
    assert lines == [f"operation  {'x' * 70}", "details    one word", "           two words"]
