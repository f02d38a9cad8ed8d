"""Whatever goes wrong ends in two lines and the documented exit code."""

import click
import pytest

from gateway.cli.commands import cli as group
from gateway.errors import AddressInUse, ConfigurationError, InvalidArguments, StoreError


@pytest.fixture
def failing(cli, monkeypatch):
    """Runs a command that raises `error`."""

    def _fail(error):
        @click.command()
        def boom():
            raise error

        monkeypatch.setattr(group, "get_command", lambda *_: boom)
        return cli("boom")

    return _fail


def test_an_unknown_command_is_wrong_usage(cli):
    assert cli("nope") == (2, "", "error: No such command 'nope'.\nfix: see `gateway --help`\n")


@pytest.mark.parametrize("arguments", [(), ("keys",)])
def test_a_missing_command_shows_the_help(cli, arguments):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(" ".join(("Usage: gateway", *arguments)))


def test_a_wrong_option_names_the_help_of_its_command(cli):
    code, _, err = cli("serve", "--prot", "1")
    assert code == 2
    assert err.startswith("error: No such option '--prot'")
    assert err.endswith("fix: see `gateway serve --help`\n")


def test_an_operators_error_says_what_is_wrong_and_how_to_fix_it(failing):
    outcome = failing(ConfigurationError("--port: must be a number; the default is 8700"))
    assert outcome == (2, "", "error: --port: must be a number\nfix: the default is 8700\n")


def test_settings_that_are_wrong_are_reported_one_by_one(cli, monkeypatch):
    monkeypatch.setenv("GATEWAY_SEED", "many")
    monkeypatch.setenv("GATEWAY_KEY_FILE", "/nowhere/at-all")
    code, _, err = cli("config")
    assert code == 2
    starts = [line.split(":")[:2] for line in err.splitlines()]
    assert starts[:2] == [["error", " GATEWAY_SEED"], ["fix", starts[1][1]]]
    assert starts[2:] == [["error", " GATEWAY_KEY_FILE"], ["fix", " name a readable file"]]


def test_credentials_that_are_wrong_are_reported_one_by_one(cli, monkeypatch):
    for name in ("API_TOKEN", "ACCESS_TOKEN"):
        monkeypatch.setenv(f"GATEWAY_AVINODE_{name}_FILE", "/nowhere/at-all")
    code, _, err = cli("call", "example.greet", "--json", '{"name": "Ada"}')
    assert code == 2
    said = [line for line in err.splitlines() if line.startswith("error: avinode: GATEWAY_AVINODE")]
    assert len(said) == err.count("fix: name a readable file") == 2


@pytest.mark.parametrize(
    ("error", "fix"), [(AddressInUse(), "--port"), (StoreError(), "gateway doctor")]
)
def test_an_error_without_advice_gets_that_of_its_kind(failing, error, fix):
    code, _, err = failing(error)
    assert code == 2
    assert fix in err.splitlines()[1]


def test_a_refused_call_exits_with_1(failing):
    assert failing(InvalidArguments([])).code == 1


def test_a_defect_shows_its_place_and_neither_traceback_nor_text(failing):
    """The text of an unforeseen error may hold what the command was given: a key, say."""
    code, out, err = failing(KeyError("gw_secret"))
    assert (code, out) == (2, "")
    assert err.startswith("error: a defect of the gateway: KeyError at ")
    assert "Traceback" not in err
    assert "gw_secret" not in err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_stopping_from_the_keyboard_is_silent(failing, error):
    code, out, err = failing(error)
    assert (code, out, err.strip()) == (130, "", "")
