"""What says who somebody is, or what is written to them, never stands in the audit in clear."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from gateway.audit.facts import REDACTED, redact
from gateway.catalogue import Entry, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES

PERSONAL: Final = frozenset(
    {
        *("cc", "bcc", "reply_to", "subject", "body", "template_data", "filename"),
        *("email", "phone", "identifier", "message", "client_name", "first_name", "last_name"),
        *("special_requirements", "requirements", "user_id"),
    }
)
"""Names of arguments that hold a person, or words to one; addresses are known by their format."""
ENTRIES: Final = open_catalogue("generated", HANDLER_PACKAGES).entries


def personal(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of the personal arguments of `schema`; `*` is any item."""
    for name, member in schema.get("properties", {}).items():
        at = (*path, name)
        if name in PERSONAL or member.get("format") == "email":
            yield at
        else:
            yield from personal(member, at)
    # A row may have any column, so it may have those with addresses.
    if isinstance(schema.get("additionalProperties"), dict) and "properties" not in schema:
        yield (*path, "*")
    for branch in schema.get("anyOf", ()):
        yield from personal(branch, path)
    items = schema.get("items", {})
    if items.get("format") == "email":
        yield (*path, "*")
    elif items:
        yield from personal(items, (*path, "*"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_personal_arguments_are_marked_as_sensitive(entry: Entry) -> None:
    marked = [tuple(pointer.split("/")[1:]) for pointer in entry.operation.sensitive]
    clear = [
        path
        for path in personal(entry.listing.input_schema)
        if not any(path[: len(each)] == each or each[: len(path)] == path for each in marked)
    ]
    assert clear == [], f"{entry.id}: write `x-sensitive: true` at these arguments"


def test_a_mail_leaves_neither_its_recipients_nor_its_words() -> None:
    (entry,) = (each for each in ENTRIES if each.id == "gmail.send_email")
    mail = {"to": "a@b.example", "cc": ["c@d.example"], "subject": "s", "body": "b"}
    kept = redact({**mail, "body_type": "text"}, entry.operation.sensitive)
    assert kept == {
        **dict.fromkeys(("to", "subject", "body"), REDACTED),
        "cc": [REDACTED],
        "body_type": "text",
    }
