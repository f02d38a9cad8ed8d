"""Renders `offered.json`, the resources and prompts, and `pages.json`, the pages about tools."""

from gateway.codegen.ir import Contracts
from gateway.codegen.render.artifact import Artifact, document
from gateway.codegen.render.pages import reference
from gateway.contracts.cache import Remember


def offered_json(contracts: Contracts) -> Artifact:
    """`offered.json`: what the run time decodes."""
    return document("offered.json", contracts.offered)


def pages_json(contracts: Contracts, remember: Remember) -> Artifact:
    """`pages.json`: the reference pages by operation id, without the note of the generator."""
    pages = {tool.id: reference.text_of(tool, remember) for tool in contracts.tools}
    return document("pages.json", pages)
