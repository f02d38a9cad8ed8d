"""Which links of imported documents are followed, and the report of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from gateway.amounts import amount
from gateway.catalogue import Catalogue, StoredOperation
from gateway.cli.verification.suite_options import PER_DOCUMENT
from gateway.contract.imported import ImportedLink
from gateway.testing.imported.selection import OperationDraw, stored_operation

REASON: Final = "gateway link not followed"
"""The property of a test's report that says why."""
PROBLEMS: Final = pytest.StashKey[Sequence[str]]()
"""The links that cannot be followed, whatever is answered."""
_TEST: Final = "test_a_link_leads_from_one_answer_to_the_next["
_MAX_PROBLEMS: Final = 20


def drawn_links(catalogue: Catalogue, draw: OperationDraw) -> Iterator[str]:
    """The links of each document that are followed, as `<operation>#<number>`."""
    for document in catalogue.imported.values():
        found = [
            f"{each.head.id}#{number}"
            for each in document.operations
            for number, link in enumerate(each.whole().links)
            if link.problem is None
        ]
        chosen = found if draw.is_whole else sorted(found, key=draw.rank)[:PER_DOCUMENT]
        yield from (each for each in found if each in chosen)


def link_of(catalogue: Catalogue, name: str) -> tuple[StoredOperation, ImportedLink]:
    """The operation and the link that `<operation>#<number>` names."""
    operation_id, _, number = name.partition("#")
    stored = stored_operation(catalogue, operation_id)
    return stored, stored.whole().links[int(number)]


def named(operation_id: str, link: ImportedLink, reason: str) -> str:
    """A line about a link that is not followed. Names of a document are shown as literals."""
    return f"{operation_id}, link {link.name!r} at {link.pointer!r}: {reason}"


def link_problems(catalogue: Catalogue) -> Iterator[str]:
    """The links of all documents that cannot be followed, with the reason."""
    for document in catalogue.imported.values():
        for each in document.operations:
            for link in each.whole().links:
                if link.problem is not None:
                    yield named(each.head.id, link, link.problem)


def link_lines(
    problems: Sequence[str], reports: Mapping[str, Sequence[Any]], draw: OperationDraw
) -> Iterator[str]:
    """How many links were followed, and each one that was not, with the reason."""
    tests: list[pytest.TestReport] = [
        each
        for outcome in ("passed", "failed", "skipped")
        for each in reports.get(outcome, ())
        if each.when == "call" and _TEST in each.nodeid
    ]
    reasons = [dict(each.user_properties).get(REASON) for each in tests]
    others = [str(each) for each in reasons if each is not None]
    if tests:
        drawn = "" if draw.is_whole else f", at most {PER_DOCUMENT} of each document"
        followed = len(tests) - len(others)
        yield f"gateway: {followed} of {amount(len(tests), 'link')} were followed{drawn}"
    for each in (*others, *problems[:_MAX_PROBLEMS]):
        yield f"  not followed: {each}"
    if len(problems) > _MAX_PROBLEMS:
        number = len(problems) - _MAX_PROBLEMS
        yield f"  not followed: {number} more; `gateway import --dry-run --json` names them"
