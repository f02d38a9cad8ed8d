#!/usr/bin/env python3
"""Write the reference pages from the code: settings, commands, errors, rules of the lint and of
`gateway diff`, client profiles.

The build of the documentation runs it first; the pages are in no commit. The pages of tools are
served by the gateway.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

import click

from gateway.authoring.contracts.finding import Severity
from gateway.authoring.diff.rules import POLICY
from gateway.authoring.diff.rules import RULES as CHANGES
from gateway.authoring.lint import RULES, Rule
from gateway.catalogue import open_catalogue
from gateway.cli.commands import COMMANDS, cli
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.errors import GatewayError
from gateway.profiles.clients import PROFILES, ClientProfile, rules_of_all
from gateway.settings.declared import SETTINGS, Setting
from gateway.settings.sources import Name, backend_name, upstream_name, webhook_name
from gateway.settings.webhooks import secrets_name
from gateway.transports.http.problem_kinds import PROBLEMS

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"

NOTICE: Final = "<!-- Written by `scripts/reference.py`. Do not edit. -->"
BAR: Final = "\\|"
"""An escaped bar, which does not end a table cell."""

CLI_HEAD: Final = f"""\
# Command line

{NOTICE}

`gateway COMMAND --help` prints the same text. Data goes to standard output; progress, logs and
errors go to standard error. An error is two lines: `error: …` and, if there is a fix, `fix: …`.

An option that has the name of a setting is that [setting](settings.md) for one command:
`--audit-days` is `audit_days`. `--config` names the settings file, in place of `GATEWAY_CONFIG` and
`gateway.toml`. `--json` prints JSON for programs.

| exit code | meaning |
|---|---|
| 0 | done, with a positive result |
| 1 | done, with a negative result: findings, a stale file, a refused call, a wrong configuration |
| 2 | wrong usage, or a missing or broken requirement of the command |
| 130 | interrupted from the keyboard |

A reader of the output that leaves early, such as `head`, does not change the exit code. A key or a
secret that could not be shown is withdrawn, and the exit code is 2.

Completion: `gateway completion bash`, `zsh` or `fish` prints a script for that shell.

| option of several commands | meaning |
|---|---|
{{shared}}"""

SHARED: Final = 10
"""An option that so many commands explain alike is explained once."""

ERRORS_HEAD: Final = f"""\
# Errors

{NOTICE}

A failed call answers with a problem (RFC 9457): on REST as the body, `application/problem+json`; on
MCP as the text of a tool result with `isError: true`, and as an object under
`_meta["contract-gateway/problem"]`. An unknown tool is a JSON-RPC error on MCP. `code` is for
programs and stable; `request_id` finds the call in the gateway's log and audit; `errors` holds JSON
Pointers into the arguments. `upstream` holds what the system behind the tool said when it refused
the request: its texts are not the gateway's, and may repeat what was sent, but no sensitive
argument and no credential.

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

What `gateway lint` checks, and `gateway generate` refuses. A *note* refuses nothing. A finding has
its fix beside it, and `gateway lint --rules` prints each rule with its fix.
"""

CHANGES_HEAD: Final = f"""\
# Rules of changes

{NOTICE}

What `gateway diff` calls a change between two versions of contracts, and why it matters;
`gateway diff --rules` prints the same. A rule with an asterisk is one of policy: no schema can
prove or refute it, so a team decides. The others have their severity where no proof shows that the
change is safe. The level is the first rung of the ladder `wire`, `api`, `files` that has
the severity: below it, the change is information.

| rule | level | severity | because |
|---|---|---|---|
"""

PROFILES_HEAD: Final = f"""\
# Client profiles

{NOTICE}

What clients refuse in lists of tools, by public reports. A client gets the schemas and names of its
profile ([](../author/lists.md)). `gateway tools --profile NAME` prints what is
refused of your tools.

| profile | clients | names that begin with | name of a tool | tools | sources |
|---|---|---|---|---|---|
"""

PROFILE_RULES_HEAD: Final = """
## Rules

What is true for each schema that the clients accept.

| rule | meaning | profiles |
|---|---|---|
"""

PROFILE_LIMITS_HEAD: Final = """
## Limits of a schema

| profile | levels | properties | values of `enum` |
|---|---|---|---|
"""

MAX_PATTERN: Final = 60
"""The maximum length of a pattern on the page."""

SETTINGS_HEAD: Final = f"""\
# Settings

{NOTICE}

A setting is a `GATEWAY_*` variable, a key of `gateway.toml`, or a flag of the command line. If
several are set, the flag overrides the file, and the file overrides the variable. An empty variable
counts as not set. `gateway config` prints every setting with its value and its origin; secrets are
masked. A value that is out of range or of the wrong type stops the gateway with an error that names
the setting, and so does an unknown key in `gateway.toml`. `GATEWAY_*` variables that nothing reads
are ignored: `gateway serve`, `worker`, `mcp` and `run` log a warning for each, and `gateway doctor`
reports them.

`gateway.toml` is read from the working folder, or from the path in `GATEWAY_CONFIG` or `--config`.
Relative paths are relative to the working folder. Any secret can also be in a file: add `_FILE` to
the variable or `_file` to the key, and set it to the path of the file.

## The gateway

| key | variable | must be | default | meaning |
|---|---|---|---|---|
"""

UPSTREAMS_HEAD: Final = """
## Upstreams

Without `backend`, an upstream is a mock if none of its credentials is set, or if they start with
`mock_`. Else it is live. If the upstream has a workspace, the workspace is used instead of a mock.
If there are several ways to get an access token, the credentials for one of them are enough. The
gateway does not start if only some of the needed credentials are set, if an address or a setting is
missing, or if only some credentials start with `mock_`; `gateway doctor` names the cause. `http://`
is accepted only for this machine, unless `allow_plain_http` is set.
"""

SOURCES_HEAD: Final = """
## Webhooks

A profile without secrets is closed. For senders, a source without an open profile does not exist.
If no secret of the source is set and the sender's upstream is a mock (for a source without an
upstream: if all upstreams are), the first start creates a secret for each profile, in
`webhook-secrets` in the data folder. With a secret that is too short or
has a wrong form, the gateway does not start; `gateway doctor` names it. An empty list of networks
in `gateway.toml` accepts no messages. Name a proxy in `trusted_proxies`; otherwise, all messages
come from the address of the proxy.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="default: %(default)s")
    folder = parser.parse_args().folder
    for name, render in PAGES.items():
        page, text = folder / name, render()
        # A page that is as before is not built again.
        if not page.is_file() or page.read_text("utf-8") != text:
            page.write_text(text, "utf-8", newline="\n")


def render_cli() -> str:
    """Every command with its usage, options and example."""
    context = click.Context(cli, info_name="gateway")
    found = ((name, cli.get_command(context, name)) for name in COMMANDS)
    commands = [each for name, known in found if known for each in _tree_of(known, context, name)]
    counted = Counter(row for command, _ in commands for row in _own_rows(command).values())
    shared = {row for row, number in counted.items() if number >= SHARED}
    head = CLI_HEAD.format(shared="".join(sorted(shared)))
    return head + "".join(part for each in commands for part in _command_section(*each, shared))


def _tree_of(
    command: click.Command, parent: click.Context, name: str
) -> Iterator[tuple[click.Command, click.Context]]:
    """The command and those below it, each with its context."""
    context = click.Context(command, info_name=name, parent=parent)
    yield command, context
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            yield from _tree_of(child, context, child_name)


def _command_section(
    command: click.Command, context: click.Context, shared: Set[str]
) -> Iterator[str]:
    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield f"\n{'#' * len(path.split())} {path}\n\n{_prose(command.help)}\n"
    yield f"\n```text\n{usage}\n```\n"
    rows = {flags: row for flags, row in _own_rows(command).items() if row not in shared}
    if rows:
        yield "\n| option | meaning |\n|---|---|\n" + "".join(rows.values())
    if others := ", ".join(flags for flags in map(_flags, _options(command)) if flags not in rows):
        yield f"\n{'Also' if rows else 'Options:'} {others}.\n"
    if command.epilog:
        yield f"\n```shell\n{command.epilog.removeprefix('Example: ')}\n```\n"


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (option for option in command.params if isinstance(option, click.Option))


def _own_rows(command: click.Command) -> dict[str, str]:
    """The rows of the options that no other page explains, by their flags."""
    own = (option for option in _options(command) if not _is_common(option))
    return {_flags(option): _option_row(option) for option in own}


def _is_common(option: click.Option) -> bool:
    """Whether the head of the page or the page of the settings says all of it."""
    setting = SETTINGS.get(option.name or "")
    says_more = setting is None or not (option.help or "").startswith(setting.description)
    return option.name in {"config", "as_json"} or not says_more


def _flags(option: click.Option) -> str:
    return ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))


def _option_row(option: click.Option) -> str:
    default = f" [default: {option.default}]" if option.show_default else ""
    return f"| {_flags(option)} | {_prose(option.help).replace('|', BAR)}{default} |\n"


def _prose(text: str | None) -> str:
    """The text of click, with one line per paragraph."""
    paragraphs = (text or "").replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def render_errors() -> str:
    """All problem types, by status."""
    kinds = {kind.slug: kind for kind in PROBLEMS.values()}
    rows = (
        f"| {kind.status} | `{kind.code}` | `{kind.slug}` | {kind.title} | {kind.advice} |\n"
        for kind in sorted(kinds.values(), key=lambda kind: (kind.status, kind.slug))
    )
    head = "\n| status | code | slug | title | what to do |\n|---|---|---|---|---|\n"
    return ERRORS_HEAD + head + "".join(rows) + _classes()


def _classes() -> str:
    """All error classes, with their problem type or that of the nearest parent class."""
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
    """Every lint rule, by its family: the word before the slash."""
    known = sorted(RULES, key=lambda rule: rule.id)
    return RULES_HEAD + "".join(
        f"\n## {family}\n\n| rule | meaning |\n|---|---|\n{''.join(map(_rule_row, rules))}"
        for family, rules in groupby(known, key=lambda rule: rule.id.partition("/")[0])
    )


def _rule_row(rule: Rule) -> str:
    severity = "" if rule.severity is Severity.ERROR else f" *({rule.severity.value})*"
    return f"| `{rule.id}`{severity} | {rule.meaning} |\n"


def render_changes() -> str:
    """Every rule of changes."""
    policy = {rule.id for rule in POLICY}
    rows = (
        f"| `{rule.id}`{' *' if rule.id in policy else ''} | `{rule.level}` | {rule.severity}"
        f" | {rule.reason} |\n"
        for rule in sorted(CHANGES.values(), key=lambda rule: rule.id)
    )
    return CHANGES_HEAD + "".join(rows)


def render_profiles() -> str:
    """Every client profile, its rules and its limits."""
    rows = (
        f"| `{each.name}` | {each.title} | {_codes(each.clients)} | {_name_limit(each)} "
        f"| {each.max_tools or ''} | {', '.join(each.sources)} |\n"
        for each in PROFILES.values()
    )
    rules = (
        f"| `{rule.id}` | {rule.meaning} | {_codes(_with_rule(rule.id))} |\n"
        for rule in rules_of_all()
    )
    limits = (
        f"| `{each.name}` | {each.limits.depth} | {each.limits.properties:,} "
        f"| {each.limits.enum_values:,} |\n"
        for each in PROFILES.values()
        if each.limits is not None
    )
    return "".join((PROFILES_HEAD, *rows, PROFILE_RULES_HEAD, *rules, PROFILE_LIMITS_HEAD, *limits))


def _name_limit(profile: ClientProfile) -> str:
    if profile.max_name is None:
        return ""
    with_prefix = f" with `{profile.prefix.format(server='<server>')}`" if profile.prefix else ""
    return f"{profile.max_name}{with_prefix}"


def _with_rule(rule: str) -> Iterator[str]:
    for each in PROFILES.values():
        if rule in {known.id for known in (*each.rules, *each.output_rules)}:
            yield each.name


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def render_settings() -> str:
    """Every setting of the gateway, of each upstream, and of each source of webhooks."""
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
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
"""Name, valid values, default, meaning."""


def _section(title: str, rows: Iterable[Row]) -> str:
    table = "".join(
        f"| `{name}` | `{name.variable}` | {must_be} | {default and f'`{default}`'} | {meaning} |\n"
        for name, must_be, default, meaning in rows
    )
    head = "| key | variable | must be | default | meaning |\n|---|---|---|---|---|\n"
    return f"\n### {title}\n\n{head}{table}"


def _source_rows(source: WebhookSource) -> Iterator[Row]:
    for profile in source.profiles:
        meaning = f"Secret of the profile `{profile.name}`; two with a comma during a rotation."
        name = secrets_name(source.provider, profile.name)
        yield name, profile.authentication.secret_form, "", meaning
    allow = webhook_name(source.provider, "allow")
    yield allow, "networks, separated by commas", "", "Networks that may send messages."
    own, one = source.rate_of_source, source.rate_of_address
    rates = (
        ("rate", own, "Authentic messages per second, after ten times as many at once."),
        ("address_rate", one, "Messages of one address per second, after ten times as many."),
    )
    for key, rate, meaning in rates:
        name = webhook_name(source.provider, key)
        yield name, "a whole number from 1 to 1000000", f"{rate.per_second:g}", meaning
    for plain in source.settings:
        is_readable = len(plain.pattern) <= MAX_PATTERN
        pattern = f"`{plain.pattern.replace('|', BAR)}`" if is_readable else "as its contract says"
        name = webhook_name(source.provider, plain.name)
        yield name, pattern, plain.default, plain.description


def _upstream_rows(upstream: Upstream) -> Iterator[Row]:
    own = partial(upstream_name, upstream.name)
    choices = "live, mock or workspace" if upstream.has_workspace else "live or mock"
    yield backend_name(upstream.name), choices, "", "Backend to use."
    yield own("base_url"), "an https URL", upstream.base_url or "", "Base URL."
    if upstream.tokens:
        yield own("token_url"), "an https URL", upstream.tokens[0].url, "URL of its tokens."
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
    default = f"`{setting.default_text}`" if setting.default_text else ""
    return (
        f"| `{setting.key}` | `{setting.name.variable}` | {setting.rule} | {default} "
        f"| {setting.description} |\n"
    )


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "change-rules.md": render_changes,
    "cli.md": render_cli,
    "client-profiles.md": render_profiles,
    "errors.md": render_errors,
    "lint-rules.md": render_rules,
    "settings.md": render_settings,
}


if __name__ == "__main__":
    main()
