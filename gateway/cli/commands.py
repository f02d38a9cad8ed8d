"""The commands by name. The module of a command is imported only when the command is used."""

import importlib
from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Final

import click
from click.shell_completion import CompletionItem
from msgspec import Struct


class CommandEntry(Struct, frozen=True):
    """The module of a command, and its line in the help."""

    module: str
    summary: str
    name: str = "command"
    """The name of the command in its module, which may hold several."""


COMMANDS: Final[Mapping[str, CommandEntry]] = MappingProxyType(
    {
        "init": CommandEntry(
            "gateway.cli.authoring.add", "Make a project with one tool.", "init_command"
        ),
        "add": CommandEntry("gateway.cli.authoring.add", "Add ready connectors to the project."),
        "new": CommandEntry(
            "gateway.cli.authoring.new",
            "Draft a contract: a connector, a tool, a webhook, an event.",
        ),
        "demo": CommandEntry(
            "gateway.cli.serving.serve",
            "Serve the ready connectors, to try them without a project.",
            "demo_command",
        ),
        "serve": CommandEntry("gateway.cli.serving.serve", "Serve the tools over MCP and REST."),
        "worker": CommandEntry(
            "gateway.cli.serving.serve",
            "Process webhooks and deliver events, next to servers.",
            "worker_command",
        ),
        "reload": CommandEntry(
            "gateway.cli.serving.reload", "Let a running gateway serve what has changed."
        ),
        "run": CommandEntry(
            "gateway.cli.serving.run", "Serve over the transport in MCP_TRANSPORT."
        ),
        "mcp": CommandEntry("gateway.cli.serving.mcp", "Serve MCP on stdin and stdout."),
        "generate": CommandEntry(
            "gateway.cli.authoring.generate", "Write generated code from the contracts."
        ),
        "import": CommandEntry(
            "gateway.cli.importing.command", "Serve the operations of an OpenAPI document."
        ),
        "eject": CommandEntry(
            "gateway.cli.importing.eject",
            "Turn tools of an import into contract files.",
        ),
        "lint": CommandEntry("gateway.cli.authoring.lint", "Check the contracts."),
        "diff": CommandEntry(
            "gateway.cli.authoring.diff", "Say what a change of contracts breaks, with proof."
        ),
        "release": CommandEntry(
            "gateway.cli.authoring.release", "Give changed contracts the versions they need."
        ),
        "mock": CommandEntry(
            "gateway.cli.authoring.mock", "Serve the mock of an upstream over HTTP."
        ),
        "tools": CommandEntry("gateway.cli.authoring.tools", "List the tools, or show one."),
        "call": CommandEntry(
            "gateway.cli.authoring.call", "Call a tool, here or at a remote gateway."
        ),
        "describe": CommandEntry(
            "gateway.cli.describe",
            "Describe an MCP server to registries, hosts and clients.",
        ),
        "jobs": CommandEntry(
            "gateway.cli.jobs", "List, follow and cancel your jobs at a running gateway."
        ),
        "verify": CommandEntry(
            "gateway.testing.verify",
            "Call every tool over every transport and compare the results.",
        ),
        "test": CommandEntry("gateway.testing.test", "Run the contract suite."),
        "vectors": CommandEntry(
            "gateway.testing.vectors_command",
            "Make the test vectors of contracts, and count what they tell.",
        ),
        "webhooks": CommandEntry(
            "gateway.cli.operating.webhooks",
            "List and replay webhooks, revalidate quarantined ones.",
        ),
        "dead-letters": CommandEntry(
            "gateway.cli.operating.webhooks",
            "List dead letters, and run them again.",
            "dead_letters_command",
        ),
        "endpoints": CommandEntry(
            "gateway.cli.operating.events",
            "Manage the URLs that events are delivered to.",
            "endpoints_command",
        ),
        "events": CommandEntry("gateway.cli.operating.events", "List and follow the events."),
        "limits": CommandEntry(
            "gateway.cli.operating.audit",
            "Show what is used of the limits of tools and agents.",
            "limits_command",
        ),
        "top": CommandEntry(
            "gateway.cli.top", "Show what a running gateway does, live on the terminal."
        ),
        "backup": CommandEntry(
            "gateway.cli.operating.backup", "Write all state into one encrypted file."
        ),
        "restore": CommandEntry(
            "gateway.cli.operating.backup",
            "Restore a backup into an empty data folder.",
            "restore_command",
        ),
        "keys": CommandEntry("gateway.cli.serving.keys", "Create, list and revoke agent keys."),
        "audit": CommandEntry("gateway.cli.operating.audit", "Read the audit records of calls."),
        "access": CommandEntry(
            "gateway.cli.authoring.access", "Show which agent may call which tool."
        ),
        "config": CommandEntry(
            "gateway.cli.serving.config", "Print every setting and where it comes from."
        ),
        "doctor": CommandEntry(
            "gateway.cli.doctor", "Report what is misconfigured and how to fix it."
        ),
        "completion": CommandEntry(
            "gateway.cli.serving.config",
            "Print a shell's completion script.",
            "completion_command",
        ),
    }
)


class LazyGroup(click.Group):
    """Lists and completes the commands without importing them, so that `--help` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        found: click.Command = getattr(importlib.import_module(entry.module), entry.name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Example: gateway serve --port 8700\n\n"
        "Exit codes: 0 done, 1 findings or a refused call, 2 wrong usage or cannot run."
    ),
)
@click.version_option(version("contract-gateway"), prog_name="gateway")
def cli() -> None:
    """Serve MCP tools and REST routes from JSON Schema and OpenAPI contracts.

    Start with `gateway demo`, or with `gateway init` and then `gateway serve`.
    """
