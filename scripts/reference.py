#!/usr/bin/env python3
"""Write the reference pages that say what the code says: settings, commands, errors, lint rules.

The pages are committed, so that they can be read without building anything; `--check` compares.
The pages of the tools come from `gateway generate`.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import click

from gateway.catalogue import open_catalogue
from gateway.cli.commands import COMMANDS, cli
from gateway.codegen.lint import RULES
from gateway.contract.upstream import Upstream
from gateway.contract.webhook import (
    BasicCredentials,
    HmacSignature,
    StandardSignature,
    WebhookSource,
)
from gateway.errors import GatewayError
from gateway.settings.declared import SETTINGS, Setting
from gateway.settings.sources import Name, backend_name, upstream_name, webhook_name
from gateway.settings.webhooks import secrets_name
from gateway.transports.problem_kinds import PROBLEMS

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE: Final = "<!-- Written by `scripts/reference.py`. Do not edit. -->"

CLI_HEAD: Final = f"""\
# Command line

{NOTICE}

`gateway COMMAND --help` says what is said here. Commands that print data take `--json`. Data goes
to standard output; progress, logs and errors go to standard error, and errors are two lines:
`error: …` and, where something can be done, `fix: …`.

| exit code | meaning |
|---|---|
| 0 | done; the answer is yes |
| 1 | the answer is no: findings, a stale file, a refused call, something misconfigured |
| 2 | wrong usage, or something that the command needs is missing or broken |
| 130 | stopped from the keyboard |

Completion: `gateway completion bash`, `zsh` or `fish` prints a script for that shell.
"""

ERRORS_HEAD: Final = f"""\
# Errors

{NOTICE}

A failed call answers with a problem (RFC 9457): on REST as the body, `application/problem+json`; on
MCP as the text of a tool result with `isError: true`, and as an object under
`_meta["contract-gateway/problem"]`. An unknown tool is a JSON-RPC error on MCP. `code` is for
programs and stable; `request_id` finds the call in the gateway's log and audit; `errors` holds JSON
Pointers into the arguments. No problem ever repeats a value that was sent.

`type` is `/problems/<slug>`; the gateway answers at that path with the explanation given here.
"""

CLASSES_HEAD: Final = """
## Classes

The classes of `gateway/errors.py`, for handlers and for who reads the log. `stage` is the step of
the call that failed: the word in the audit record. `ToolFailed` answers with the status that the
tool's contract declares. The errors of operators (`OperatorError` and below) end a command with
exit code 2; callers do not see them.

| class | stage | retryable | problem |
|---|---|---|---|
"""

RULES_HEAD: Final = f"""\
# Lint rules

{NOTICE}

What `gateway lint` checks, and `gateway generate` refuses. A `note` tells and refuses nothing.
`gateway lint --rules` prints the same table.

| rule | severity | meaning | mend it by |
|---|---|---|---|
"""

SETTINGS_HEAD: Final = f"""\
# Settings

{NOTICE}

A setting is a `GATEWAY_*` variable, a key of `gateway.toml`, or a flag of the command line, in
rising order: where several say something, the flag wins over the file and the file over the
variable. An empty variable counts as not set. `gateway config` prints every setting with its
value and where it came from; secrets are masked. A value that is out of range or of the wrong
type stops the gateway with one line that names the setting; so does an unknown key in
`gateway.toml`. `gateway doctor` reports `GATEWAY_*` variables that nothing reads.

`gateway.toml` is read from the working folder, or from where `GATEWAY_CONFIG` or `--config` says.
Relative paths are relative to the working folder. Any secret can be given as a file instead: add
`_FILE` to the variable or `_file` to the key and name the file.

## The gateway

| key | variable | must be | default | meaning |
|---|---|---|---|---|
"""
MAX_PATTERN: Final = 60
"""Longer ones tell nobody anything."""
BAR: Final = "\\|"
"""A bar that does not end the cell of a table."""
UPSTREAMS_HEAD: Final = """
## Upstreams

Without `backend`, an upstream is a mock when none of its credentials is set or when they start
with `mock_`, else it is live; an upstream with a workspace is the workspace instead of a mock.
Where there are several ways to get an access token, the credentials of one are enough. Some
credentials without the others, a missing address or setting, or real credentials beside `mock_`
ones are refused: `gateway doctor` says which, and `gateway serve` does not start. `http://` is
accepted for this machine alone unless `allow_plain_http` is set.
"""
SOURCES_HEAD: Final = """
## Webhooks

A profile without secrets is closed, and a source without an open profile does not exist for
senders. Where the sender's upstream is a mock and no secret of the source is set, one is made for
each profile at the first start, in `webhook-secrets` in the data folder. A secret that is too short
or of another form is refused: `gateway doctor` says which, and `gateway serve` does not start. An
empty list of networks in `gateway.toml` admits nobody. Behind a proxy, `trusted_proxies` must name
it, or every message comes from the proxy.
"""


def main() -> int:
    """Exit 0 when the pages are (now) right, 1 when `--check` finds one that is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="look only: exit 1 when one is stale")
    is_check = parser.parse_args().check
    stale = [name for name, render in PAGES.items() if _read(name) != render()]
    for name in stale:
        if is_check:
            print(f"docs/reference/{name} is stale\nfix: scripts/reference.py", file=sys.stderr)
        else:
            (FOLDER / name).write_text(PAGES[name](), "utf-8", newline="\n")
            print(f"docs/reference/{name} written")
    return 1 if stale and is_check else 0


def _read(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text("utf-8") if path.is_file() else None


def render_cli() -> str:
    """Every command with its usage, options and example."""
    context = click.Context(cli, info_name="gateway")
    sections: list[str] = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if command is not None:
            sections.extend(_command_sections(command, context, name, level=2))
    return CLI_HEAD + "".join(sections)


def _command_sections(
    command: click.Command, parent: click.Context, name: str, level: int
) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"\n{'#' * level} {context.command_path}\n\n{_prose(command.help)}\n"
    yield f"\n```text\n{usage}\n```\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        yield "\n| option | meaning |\n|---|---|\n" + "".join(map(_option_row, options))
    if command.epilog:
        yield f"\n```shell\n{command.epilog.removeprefix('Example: ')}\n```\n"
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            yield from _command_sections(child, context, child_name, level + 1)


def _option_row(option: click.Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))
    default = f" [default: {option.default}]" if option.show_default else ""
    return f"| {flags} | {_prose(option.help).replace('|', BAR)}{default} |\n"


def _prose(text: str | None) -> str:
    """Click's text as a paragraph each."""
    paragraphs = (text or "").replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def render_errors() -> str:
    """Every kind of problem, by status."""
    kinds = {kind.slug: kind for kind in PROBLEMS.values()}
    rows = (
        f"| {kind.status} | `{kind.code}` | `{kind.slug}` | {kind.title} | {kind.advice} |\n"
        for kind in sorted(kinds.values(), key=lambda kind: (kind.status, kind.slug))
    )
    head = "\n| status | code | slug | title | what to do |\n|---|---|---|---|---|\n"
    return ERRORS_HEAD + head + "".join(rows) + _classes()


def _classes() -> str:
    """Every class of the error tree, with its kind: its own, or its nearest parent's."""
    rows = (
        f"| `{error.__name__}` | {error.stage} | {'yes' if error.is_retryable else 'no'} "
        f"| `{next(PROBLEMS[cls] for cls in error.__mro__ if cls in PROBLEMS).slug}` |\n"
        for error in sorted(_tree(GatewayError), key=lambda error: error.__name__)
    )
    return CLASSES_HEAD + "".join(rows)


def _tree(error: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield error
    for child in error.__subclasses__():
        yield from _tree(child)


def render_rules() -> str:
    """Every lint rule."""
    rows = (
        f"| `{rule.id}` | {rule.severity.value} | {rule.meaning} | {rule.fix} |\n"
        for rule in sorted(RULES, key=lambda rule: rule.id)
    )
    return RULES_HEAD + "".join(rows)


def render_settings() -> str:
    """Every setting of the gateway, of each upstream, and of each source of webhooks."""
    catalogue = open_catalogue("generated")
    upstreams = sorted(catalogue.upstreams.values(), key=lambda each: each.name)
    sources = sorted(catalogue.sources, key=lambda each: each.provider)
    return "".join(
        (
            SETTINGS_HEAD,
            *map(_setting_row, SETTINGS.values()),
            UPSTREAMS_HEAD,
            *(_section(upstream.title, _upstream_rows(upstream)) for upstream in upstreams),
            SOURCES_HEAD,
            *(_section(source.provider, _source_rows(source)) for source in sources),
        )
    )


Row: TypeAlias = tuple[Name, str, str, str]
"""Name, what a value must be, default, meaning."""


def _section(title: str, rows: Iterable[Row]) -> str:
    table = "".join(
        f"| `{name}` | `{name.variable}` | {must_be} | {default and f'`{default}`'} | {meaning} |\n"
        for name, must_be, default, meaning in rows
    )
    head = "| key | variable | must be | default | meaning |\n|---|---|---|---|---|\n"
    return f"\n### {title}\n\n{head}{table}"


def _source_rows(source: WebhookSource) -> Iterator[Row]:
    forms = {
        StandardSignature: "`whsec_` and base64 of at least 24 bytes",
        HmacSignature: "at least 24 bytes",
        BasicCredentials: "`<user>:<password>`, the password of at least 16 characters",
    }
    for profile in source.profiles:
        meaning = f"Secret: opens the profile `{profile.name}`; two during a rotation, by a comma."
        name = secrets_name(source.provider, profile.name)
        yield name, forms[type(profile.proof)], "", meaning
    allow = webhook_name(source.provider, "allow")
    yield allow, "networks, separated by commas", "", "Where messages may come from."
    for plain in source.settings:
        is_readable = len(plain.pattern) <= MAX_PATTERN
        pattern = f"`{plain.pattern.replace('|', BAR)}`" if is_readable else "as its contract says"
        name = webhook_name(source.provider, plain.name)
        yield name, pattern, plain.default, plain.description


def _upstream_rows(upstream: Upstream) -> Iterator[Row]:
    own = partial(upstream_name, upstream.name)
    choices = "live, mock or workspace" if upstream.has_workspace else "live or mock"
    yield backend_name(upstream.name), choices, "", "Backend to use."
    yield own("base_url"), "an https URL", upstream.base_url or "", "Where it is."
    if upstream.tokens:
        yield own("token_url"), "an https URL", upstream.tokens[0].url, "Where it issues tokens."
    for plain in upstream.settings:
        yield (
            own(plain.name),
            f"`{plain.pattern.replace('|', BAR)}`",
            plain.default or "",
            plain.description,
        )
    for rule in upstream.credentials:
        must_be = "a JSON key file" if rule.kind == "json" else "printable ASCII"
        need = "" if rule.is_required else " Optional." if not upstream.tokens else ""
        yield own(rule.name), must_be, "", f"Secret: {rule.description}{need}"


def _setting_row(setting: Setting) -> str:
    default = f"`{setting.default_shown}`" if setting.default_shown else ""
    return (
        f"| `{setting.key}` | `{setting.name.variable}` | {setting.rule} | {default} "
        f"| {setting.description} |\n"
    )


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "cli.md": render_cli,
    "errors.md": render_errors,
    "lint-rules.md": render_rules,
    "settings.md": render_settings,
}


if __name__ == "__main__":
    sys.exit(main())
