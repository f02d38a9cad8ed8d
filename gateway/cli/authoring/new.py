"""`gateway new`."""

from collections.abc import Callable
from typing import Any, Final

import click
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.project.changes import Files
from gateway.authoring.project.drafts.events import (
    PROFILE,
    EventWish,
    Preset,
    WebhookWish,
    draft_event,
    draft_message,
    preset_names,
    preset_of,
    vendor_of,
)
from gateway.authoring.project.drafts.tools import (
    AUTH_FORMS,
    METHODS,
    ConnectorWish,
    ToolWish,
    draft_connector,
    draft_tool,
)
from gateway.authoring.project.staging import Project, with_generated
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.authoring.generate import project_of
from gateway.cli.options import (
    WholeGroup,
    json_option,
    settings_of,
    settings_options,
)
from gateway.cli.output import print_json, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_project
from gateway.settings import Settings
from gateway.settings.sources import webhook_name
from gateway.signatures.registry import SCHEMES

_Draft = Callable[[Project, SourceTree], Files]
_TITLE: Final = click.option("--title", help="Its title.  [default: made of the name]")
_ASKED: Final = "the token that you type at the vendor, and that its question presents"
_DRY_RUN: Final = click.option("--dry-run", is_flag=True, help="Check it, and write nothing.")


class _Written(Struct, frozen=True, kw_only=True):
    """The output for programs."""

    files: tuple[str, ...]
    """The contract files and handlers, relative to the project."""
    generated: int
    """How many generated files change."""
    is_written: bool


@click.group(cls=WholeGroup, epilog="Example: gateway new connector tides --auth header=X-Api-Key")
def command() -> None:
    """Write the first draft of a contract by hand: files that lint and generate at once.

    The questions that its author has to answer are comments in the files.
    """


@command.command(epilog="Example: gateway new connector tides --url https://api.tides.example/v2")
@click.argument("name")
@_TITLE
@click.option("--url", help="Base URL of the API.  [default: a setting of the operator]")
@click.option("--auth", default="bearer", show_default=True, help=f"Credential: {AUTH_FORMS}.")
@_DRY_RUN
@settings_options("schemas", "package", "handler_packages")
@json_option
def connector(name: str, title: str | None, url: str | None, auth: str, **flags: Any) -> int:
    """Draft the contract of a system that tools call. A mock answers without credentials."""
    wish = ConnectorWish(name=name, title=title, url=url, auth=auth)
    after = (f"gateway new tool {name}.TOOL",)
    return _make(lambda project, tree: draft_connector(project, tree, wish), after, flags)


@command.command(
    epilog="Example: gateway new tool tides.get_tides --path /stations/{station}/tides"
)
@click.argument("name", metavar="CONNECTOR.TOOL")
@click.option(
    "--effect",
    type=click.Choice(["read", "write", "destroy"]),
    default="read",
    show_default=True,
    help="What a call changes.",
)
@_TITLE
@click.option("--description", help="A sentence that begins with a verb.")
@click.option("--path", help="Path of the upstream's operation, with {parameters}.")
@click.option(
    "--method",
    type=click.Choice(METHODS, case_sensitive=False),
    help="Method of the operation.  [default: by the effect]",
)
@click.option("--python", "is_python", is_flag=True, help="A Python function, not an upstream.")
@_DRY_RUN
@settings_options("schemas", "package", "handler_packages")
@json_option
def tool(  # noqa: PLR0913 - each is one option of the command
    name: str,
    effect: Any,
    title: str | None,
    description: str | None,
    path: str | None,
    method: str | None,
    *,
    is_python: bool,
    **flags: Any,
) -> int:
    """Draft a tool and the operation of its upstream. The mock answers it at once."""
    wish = ToolWish(
        name=name,
        effect=effect,
        title=title,
        description=description,
        method=method,
        path=path,
        is_python=is_python,
    )
    call = f"gateway call {name} --json …"
    if effect == "destroy":
        call += ', after a grant of it by name in policies/agents.yaml: "*" grants no such tool'
    after = (f"gateway tools show {name}", call)
    return _make(lambda project, tree: draft_tool(project, tree, wish), after, flags)


@command.command(epilog="Example: gateway new webhook stripe")
@click.argument("name", metavar="PROVIDER[.EVENT]")
@click.option(
    "--preset",
    type=click.Choice(preset_names()),
    help="Vendor that signs.  [default: the provider, if it is one of them]",
)
@click.option("--scheme", type=click.Choice(tuple(SCHEMES)), help="How a new provider signs.")
@click.option("--header", help="Header with the signature, where the scheme does not define it.")
@_TITLE
@_DRY_RUN
@settings_options("schemas", "package", "handler_packages")
@json_option
def webhook(
    name: str,
    preset: str | None,
    scheme: str | None,
    header: str | None,
    title: str | None,
    **flags: Any,
) -> int:
    """Draft a message that a provider sends, for a new provider or one that is known.

    The vendors of --preset need only their name: the draft says how they sign, what they ask first,
    and what they send. Other events of theirs have their type after it: stripe.charge.refunded.
    """
    wish = WebhookWish(name=name, preset=preset, scheme=scheme, header=header, title=title)
    vendor = vendor_of(wish)
    after: tuple[str, ...] = ("gateway serve", f"gateway webhooks send {name}")
    if vendor is not None:
        after = (*after, "gateway events list")
    return _make(
        lambda project, tree: draft_message(project, tree, wish),
        after,
        flags,
        None if vendor is None else _real(name.partition(".")[0], preset_of(vendor)),
    )


@command.command(epilog="Example: gateway new event order.shipped")
@click.argument("type_", metavar="TYPE")
@_TITLE
@_DRY_RUN
@settings_options("schemas", "package", "handler_packages")
@json_option
def event(type_: str, title: str | None, **flags: Any) -> int:
    """Draft an event that the gateway publishes. TYPE is <entity>.<verb>."""
    wish = EventWish(type=type_, title=title)
    after = ("gateway new webhook PROVIDER.EVENT",)
    return _make(lambda project, tree: draft_event(project, tree, wish), after, flags)


def _real(provider: str, preset: Preset) -> tuple[str, ...]:
    """What to set for the messages of a vendor, each with its meaning."""
    settings = {f"{PROFILE}_secrets": preset.secret}
    if "secret" in preset.profile.get("challenge", {}):
        settings[f"{PROFILE}_challenge_secret"] = _ASKED
    settings |= {name: rule["description"] for name, rule in preset.settings.items()}
    named = {webhook_name(provider, key).variable: text for key, text in settings.items()}
    if preset.public_url:
        named["GATEWAY_PUBLIC_URL"] = "the scheme and the host of the address that the vendor signs"
    return tuple(f"{variable}: {text}" for variable, text in named.items())


def _make(
    draft: _Draft,
    after: tuple[str, ...],
    flags: dict[str, Any],
    real: tuple[str, ...] | None = None,
) -> int:
    """Write the draft with all that is generated from it, or nothing.

    `real`: what to set for real messages, if the draft has no questions.
    """
    is_dry_run, as_json = flags.pop("dry_run"), flags.pop("as_json")
    settings = settings_of(flags)
    project = _project(settings)
    try:
        with progress("new") as step, changing(project.folder, project.parts) as held:
            step("reading the contracts")
            drafted = draft(project, _readable(project))
            step("generating")
            change = with_generated(project, drafted)
            if not is_dry_run:
                held.place(change.files, change.removed)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "json" if as_json else "text")
        return FINDINGS
    written = sorted(str(path) for path in drafted)
    count = len([path for path in change.files if path not in drafted])
    if as_json:
        print_json(_Written(files=tuple(written), generated=count, is_written=not is_dry_run))
        return OK
    verb = "would be written" if is_dry_run else "written"
    _print(f"{amount(len(written), 'file')} {verb}, {count} generated", *written)
    if real is None:
        lint = "gateway lint && gateway generate"
        _print("Answer the questions in the comments. Then:", lint, *after)
        return OK
    _print("Try it:", *after)
    _print("For real messages, set:", *real)
    return OK


def _readable(project: Project) -> SourceTree:
    """The contracts. Raises `ContractRefused` if a file cannot be read."""
    tree = read_tree(project.schemas)
    if tree.findings:
        raise ContractRefused(tree.findings)
    return tree


def _project(settings: Settings) -> Project:
    check_project(settings)
    return project_of(settings)


def _print(title: str, *lines: str) -> None:
    click.echo(plain(title))
    for line in lines:
        click.echo(plain(f"  {line}"))
