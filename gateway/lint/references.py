"""Checks of references: their targets, their expansion, and the members beside them."""

from collections.abc import Iterator
from typing import Final

from gateway.contract.values.pointers import parent
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources import keywords
from gateway.contracts.sources.refs import resolve
from gateway.lint.draft import Draft
from gateway.lint.tools.upstreams import operations

_MAY_STAND_BESIDE: Final = keywords.ANNOTATIONS | {"$ref", "$defs", "$schema", "summary"}


def check_targets(draft: Draft) -> Iterator[Finding]:
    """ref/remote, ref/absolute, ref/escapes, ref/malformed, ref/dangling, ref/sibling"""
    for document in draft.tree.documents.values():
        for pointer, holder in draft.tree.references(document.path):
            try:
                resolve(draft.tree, document.path, holder["$ref"], pointer)
            except ContractRefused as refused:
                yield from refused.findings
            others = sorted(holder.keys() - _MAY_STAND_BESIDE)
            if others:
                message = f"{', '.join(others)} beside $ref: tools interpret this differently"
                yield draft.finding("ref/sibling", document, pointer, message)


def check_expansions(draft: Draft) -> Iterator[Finding]:
    """ref/recursive, schema/too-large, schema/too-deep"""
    for entry in draft.entries:
        yield from draft.refusals(entry.document.path, entry.pointer)
    for tool, media in draft.published():
        yield from draft.refusals(tool.path, f"{media}/schema")
    for path in (*(each.path for each in draft.webhooks), *(each.path for each in draft.events)):
        yield from draft.refusals(path, "/post")
    for document in draft.upstreams.values():
        for operation in operations(document):
            around = parent(operation.pointer)
            for pointer in (operation.pointer, f"{around}/parameters"):
                yield from draft.refusals(document.path, pointer)
