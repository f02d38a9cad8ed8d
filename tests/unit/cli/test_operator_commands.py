"""Operators' commands: errors in a command line, and untrusted text, on a terminal."""

import asyncio

import pytest

from gateway.cli.output import print_json, print_table
from gateway.cli.problems import plain
from gateway.store.records import Mismatch, NewWebhook
from gateway.store.sql.engine import open_store

pytestmark = pytest.mark.usefixtures("small")
ESCAPE = "\x1b[2J\x9b31m\u202e"


@pytest.fixture
def odd_webhook(tmp_path) -> str:
    """The id of a quarantined webhook whose sender wrote for the terminal of its reader."""
    (tmp_path / "data").mkdir()

    async def store() -> str:
        opened = await open_store(f"sqlite:///{tmp_path}/data/gateway.db")
        try:
            [receipt] = await opened.inbox.receive(
                [
                    NewWebhook(
                        provider="avinode",
                        profile="signed",
                        message_id="e-1",
                        event_type=ESCAPE,
                        body=b"{}",
                        headers={},
                        contract="none",
                        refusals=(Mismatch(pointer=f"/{ESCAPE}", detail="is not expected"),),
                    )
                ]
            )
        finally:
            await opened.close()
        return receipt.webhook_id

    return asyncio.run(store())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(
            (("webhooks", "show"), name)
            for name in ("", ".", "..", "../jobs", "a/b", "a\nb", "\udcff", "a\x1b")
        ),
        (("webhooks", "replay"), "../jobs"),
        (("dead-letters", "redrive"), "../jobs"),
        (("endpoints", "show"), "../jobs"),
        (("endpoints", "test"), "../jobs"),
        (("endpoints", "change"), "../jobs"),
        (("endpoints", "rotate"), "../jobs"),
        (("endpoints", "remove"), "../jobs"),
    ],
)
def test_what_is_no_id_reaches_no_path(cli, command, name):
    code, out, err = cli(*command, "--", name)
    assert (code, out) == (2, "")
    assert "this is not an id" in err
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize(
    "command",
    [
        ("webhooks", "list", "--provider", "\udcff"),
        ("dead-letters", "list", "--lane", "\udcff"),
        ("events", "tail", "--type", "\udcff"),
        ("endpoints", "add", "https://a.example", "--description", "\udcff"),
        ("endpoints", "add", "https://\udcff"),
    ],
)
def test_what_is_not_utf_8_is_wrong_usage(cli, command):
    code, out, err = cli(*command)
    assert (code, out) == (2, "")
    assert err.splitlines()[-2] == "error: the options contain text that is not UTF-8"


def test_a_refusal_reports_its_code_each_place_and_the_fix(cli):
    code, out, err = cli("endpoints", "add", "https://user@a.example")
    assert (code, out) == (1, "")
    said = err.splitlines()[-3:]
    assert said[0].startswith("error: VALIDATION_ERROR: ")
    assert said[1] == "  /url: url must not hold credentials"
    assert said[2].startswith("fix: ")


def test_what_is_not_there_is_a_refusal_and_no_wrong_usage(cli):
    code, _, err = cli("webhooks", "show", "none")
    assert code == 1
    assert "There is no webhook with this id." in err


def test_what_a_sender_wrote_never_reaches_the_terminal_as_a_command(cli, odd_webhook):
    for command in (
        ("list",),
        ("quarantine",),
        ("show", odd_webhook),
        ("show", odd_webhook, "--json"),
    ):
        code, out, _ = cli("webhooks", *command)
        assert code == 0
        assert [each for each in out if not each.isprintable() and each != "\n"] == [], command
        assert "\\x1b[2J" in out or "\\u001b[2J" in out, command


def test_only_what_terminals_obey_is_written_out(capsys):
    print_table(("a",), [("žluť\ntwo lines",)])
    print_json({"a": "žluť \u00a0\U0001f600"})
    out = capsys.readouterr().out
    assert "žluť\ntwo lines" in out
    assert "žluť \u00a0\U0001f600" in out
    assert plain("a\u202eb\x07") == "a\\u202eb\\x07"
