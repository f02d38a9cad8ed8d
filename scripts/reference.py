#!/usr/bin/env python3
"""Write the reference pages from the code: settings, commands, errors, lint rules,
client profiles.

The pages are committed, so that they can be read without a build. `--check` compares and writes
nothing. The pages of the tools come from `gateway generate`.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click
from reference_settings import BAR, NOTICE, render_settings

from gateway.cli.commands import COMMANDS, cli
from gateway.errors import GatewayError
from gateway.lint import RULES
from gateway.profiles.clients import PROFILES, ClientProfile, rules_of_all
from gateway.settings.declared import SETTINGS
from gateway.transports.http.problem_kinds import PROBLEMS

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"

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
"""

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

What `gateway lint` checks, and `gateway generate` refuses. A `note` refuses nothing.
`gateway lint --rules` prints the same table.

| rule | severity | meaning | fix |
|---|---|---|---|
"""


PROFILES_HEAD: Final = f"""\
# Client profiles

{NOTICE}

What clients refuse in lists of tools, by public reports. A client gets the schemas and names of its
profile ([](../explanation/client-profiles.md)). `gateway tools --profile NAME` prints what is
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


def main() -> int:
    """Exit 0 if the pages are up to date, 1 if `--check` finds a stale one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a page is stale"
    )
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
    own = [option for option in options if not _is_common(option)]
    if own:
        yield "\n| option | meaning |\n|---|---|\n" + "".join(map(_option_row, own))
    if common := ", ".join(_flags(option) for option in options if _is_common(option)):
        yield f"\n{'Also' if own else 'Options:'} {common}.\n"
    if command.epilog:
        yield f"\n```shell\n{command.epilog.removeprefix('Example: ')}\n```\n"
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            yield from _command_sections(child, context, child_name, level + 1)


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
    """Every lint rule."""
    rows = (
        f"| `{rule.id}` | {rule.severity.value} | {rule.meaning} | {rule.fix} |\n"
        for rule in sorted(RULES, key=lambda rule: rule.id)
    )
    return RULES_HEAD + "".join(rows)


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


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "cli.md": render_cli,
    "client-profiles.md": render_profiles,
    "errors.md": render_errors,
    "lint-rules.md": render_rules,
    "settings.md": render_settings,
}


if __name__ == "__main__":
    sys.exit(main())
