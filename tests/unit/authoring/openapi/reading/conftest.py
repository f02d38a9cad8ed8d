"""Small documents, read as vendors' files are."""

import json

import pytest

from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.schemas import SchemaLowering
from gateway.authoring.openapi.reading.source import parse_source


def document(version, **members):
    """A document of `version` with these members, as bytes."""
    kind = {"swagger": "2.0"} if version == "2.0" else {"openapi": version}
    return json.dumps({**kind, "info": {"title": "T", "version": "1"}, "paths": {}, **members})


@pytest.fixture
def normal():
    """Reads a document of a version with these members into the normal form."""

    def read(version, **members):
        return normalise(parse_source(document(version, **members).encode(), "api.json"))

    return read


@pytest.fixture
def schema(normal):
    """The normal form of one component schema."""

    def read(version, written):
        section = (
            {"definitions": {"S": written}}
            if version == "2.0"
            else {"components": {"schemas": {"S": written}}}
        )
        return normal(version, **section).value["components"]["schemas"]["S"]

    return read


@pytest.fixture
def lowering(normal):
    """A lowering of these component schemas, and a function that lowers a reference to one."""

    def read(version="3.1.0", **schemas):
        return SchemaLowering(normal(version, components={"schemas": schemas}))

    return read


@pytest.fixture
def lowered():
    """Lowers a component: a complete schema with its definitions."""

    def read(lowering, name, direction="input"):
        ref = {"$ref": f"#/components/schemas/{name}"}
        root = lowering.lower(ref, direction, "/paths")
        return {**root, "$defs": lowering.needed(root)}

    return read
