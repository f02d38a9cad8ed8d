"""Arguments for a tool, valid and invalid, generated from its input schema.

Each schema is wrapped in a one-operation OpenAPI document, so that Schemathesis generates the cases
for every face alike. What is invalid is decided by the gate, not by the generator's intention.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from gateway.catalogue import Entry
from gateway.contract.selection.argument import FIELDS
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator

SMALL_BUDGET: Final = 12
_VALID: Final = GenerationMode.POSITIVE


def budget() -> settings:
    """Few cases, always the same ones; with the profile `thorough`, as many as it says."""
    thorough = settings.get_current_profile_name() == "thorough"
    return settings(
        max_examples=settings().max_examples if thorough else SMALL_BUDGET,
        deadline=None,
        derandomize=not thorough,
        suppress_health_check=list(HealthCheck),
        database=None,
    )


def valid_arguments(entry: Entry) -> st.SearchStrategy[bytes]:
    """JSON texts that the input schema admits, without `fields`: no schema says its names."""
    return _texts(entry, GenerationMode.POSITIVE).filter(lambda text: admitted(entry, text))


def with_known_values(entry: Entry, text: bytes, known: Mapping[str, Sequence[Any]]) -> bytes:
    """The same arguments, naming things that exist where an earlier result had that property."""
    arguments = json.loads(text)
    for name, values in known.items():
        if name in arguments:
            arguments[name] = values[len(text) % len(values)]
    changed = json.dumps(arguments).encode()
    return changed if admitted(entry, changed) else text


def invalid_arguments(entry: Entry) -> st.SearchStrategy[bytes]:
    """Well-formed JSON texts that the input schema refuses."""
    return _texts(entry, GenerationMode.NEGATIVE).filter(lambda text: not admitted(entry, text))


def valid_values(name: str, schema: Mapping[str, Any], gate: Validator) -> st.SearchStrategy[Any]:
    """JSON values that `schema` admits; `name` says what they are."""
    cases = _operation(name, json.dumps(schema)).as_strategy(generation_mode=_VALID)
    texts = cases.map(lambda case: _encoded(case.body)).filter(lambda text: text is not None)
    values: st.SearchStrategy[Any] = texts.map(jsontext.decode).filter(gate.admits)
    return values


def admitted(entry: Entry, text: bytes) -> bool:
    return entry.input.admits(jsontext.decode(text))


def _texts(entry: Entry, mode: GenerationMode) -> st.SearchStrategy[bytes]:
    schema = entry.listing.input_schema
    if mode is _VALID and entry.members is not None:
        others = {name: each for name, each in schema["properties"].items() if name != FIELDS}
        schema = {**schema, "properties": others}
    cases = _operation(entry.id, json.dumps(schema)).as_strategy(generation_mode=mode)
    texts: st.SearchStrategy[bytes] = cases.map(lambda case: _encoded(case.body)).filter(
        lambda text: text is not None
    )
    return texts


@lru_cache
def _operation(operation_id: str, schema: str) -> Any:
    # The references of a schema that contains itself begin at the document.
    body = json.loads(schema)
    definitions = body.pop("$defs", None)
    document = {
        **({} if definitions is None else {"$defs": definitions}),
        "openapi": "3.1.0",
        "info": {"title": operation_id, "version": "1"},
        "paths": {
            "/": {
                "post": {
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": body}},
                    },
                    "responses": {"200": {"description": "OK"}},
                }
            }
        },
    }
    return schemathesis.openapi.from_dict(document)["/"]["POST"]


def _encoded(body: Any) -> bytes | None:
    """The body as JSON text; None for what is no JSON value, or not one this gateway reads."""
    try:
        text = json.dumps(body, allow_nan=False).encode()
        jsontext.decode(text)
    except (TypeError, ValueError):
        return None
    return text
