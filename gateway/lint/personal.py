"""Checks that arguments which identify a person, or are secret, say whether they are sensitive."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.lint.draft import Draft, SchemaNode

_MARKS: Final = ("x-sensitive", "writeOnly")
_FORMATS: Final = frozenset({"email", "idn-email"})
_WORDS: Final = frozenset(
    {
        *("email", "mail_address", "phone", "phone_number", "mobile", "telephone"),
        *("first_name", "last_name", "full_name", "client_name", "customer_name"),
        *("date_of_birth", "birth_date", "passport_number", "iban", "card_number"),
        *("password", "secret", "token", "api_key", "access_token", "pin"),
    }
)
"""Names of arguments that identify a person or are secret."""


def check_marks(draft: Draft) -> Iterator[Finding]:
    """schema/sensitive-mark"""
    for node in draft.schemas:
        if node.is_ours and not isinstance(node.schema.get("x-sensitive", True), bool):
            message = "x-sensitive is neither true nor false"
            where = child(node.pointer, "x-sensitive")
            yield draft.finding("schema/sensitive-mark", node.document, where, message)


def check_personal(draft: Draft) -> Iterator[Finding]:
    """tool/personal-argument"""
    for tool in draft.tools:
        target = draft.file_of(tool, "/post/requestBody/content/application~1json/schema")
        if isinstance(target.value, dict):
            node = SchemaNode(target.document, target.pointer, target.value)
            yield from _unmarked(draft, node)


def _unmarked(draft: Draft, node: SchemaNode) -> Iterator[Finding]:
    """The personal members of `node` that have no mark. References are followed for one step."""
    if any(mark in node.schema for mark in _MARKS):
        return
    members = node.schema.get("properties")
    for name, member in members.items() if isinstance(members, dict) else ():
        if not isinstance(member, dict):
            continue
        where = child(child(node.pointer, "properties"), name)
        if _is_personal(draft, node, name, member, where):
            message = f"the argument {name} stands in audit records in clear"
            yield draft.finding("tool/personal-argument", node.document, where, message)
        else:
            yield from _unmarked(draft, SchemaNode(node.document, where, member))
    items = node.schema.get("items")
    if isinstance(items, dict):
        where = child(node.pointer, "items")
        if _is_personal(draft, node, "", items, where):
            message = "the items of this argument stand in audit records in clear"
            yield draft.finding("tool/personal-argument", node.document, where, message)
        else:
            yield from _unmarked(draft, SchemaNode(node.document, where, items))


def _is_personal(
    draft: Draft, node: SchemaNode, name: str, member: dict[str, Any], where: str
) -> bool:
    target = draft.target(node.document, where, member) if "$ref" in member else None
    behind = target.value if target is not None and isinstance(target.value, dict) else {}
    if any(mark in schema for mark in _MARKS for schema in (member, behind)):
        return False
    formats = {member.get("format"), behind.get("format")}
    return name.lower() in _WORDS or not _FORMATS.isdisjoint(formats)
