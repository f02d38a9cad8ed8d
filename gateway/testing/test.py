"""`gateway test`."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

import click

from gateway.cli.authoring.generate import unlike_contracts
from gateway.cli.options import project_folder, settings_of, settings_options
from gateway.cli.problems import CANNOT_RUN, FINDINGS, OK
from gateway.cli.project import check_project
from gateway.cli.reports.forms import form_of
from gateway.errors import ConfigurationError
from gateway.installed import install_command
from gateway.settings import Settings
from gateway.testing import ALL_OPTION, BUDGET_OPTION, REPORT_OPTION, SEED_OPTION
from gateway.testing.options import budget_option, report_option

SUITE: Final = Path(__file__).with_name("test_contracts.py")
REPLAYING: Final = "gateway.testing.replaying"
_PLUGIN: Final = "gateway.testing.plugin"
_LIBRARIES: Final = ("hypothesis", "jsonschema", "pytest", "schemathesis")
_EXITS: Final = {0: OK, 1: FINDINGS}


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: gateway test --budget 60s --report suite.xml -- -k my_tool",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--all", "is_whole", is_flag=True, help="Test all operations of imported documents.")
@click.option(
    "--seed",
    type=int,
    default=0,
    metavar="N",
    help="Number by which arguments and imported operations are drawn, alike on any machine.",
)
@budget_option
@report_option
@click.option("--replay", metavar="TEXT", help="Make one call again, as a failure has printed it.")
@settings_options("schemas", "package", "handler_packages")
def command(*, arguments: tuple[str, ...], replay: str | None, **flags: Any) -> int:
    """Run the contract suite on this project, on mocks. ARGUMENTS are passed to pytest.

    For each tool, arguments that its schema allows are accepted and all others are refused, over
    REST, both versions of MCP and stdio alike. A tool gets what its caller sent, and an absent
    argument means its default. For each agent, exactly the granted tools and arguments exist; what
    is kept, or repeated by a key, answers no other call. Each request to an upstream is valid by
    its document. Faults and odd replies of upstreams end in the right errors, no secret is
    reported, and every webhook that is admitted can be processed. Of each imported document, a few
    operations and links are tested. Needs the extra `test` of the package.
    """
    drawing = _drawing(flags)
    settings = settings_of(flags)
    check_project(settings)
    if replay is not None:
        _check_libraries()
        return _ended([sys.executable, "-m", REPLAYING, replay], settings)
    if unlike := unlike_contracts(settings):
        click.echo(unlike, err=True)
        return FINDINGS
    return run_suite(settings, [*drawing, *arguments])


def run_suite(settings: Settings, arguments: Sequence[str], output: IO[str] | None = None) -> int:
    """Run pytest with `arguments` on the suite for this project. Returns the exit code of ours.

    `output`: where it prints, instead of the standard output. Raises `ConfigurationError` if a
    library is missing.
    """
    _check_libraries()
    # The suite has no asynchronous tests, and pytest-asyncio warns of options that it does not set.
    plugins = ["-p", _PLUGIN, "-p", "no:asyncio"]
    folder = project_folder(settings).absolute()
    pytest = [sys.executable, "-m", "pytest", *plugins, "--rootdir", str(folder)]
    return _ended([*pytest, "-c", os.devnull, str(SUITE), *arguments], settings, output)


def _check_libraries() -> None:
    missing = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the contract suite needs {', '.join(missing)}; run `{install_command('test')}`"
        )


def _drawing(flags: dict[str, Any]) -> list[str]:
    """The options of the plug-in. What they are made of is taken out of `flags`."""
    is_whole, seed, budget = flags.pop("is_whole"), flags.pop("seed"), flags.pop("budget")
    found = [SEED_OPTION, str(seed), *([ALL_OPTION] if is_whole else [])]
    if budget is not None:
        found += [BUDGET_OPTION, str(budget)]
    for path in flags.pop("reports"):
        form_of(path)
        found += [REPORT_OPTION, str(path.absolute())]
    return found


def _ended(command: list[str], settings: Settings, output: IO[str] | None = None) -> int:
    """The exit code of a program of ours that has run in the project."""
    selected = {
        "GATEWAY_SCHEMAS": str(settings.schemas.absolute()),
        "GATEWAY_PACKAGE": settings.package,
        "GATEWAY_HANDLER_PACKAGES": ",".join(settings.handler_packages),
    }
    folder = project_folder(settings).absolute()
    done = subprocess.run(  # noqa: S603 - our own interpreter, without a shell
        command, cwd=folder, env={**os.environ, **selected}, stdout=output, check=False
    )
    return _EXITS.get(done.returncode, CANNOT_RUN)
