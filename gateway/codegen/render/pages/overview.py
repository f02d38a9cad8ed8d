"""The index page of the reference: all tools by connector and by agent."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from gateway.codegen.ir import Contracts, ToolContract
from gateway.codegen.render.artifact import Artifact, joint_source
from gateway.codegen.render.pages.events import EVENTS_PAGE, ROWS_PAGE
from gateway.codegen.render.pages.markdown import code, inline, joined, page_header, prose, table
from gateway.codegen.render.pages.states import STATES_PAGE
from gateway.contract.operation import Effect

_SOME: Final = " (some arguments)"


def index(contracts: Contracts) -> Artifact:
    """`index.md`."""
    tools, grants = contracts.tools, contracts.policies.grants
    facts = (f"{tool.id} {tool.title} {tool.effect}" for tool in tools)
    sources = [contracts.policies.source, *(each.source for each in contracts.webhooks)]
    source = joint_source("tools/", sources, *facts)
    connectors = contracts.by_connector()
    counted = (_count(tools, "tool"), _count(connectors, "connector"), _count(grants, "agent"))
    parts = [
        page_header(source),
        "# Tools",
        "{} of {}, for {}.".format(*counted),
        "## By connector",
        *_by_connector(contracts),
        "## By agent",
        "An agent sees the tools that `schemas/policies/agents.yaml` grants it, and no others.",
        table(("Agent", "Tools", "Which"), _by_agent(contracts)),
    ]
    parts += _of_events(contracts)
    pages = "\n".join([*(f"{tool.connector}/{tool.tool}" for tool in tools), *_pages(contracts)])
    parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return Artifact("docs", PurePosixPath("index.md"), joined(parts))


def _of_events(contracts: Contracts) -> Iterator[str]:
    """Links to the pages of webhooks, events and entities."""
    if contracts.webhooks:
        yield "## By event"
        rows = (
            (f"[`POST {each.route}`](webhooks/{each.provider}.md)", inline(each.description))
            for each in contracts.webhooks
        )
        yield table((_count(contracts.webhooks, "webhook"), "What it takes"), rows)
    counted = []
    if contracts.events:
        counted.append(f"[{_count(contracts.events, 'type')} of events]({EVENTS_PAGE}.md)")
    if contracts.entities:
        counted.append(f"[{_count(contracts.entities, 'kind')} of rows]({ROWS_PAGE}.md)")
    if any(each.entity.rules.states for each in contracts.entities):
        counted.append(f"[their state machines]({STATES_PAGE}.md)")
    if counted:
        yield f"There are {' and '.join(counted)}."


def _pages(contracts: Contracts) -> Iterator[str]:
    yield from (f"webhooks/{each.provider}" for each in contracts.webhooks)
    yield from [EVENTS_PAGE] if contracts.events else []
    yield from [ROWS_PAGE] if contracts.entities else []
    yield from [STATES_PAGE] if any(each.entity.rules.states for each in contracts.entities) else []


def _by_connector(contracts: Contracts) -> Iterator[str]:
    tags = {tag["name"]: tag for tag in contracts.index.document.get("tags", ())}
    for connector, tools in contracts.by_connector().items():
        yield f"### {connector}"
        about = tags.get(connector, {}).get("description")
        if about:
            yield prose(about)
        rows = (
            (_link(tool, tool.tool), tool.effect.value, inline(tool.description)) for tool in tools
        )
        yield table((_count(tools, "tool"), "Effect", "What it does"), rows)


def _by_agent(contracts: Contracts) -> Iterator[tuple[str, ...]]:
    tools = {tool.id: tool for tool in contracts.tools}
    harmless = tuple(tool.id for tool in contracts.tools if tool.effect is not Effect.DESTROY)
    for agent, granted in contracts.policies.granted.items():
        ids = tuple(each for each in granted.ids if each in tools)
        scopes = [f"`{each}`" for each in granted.ids if each not in tools]
        some = granted.conditional
        which = [f"{_link(tools[each], each)}{_SOME if each in some else ''}" for each in ids]
        if ids == harmless and not some:
            which = ["all except those that destroy"]
        yield code(agent), str(len(ids)), ", ".join([*which, *scopes])


def _link(tool: ToolContract, text: str) -> str:
    return f"[`{text}`]({tool.connector}/{tool.tool}.md)"


def _count(things: Iterable[object], name: str) -> str:
    number = len(list(things))
    return f"{number} {name}{'' if number == 1 else 's'}"
