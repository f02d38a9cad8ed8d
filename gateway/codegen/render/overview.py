"""The reference's index: every tool by connector, and by the agents that may call it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from gateway.codegen.ir import Contracts, ToolContract
from gateway.codegen.render.artifact import Artifact, joint_source
from gateway.codegen.render.markdown import joined, page_header, table
from gateway.contract.operation import Effect


def index(contracts: Contracts) -> Artifact:
    """`index.md`."""
    tools, grants = contracts.tools, contracts.policies.grants
    facts = (f"{tool.id} {tool.title} {tool.effect}" for tool in tools)
    source = joint_source("tools/", [contracts.policies.source], *facts)
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
    pages = "\n".join(f"{tool.connector}/{tool.tool}" for tool in tools)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return Artifact("docs", PurePosixPath("index.md"), joined(parts))


def _by_connector(contracts: Contracts) -> Iterator[str]:
    tags = {tag["name"]: tag for tag in contracts.index.document.get("tags", ())}
    for connector, tools in contracts.by_connector().items():
        yield f"### {connector}"
        about = tags.get(connector, {}).get("description")
        if about:
            yield about
        rows = ((_link(tool, tool.tool), tool.effect.value, tool.description) for tool in tools)
        yield table((_count(tools, "tool"), "Effect", "What it does"), rows)


def _by_agent(contracts: Contracts) -> Iterator[tuple[str, ...]]:
    tools = {tool.id: tool for tool in contracts.tools}
    harmless = tuple(tool.id for tool in contracts.tools if tool.effect is not Effect.DESTROY)
    for agent, granted in contracts.policies.grants.items():
        ids = tuple(each for each in granted if each in tools)
        scopes = [f"`{each}`" for each in granted if each not in tools]
        which = ["all but what destroys"] if ids == harmless else _links(tools, ids)
        yield f"`{agent}`", str(len(ids)), ", ".join([*which, *scopes])


def _links(tools: Mapping[str, ToolContract], ids: Iterable[str]) -> list[str]:
    return [_link(tools[each], each) for each in ids]


def _link(tool: ToolContract, text: str) -> str:
    return f"[`{text}`]({tool.connector}/{tool.tool}.md)"


def _count(things: Iterable[object], name: str) -> str:
    number = len(list(things))
    return f"{number} {name}{'' if number == 1 else 's'}"
