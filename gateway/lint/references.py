"""Checks of references: their targets, their expansion, and the members beside them."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import parent
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources.refs import closure, resolve
from gateway.contracts.sources.tree import COMMON, ENTITIES
from gateway.lint.draft import Draft, is_table
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


def check_rows(draft: Draft) -> Iterator[Finding]:
    """ref/recursive-row"""
    rows = [each for root in draft.roots if (each := root.document).path.parts[0] == ENTITIES]
    rows += [root.document for root in draft.roots if is_table(root.document.path)]
    for document in rows:
        schema = draft.expanded(document.path, "")
        if isinstance(schema, dict) and "$defs" in schema:
            message = "a row contains a schema that contains itself"
            yield draft.finding("ref/recursive-row", document, "", message)


def check_common(draft: Draft) -> Iterator[Finding]:
    """ref/common-cycle"""
    for document in draft.tree.documents.values():
        if document.path.parts[0] != COMMON:
            continue
        for pointer, holder in draft.tree.references(document.path):
            target = draft.target(document, pointer, holder)
            if target is None or target.document is document:
                continue
            if _leads_to(draft, target.document.path, document.path):
                message = f"{target.document.path} refers to this file as well"
                yield draft.finding("ref/common-cycle", document, pointer, message)


def _leads_to(draft: Draft, path: PurePosixPath, other: PurePosixPath) -> bool:
    try:
        return other in closure(draft.tree, path)
    except ContractRefused:
        return False


def check_expansions(draft: Draft) -> Iterator[Finding]:
    """ref/recursive, ref/same-name, schema/too-large, schema/too-deep"""
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
