"""Measures the tools of an import: what their lists cost, and what clients refuse of them."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.authoring.codegen.imported import record_text
from gateway.catalogue import Catalogue, ToolListing
from gateway.catalogue.imported import ImportedEntries, entries_of
from gateway.catalogue.index import AgentPolicies, PublishedDocuments
from gateway.catalogue.stored import StoredDocument
from gateway.cli.authoring.tools import AgentTokens, ProfileReport, client_report, list_tokens
from gateway.cli.importing.report import ClientFigures, ImportFigures, ListTokens
from gateway.contract.imported import ImportedConnector
from gateway.contract.operation import Tool
from gateway.profiles.clients import PROFILES
from gateway.publication.view import Views

_AGENT: Final = "all"
"""An agent that is granted all tools of the import."""
_NO_DOCUMENT: Final = b"{}"


class _DecodedTool(Struct, frozen=True):
    """A tool whose listing is decoded once for all profiles."""

    tool: Tool
    listing: ToolListing


def figures_of(connector: ImportedConnector) -> ImportFigures:
    """The figures of the tools of `connector`."""
    found = _entries(connector)
    decoded = [_DecodedTool(each.tool, each.listing) for each in found.entries]
    reports = (client_report(decoded, each) for each in PROFILES.values() if not each.is_source)
    cost = _cost(found)
    return ImportFigures(
        tokens=ListTokens(full=cost.full, slim=cost.slim, search=cost.search),
        clients=tuple(map(_of_client, reports)),
    )


def _entries(connector: ImportedConnector) -> ImportedEntries:
    """The entries that a gateway would have of `connector`. Nothing is written."""
    path = Path(f"{connector.connector}.json")
    return entries_of(StoredDocument(path, record_text(connector).encode()))


def _cost(found: ImportedEntries) -> AgentTokens:
    granted = frozenset(each.id for each in found.entries)
    catalogue = Catalogue(
        found.entries,
        upstreams={found.upstream.name: found.upstream},
        agents=AgentPolicies({_AGENT: granted}),
        published=PublishedDocuments(_NO_DOCUMENT),
    )
    return list_tokens(catalogue, Views(), _AGENT)


def _of_client(report: ProfileReport) -> ClientFigures:
    by_rule: dict[str, dict[str, None]] = {}
    for each in report.unchanged:
        # A list that is too long is in `shown` too, and no tool's fault.
        if each.tool is not None:
            by_rule.setdefault(each.rule, {})[each.tool] = None
    unchanged = {rule: tuple(tools) for rule, tools in sorted(by_rule.items())}
    return ClientFigures(profile=report.profile, unchanged=unchanged, shown=report.shown)
