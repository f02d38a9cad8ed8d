"""`gateway tools list --tokens`: what lists cost, by tool, mode and agent."""

import asyncio
from collections.abc import Sequence
from typing import Final, get_args

import click
from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.authorize import policy_of
from gateway.auth.principal import LOCAL_SUBJECT, Credentials, LocalIdentification, Principal
from gateway.calls.call import Call, Result
from gateway.catalogue import Catalogue, Entry
from gateway.cli.output import print_json, print_table
from gateway.contract.agent_view import ListMode
from gateway.publication.names import ShownNames
from gateway.publication.view import ToolView, Views, estimated_tokens
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.descriptions import ToolTexts
from gateway.transports.mcp.protocol import MODERN_VERSIONS, revision_of
from gateway.transports.mcp.tools import Tools

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
        _print(report)


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


def _print(report: TokenReport) -> None:
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
