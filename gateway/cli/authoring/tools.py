"""`gateway tools list` and `gateway tools show`: tools, what they cost, what clients refuse."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import click
from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.auth.authorize import policy_of
from gateway.auth.principal import LOCAL_SUBJECT, Credentials, LocalIdentification, Principal
from gateway.authoring.codegen.render.markdown import kind_of
from gateway.calls.call import Call, Result
from gateway.catalogue import Catalogue, Entry
from gateway.cli.options import WholeGroup, json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table
from gateway.cli.problems import FINDINGS, OK, plain, plain_lines
from gateway.cli.project import known_agent, known_connector, known_tool, open_project
from gateway.contract.agent_view import SERVER, ListMode
from gateway.contract.imported import HEADERS, ImportedOperation, ImportedReply
from gateway.encoding.shapes import Shapes
from gateway.profiles.clients import PROFILES, SOURCE, ClientProfile
from gateway.profiles.inlining import inlined
from gateway.profiles.refusals import (
    ClientRefusal,
    ShownTool,
    published_input,
    published_output,
    refusals,
    short_names,
)
from gateway.publication.listed import ListedTool, published
from gateway.publication.own_tools import Listable
from gateway.publication.view import ShownNames, ToolView, Views, estimated_tokens
from gateway.settings import Settings
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.descriptions import ToolTexts
from gateway.transports.mcp.protocol import MODERN_VERSIONS, revision_of
from gateway.transports.mcp.tools import Tools

# `gateway tools --profile`: what clients would refuse of the tools.


class ProfileReport(Struct, frozen=True, kw_only=True):
    """What the clients of one profile refuse."""

    profile: str
    tools: int
    unchanged: tuple[ClientRefusal, ...]
    """Of the contracts' own schemas and names."""
    shown: tuple[ClientRefusal, ...]
    """Of what the gateway shows them instead."""


def print_refusals(catalogue: Catalogue, name: str, server: str, *, as_json: bool) -> int:
    """Print what the clients of the profile `name` refuse. The exit code is 1 if they do.

    `server` is what users name the gateway in these clients.
    """
    report = client_report(catalogue.entries, PROFILES[name], server)
    if as_json:
        print_json(report)
    else:
        _print_refusals(report, PROFILES[name])
    return FINDINGS if report.shown else OK


def client_report(
    tools: Sequence[Listable], profile: ClientProfile, server: str = SERVER
) -> ProfileReport:
    """What the clients of `profile` refuse of `tools`. `server`: as in `print_refusals`."""

    def refused(shown_to: ClientProfile) -> tuple[ClientRefusal, ...]:
        return tuple(refusals(_shown_tools(tools, shown_to, server), profile, server))

    return ProfileReport(
        profile=profile.name,
        tools=len(tools),
        unchanged=refused(PROFILES[SOURCE]),
        shown=refused(profile),
    )


def _shown_tools(
    tools: Sequence[Listable], profile: ClientProfile, server: str
) -> Iterator[ShownTool]:
    """The tools as `profile` is shown them."""
    room = profile.room(server)
    names = (name for each in tools for name in (each.tool.name, *each.tool.aliases))
    shorter = {} if room is None else short_names(names, room)
    for each in tools:
        yield ShownTool(
            name=shorter.get(each.tool.name, each.tool.name),
            input_schema=published_input(each.listing.input_schema, profile),
            output_schema=published_output(each.listing.output_schema, profile),
        )


def _print_refusals(report: ProfileReport, profile: ClientProfile) -> None:
    click.echo(f"{profile.title}: {amount(report.tools, 'tool')}")
    before = Counter(each.rule for each in report.unchanged)
    after = Counter(each.rule for each in report.shown)
    print_table(
        ("rule", "unchanged", "as shown", "first place"),
        (
            (rule, f"{before[rule]:,}", f"{after[rule]:,}", _first(report, rule))
            for rule in sorted(before | after)
        ),
    )
    if not report.shown:
        click.echo("Nothing is refused of what these clients are shown.")
    for each in report.shown:
        click.echo(plain(f"{each.tool or 'list'}: {each.rule} {each.pointer}: {each.message}"))


def _first(report: ProfileReport, rule: str) -> str:
    found = next(each for each in (*report.unchanged, *report.shown) if each.rule == rule)
    return f"{found.tool or 'the list'} {found.pointer}"


# `gateway tools list --tokens`: what lists cost, by tool, mode and agent.

_NEWEST: Final = revision_of(MODERN_VERSIONS[-1])
_MODES: Final[tuple[ListMode, ...]] = get_args(ListMode)
_BETWEEN: Final = 1
"""The bytes of the comma after a tool."""


class ToolTokens(Struct, frozen=True, kw_only=True):
    """What a tool costs where it is listed."""

    operation: str
    mcp_name: str
    full: int
    slim: int


class AgentTokens(Struct, frozen=True, kw_only=True):
    """What the list of an agent costs in each mode."""

    agent: str
    list: ListMode
    """The mode that the agent has."""
    tools: int
    """The tools that it may call."""
    full: int
    slim: int
    search: int

    @property
    def listed(self) -> int:
        """What the list costs in the mode of the agent."""
        costs = {"full": self.full, "slim": self.slim, "search": self.search}
        return costs[self.list]


class TokenReport(Struct, frozen=True, kw_only=True):
    """Estimated tokens in the newest revision of the protocol."""

    tools: tuple[ToolTokens, ...]
    agents: tuple[AgentTokens, ...]


def print_tokens(
    catalogue: Catalogue,
    views: Views,
    entries: Sequence[Entry],
    *,
    agents: Sequence[str],
    connector: str | None,
    as_json: bool,
) -> None:
    """Print what `entries` cost, and the lists of `agents` at the endpoint of `connector`."""
    lists = _Lists(catalogue, views, connector)
    report = TokenReport(
        tools=tuple(lists.of_tool(entry) for entry in entries),
        agents=tuple(lists.of_agent(agent) for agent in agents),
    )
    if as_json:
        print_json(report)
    else:
        _print_costs(report)


def list_tokens(
    catalogue: Catalogue, views: Views, agent: str, connector: str | None = None
) -> AgentTokens:
    """What the list of `agent` costs at the endpoint of `connector`; None: of all connectors."""
    return _Lists(catalogue, views, connector).of_agent(agent)


class _Lists:
    """Makes the lists that the MCP endpoints would send."""

    def __init__(self, catalogue: Catalogue, views: Views, connector: str | None) -> None:
        self._views = views
        self._connector = connector
        self._texts = ToolTexts(ShownNames(catalogue, views.server_name))
        policy = policy_of(catalogue)
        # Lists need nobody's key, and no call is made.
        self._tools = Tools(_call_nothing, LocalIdentification(""), catalogue, policy, views)

    def of_tool(self, entry: Entry) -> ToolTokens:
        at = self._connector
        full, slim = (
            estimated_tokens(len(self._texts.text(entry, ToolView(mode), _NEWEST, at)) + _BETWEEN)
            for mode in ("full", "slim")
        )
        return ToolTokens(operation=entry.id, mcp_name=entry.tool.name, full=full, slim=slim)

    def of_agent(self, agent: str) -> AgentTokens:
        view = self._views.of(agent)
        caller = Caller(
            principal=Principal(subject=LOCAL_SUBJECT, agent=agent),
            credentials=Credentials(),
            transport="mcp",
            request_id="",
            connector=self._connector,
            view=view,
        )
        costs = {
            mode: self._cost(replace(caller, view=replace(view, mode=mode))) for mode in _MODES
        }
        return AgentTokens(
            agent=agent, list=view.mode, tools=len(self._tools.visible(caller)), **costs
        )

    def _cost(self, caller: Caller) -> int:
        texts = asyncio.run(self._tools.texts(caller, _NEWEST))
        return estimated_tokens(sum(len(text) + _BETWEEN for text in texts))


async def _call_nothing(
    call: Call,
    refusal: BaseException | None = None,  # noqa: ARG001 - the form of `Invoke`
    principal: Principal | None = None,  # noqa: ARG001 - the form of `Invoke`
) -> Result:
    raise AssertionError(f"a list calls nothing, and not {call.operation_id}")


def _print_costs(report: TokenReport) -> None:
    print_table(
        ("MCP name", "full", "slim"),
        ((each.mcp_name, f"{each.full:,}", f"{each.slim:,}") for each in report.tools),
    )
    click.echo()
    print_table(
        ("agent", "tools", *_MODES, "its mode", "its list"),
        (
            (
                each.agent,
                f"{each.tools:,}",
                *(f"{cost:,}" for cost in (each.full, each.slim, each.search)),
                each.list,
                f"{each.listed:,}",
            )
            for each in report.agents
        ),
    )
    click.echo("\nTokens, estimated as a fourth of the bytes of the list.")


# `gateway tools list` and `gateway tools show`.


class ShownListing(Struct, frozen=True, kw_only=True):
    """A tool as `tools/list` shows it, and its operation."""

    operation: str
    tool: ListedTool


def print_shown(
    names: ShownNames, entries: Sequence[Entry], view: ToolView, *, as_json: bool
) -> None:
    """Print `entries` as `view` shows them at the endpoint for all."""
    shown = list(_shown(names, entries, view))
    if as_json:
        print_json(shown)
        return
    unchanged = [published(entry.whole_listing, replace(view, profile=SOURCE)) for entry in entries]
    print_table(
        ("operation", "MCP name", "input schema"),
        (
            (each.operation, each.tool.name, _difference(each.tool, source))
            for each, source in zip(shown, unchanged, strict=True)
        ),
    )


def _shown(names: ShownNames, entries: Sequence[Entry], view: ToolView) -> Iterator[ShownListing]:
    for entry in entries:
        name = names.name(entry.tool, None, view.profile)
        tool = replace(published(entry.whole_listing, view), name=name)
        yield ShownListing(operation=entry.id, tool=tool)


def _difference(tool: ListedTool, source: ListedTool) -> str:
    return "as in the contract" if tool.input_schema == source.input_schema else "changed"


_FACTS: Final = (
    "operation",
    "title",
    "effect",
    "backend",
    "mcp_name",
    "route",
    "description",
    "timeout_seconds",
    "attempts",
    "cache_seconds",
    "stale_seconds",
)


_ONE_OF: Final = "choose --tokens or --profile, not both"
tokens_option = click.option(
    "--tokens",
    is_flag=True,
    help="Print the estimated tokens of the lists instead: of each tool, and for each agent in each"
    " list mode.",
)


@click.group(
    cls=WholeGroup,
    name="tools",
    invoke_without_command=True,
    epilog="Example: gateway tools --profile gemini",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="Print what clients of this profile refuse: of the schemas of the contracts, and of what"
    " they are shown instead. Exit code 1 if they refuse that.",
)
@tokens_option
@settings_options("package", "server_name")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    profile: str | None,
    tokens: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """List the tools, show one, or print what clients refuse. Without a command: list them."""
    if context.invoked_subcommand is not None:
        if profile is not None or tokens or as_json or any(flags.values()):
            name = context.invoked_subcommand
            raise click.UsageError(f"write the options of `gateway tools {name}` after {name}")
        return OK
    if profile is not None:
        if tokens:
            raise click.UsageError(_ONE_OF)
        settings = settings_of(flags)
        catalogue = open_project(settings)
        return print_refusals(catalogue, profile, settings.server_name, as_json=as_json)
    context.invoke(list_tools, tokens=tokens, as_json=as_json, **flags)
    return OK


@command.command(
    "list", epilog="Example: gateway tools list --agent flight_search --connector avinode"
)
@click.option("--agent", help="Only the tools that this agent may call.")
@click.option("--connector", help="Only the tools of this connector.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="Print the tools as clients of this profile are shown them, with --json all of it.",
)
@tokens_option
@settings_options("package", "server_name")
@json_option
def list_tools(
    *,
    agent: str | None,
    connector: str | None,
    profile: str | None,
    tokens: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """List the tools: operation id, effect, backend, title.

    The backend is live, mock, workspace, python (no upstream) or misconfigured.
    """
    if profile is not None and tokens:
        raise click.UsageError(_ONE_OF)
    settings = settings_of(flags)
    catalogue = open_project(settings)
    entries: Sequence[Entry] = catalogue.entries
    if agent is not None:
        caller = Principal(subject=LOCAL_SUBJECT, agent=known_agent(catalogue, agent))
        entries = [*policy_of(catalogue).visible(caller, catalogue)]
    if connector is not None:
        only = known_connector(catalogue, connector)
        entries = [entry for entry in entries if entry.operation.connector == only]
    if tokens:
        print_tokens(
            catalogue,
            _views(settings, catalogue),
            entries,
            agents=sorted(catalogue.grants) if agent is None else [agent],
            connector=connector,
            as_json=as_json,
        )
    elif profile is not None:
        views = Views(catalogue.views, settings.list_mode)
        view = ToolView(views.of(agent or "").mode, profile)
        names = ShownNames(catalogue, settings.server_name)
        print_shown(names, entries, view, as_json=as_json)
    else:
        _print_list(entries, _backends(settings, catalogue), as_json=as_json)


def _views(settings: Settings, catalogue: Catalogue) -> Views:
    mode, profile = settings.list_mode, settings.client_profile
    return Views(catalogue.views, mode, profile, server_name=settings.server_name)


def _print_list(
    entries: Sequence[Entry], backends: Mapping[str | None, str], *, as_json: bool
) -> None:
    if as_json:
        print_json([_summary(entry, backends) for entry in entries])
        return
    print_table(
        ("operation", "MCP name", "effect", "backend", "title"),
        (
            (
                entry.id,
                entry.tool.name,
                entry.operation.effect.value,
                backends[entry.operation.upstream],
                entry.operation.title,
            )
            for entry in entries
        ),
    )


@command.command("show", epilog="Example: gateway tools show avinode.search_airports")
@click.argument("tool")
@settings_options("package")
@json_option
def show_tool(*, tool: str, as_json: bool, **flags: Any) -> None:
    """Show TOOL, an operation id or an MCP name, with its schemas."""
    settings = settings_of(flags)
    catalogue = open_project(settings)
    entry = known_tool(catalogue, tool, settings.server_name)
    details = _summary(entry, _backends(settings, catalogue)) | {
        "description": entry.operation.description,
        "timeout_seconds": entry.operation.timeout_seconds,
        "attempts": entry.operation.attempts,
        "cache_seconds": entry.operation.cache_seconds,
        "stale_seconds": entry.operation.stale_seconds,
        "is_cache_public": entry.operation.is_cache_public,
        "escalation": entry.operation.escalation,
        "errors": entry.operation.errors,
        "input_schema": entry.listing.input_schema,
        "output_schema": entry.whole_listing.output_schema,
    }
    if as_json:
        print_json(details)
        return
    _print(details | {"attempts": entry.operation.attempts.max})
    if not entry.operation.is_imported:
        _print_members("result", details["output_schema"])
    else:
        imported = catalogue.imported[entry.operation.connector]
        stored = next(each for each in imported.operations if each.head.id == entry.id)
        click.echo("\nresult, by the reply")
        rows = _replies(stored.whole(), imported.definitions)
        print_table(("status", "media type", "result"), rows)
    click.echo("\nFor the complete schemas, add --json")


def _print(details: Mapping[str, Any]) -> None:
    """Print a tool as text. Only --json prints the complete schemas."""
    for name in _FACTS:
        click.echo(plain_lines(f"{name:15} {details[name]}"))
    for error in details["errors"]:
        click.echo(plain_lines(f"{'error':15} {error.status} {error.reason}: {error.title}"))
    _print_members("arguments", details["input_schema"])


def _print_members(title: str, schema: Mapping[str, Any]) -> None:
    click.echo(f"\n{title}")
    members = list(_members(schema))
    if members:
        print_table(("name", "type", "required", "description"), members)
    else:
        click.echo("none")


def _replies(
    operation: ImportedOperation, definitions: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Status, media type and result of each declared reply of success."""
    for each in operation.replies:
        if each.is_success:
            members = _result(each, Shapes(definitions))
            yield (
                each.status,
                each.media_type or "",
                f"{members}, {HEADERS}" if each.headers else members,
            )


def _result(reply: ImportedReply, shapes: Shapes) -> str:
    match reply.kind:
        case "json":
            kinds = sorted(shapes.types(reply.schema))
            declared = sorted(shapes.names(reply.schema).declared)
            return "result" if "object" not in kinds else ", ".join(declared) or "any members"
        case "binary":
            return "content_type, size, data"
        case "empty":
            return "no members"
        case "redirect":
            return "location"
        case kind:
            return kind


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    required = schema.get("required", ())
    if "$defs" in schema:
        schema = inlined(dict(schema))
    for name, member in schema.get("properties", {}).items():
        described = member.get("description", "")
        yield name, kind_of(member, marked=str), "yes" if name in required else "", described


def _backends(settings: Settings, catalogue: Catalogue) -> dict[str | None, str]:
    """The backend of each upstream, and of tools without an upstream."""
    found = map(settings.for_upstream, catalogue.upstreams.values())
    known: dict[str | None, str] = {None: "python"}
    for each in found:
        known[each.name] = "misconfigured" if each.problem else each.backend
    return known


def _summary(entry: Entry, backends: Mapping[str | None, str]) -> dict[str, Any]:
    return {
        "operation": entry.id,
        "title": entry.operation.title,
        "effect": entry.operation.effect.value,
        "backend": backends[entry.operation.upstream],
        "mcp_name": entry.tool.name,
        "route": entry.operation.route,
    }
