"""The list of commands: fast, complete, each with help and an example."""

import sys
from unittest.mock import Mock

import click
import pytest

from gateway.cli.commands import COMMANDS
from gateway.cli.commands import cli as group


def leaves():
    """Every command that is no group, by its words. To import them all takes a second."""
    context = click.Context(group, info_name="gateway")
    for name in COMMANDS:
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, child) for child in command.commands)
        else:
            yield (name,)


def test_help_lists_every_command(cli):
    code, out, _ = cli("--help")
    assert code == 0
    listed = [
        line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.strip()
    ]
    assert listed[: len(COMMANDS)] == list(COMMANDS)


def test_every_command_has_help_with_an_example(cli):
    shown = {" ".join(path): cli(*path, "--help") for path in leaves()}
    assert shown
    for name, (code, out, _) in shown.items():
        assert code == 0, name
        assert f"Usage: gateway {name}" in out
        assert "Example: " in out, name


def test_the_version_is_that_of_the_distribution(cli):
    code, out, _ = cli("--version")
    assert code == 0
    assert out.startswith("gateway, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(cli, shell, monkeypatch):
    # click asks the installed bash for its version.
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda *_: None)
    code, out, _ = cli("completion", shell)
    assert code == 0
    assert "_GATEWAY_COMPLETE" in out


def test_completion_of_another_shell_names_those_there_are(cli):
    code, _, err = cli("completion", "cmd")
    assert code == 2
    assert "'bash', 'zsh', 'fish'" in err


def test_the_completion_script_is_given_the_commands_that_fit(capsys, monkeypatch, cli):
    monkeypatch.setenv("_GATEWAY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gateway ke")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        cli()
    assert capsys.readouterr().out.split() == ["plain,keys"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--port", "0"),
        ("call", "example.greet", "--json", '{"name": "Ada"}'),
        ("webhooks", "list"),
    ],
    ids=" ".join,
)
def test_a_command_opens_the_project_once(cli, monkeypatch, arguments):
    """With ten thousand tools, a second time takes a third of the start."""

    async def served(_app, _listener, on_ready, *_):
        on_ready()

    opened = Mock(side_effect=AssertionError("the gateway opened the project again"))
    monkeypatch.setattr("gateway.app.composition.open_catalogue", opened)
    monkeypatch.setattr("gateway.app.serving.serve_http", served)
    monkeypatch.setattr("gateway.app.serving.gc", Mock())
    code, _, err = cli(*arguments)
    assert code == 0, err


def test_the_event_loop_and_threads_of_a_server_give_way_to_each_other_soon(cli, monkeypatch):
    """Each callback may wait for a thread. A busy event loop could keep all threads waiting."""
    seen = []

    async def served(_app, _listener, on_ready, *_):
        seen.append(sys.getswitchinterval())
        on_ready()

    monkeypatch.setattr("gateway.app.serving.serve_http", served)
    monkeypatch.setattr("gateway.app.serving.gc", Mock())
    code, _, err = cli("serve", "--port", "0")
    assert code == 0, err
    assert seen == [pytest.approx(0.00002)]
