"""What is generated of events and webhooks whose schemas contain themselves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.generate import generate
from gateway.authoring.codegen.lowering import sensitive_pointers
from gateway.contract.values.schema import Validator

SEQUEL = '"sequels": {"description": "What follows.", "type": "array", "maxItems": 9, "items": '
BOOK = '"properties": {\n        "isbn": {"$ref": "#/$defs/Isbn"}'
DATA = '"isbn": {\n          "$ref": "../common/library.json#/$defs/Isbn"\n        }'


@pytest.fixture
def generated(schemas: Path) -> Path:
    """Books with sequels, in an event and in what a webhook receives."""
    library = schemas / "common" / "library.json"
    text = library.read_text()
    assert BOOK in text
    library.write_text(text.replace(BOOK, f'{BOOK}, {SEQUEL}{{"$ref": "#/$defs/Book"}}}}'))
    event = schemas / "events" / "book.lent.v1.json"
    assert DATA in event.read_text()
    book = '"book": {"$ref": "../common/library.json#/$defs/Book"}'
    event.write_text(event.read_text().replace(DATA, f"{DATA}, {book}"))
    payload = schemas / "webhooks" / "desk" / "book_lent.payload.json"
    value = json.loads(payload.read_text())
    value["properties"]["before"] = {"description": "What was lent before.", "$ref": "#"}
    payload.write_text(json.dumps(value, indent=2))
    out = schemas.parent / "generated"
    generate(schemas, out)
    return out


def loaded(file: Path) -> Any:
    return json.loads(file.read_text())


def test_an_event_is_published_with_its_definitions(generated: Path) -> None:
    schema = loaded(generated / "events.json")["gateway.book.lent.v1"]["schema"]
    assert schema["$defs"].keys() == {"library.Book"}
    for name in ("asyncapi.json", "openapi.json"):
        text = (generated / name).read_text()
        schemas = json.loads(text)["components"]["schemas"]
        assert "$defs" not in text
        assert set(re.findall(r'"#/components/schemas/([^"]+)"', text)) <= schemas.keys()
        assert "library.Book" in schemas


def test_a_webhook_checks_what_is_inside(generated: Path) -> None:
    schema = loaded(generated / "webhooks.json")["desk"]["book_lent"]
    assert schema["$defs"].keys() == {"webhooks.desk.book_lent.payload"}
    violations = Validator(schema).violations({"before": {"before": 7}})
    assert "/before/before" in {each.pointer for each in violations}


def test_what_repeats_a_secret_is_secret_as_a_whole() -> None:
    node = {
        "properties": {
            "key": {"type": "string", "x-sensitive": True},
            "next": {"$ref": "#/$defs/Node"},
            "name": {"type": "string"},
        }
    }
    schema = {"properties": {"node": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert sensitive_pointers(schema) == ("/node/key", "/node/next")
