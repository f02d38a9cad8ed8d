"""Small documents of our own, and what is made of them."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gateway.authoring.openapi.lowering.connector import lower_connector
from gateway.authoring.openapi.lowering.records import ImportFile, ImportOutcome
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import parse_source
from gateway.contract.imported import ImportedOperation

Lower = Callable[..., ImportOutcome]


def lower(document: dict[str, Any], name: str = "shop", **wishes: Any) -> ImportOutcome:
    """The outcome of importing `document`, to which what every document needs is added."""
    full = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, **document}
    source = parse_source(json.dumps(full).encode(), "shop.json")
    facts = {"document": "shop.json", "sha256": source.sha256, **wishes}
    given = msgspec.convert(facts, ImportFile)
    return lower_connector(normalise(source), name, given)


@pytest.fixture
def lowered() -> Lower:
    """Imports a document."""
    return lower


@pytest.fixture
def one() -> Callable[..., ImportedOperation]:
    """The record of the only operation of a document, at `path`."""

    def _one(
        operation: dict[str, Any], *, path: str = "/things", method: str = "post", **document: Any
    ) -> ImportedOperation:
        full = {"servers": [{"url": "https://shop.example"}], **document}
        outcome = lower({**full, "paths": {path: {method: operation}}})
        assert outcome.report.refused == ()
        (found,) = outcome.connector.operations
        return found

    return _one


@pytest.fixture
def refusal() -> Callable[..., tuple[str, str]]:
    """The rule and the pointer of the only operation of a document, which is refused."""

    def _refusal(
        operation: dict[str, Any], *, path: str = "/things", method: str = "post", **document: Any
    ) -> tuple[str, str]:
        full = {"servers": [{"url": "https://shop.example"}], **document}
        outcome = lower({**full, "paths": {path: {method: operation}}})
        assert outcome.connector.operations == ()
        (found,) = outcome.report.refused
        return found.finding.rule, found.finding.pointer

    return _refusal
