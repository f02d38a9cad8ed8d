"""Arguments and payloads, valid and invalid, that Schemathesis generates.

Those of a tool are generated from the published OpenAPI document. What is invalid is decided by the
authority, neither by the gate under test nor by the generator's intention.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

import schemathesis
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from gateway.catalogue import Catalogue, Entry
from gateway.contract.selection import FIELDS
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.testing.authority import Authority, Said, authority_on, is_beyond
from gateway.testing.cases import Expectation
from gateway.testing.seeding import planted

SMALL_BUDGET: Final = 12


_Test = TypeVar("_Test", bound=Callable[..., None])


def budget() -> Callable[[_Test], _Test]:
    """Few cases, always the same ones; with the profile `thorough`, as many as it says.

    A seed draws other ones, which are the same on any machine.
    """
    number = planted()
    if number is not None:
        # Hypothesis also draws constants that it finds in modules outside of `site-packages`. Which
        # ones these are differs between a checkout and an installed package.
        providers._get_local_constants = Constants
    limits = _limits()
    return limits if not number else lambda test: seed(number)(limits(test))


def few() -> settings:
    """As many cases as `SMALL_BUDGET`, drawn by a seed that the test gives."""
    return settings(_limits(), max_examples=SMALL_BUDGET, derandomize=False)


_Value = TypeVar("_Value")


def few_of(values: Sequence[_Value]) -> Sequence[_Value]:
    """At most `SMALL_BUDGET` of them, from begin to end. All of them if the run is thorough."""
    return values if _is_thorough() else values[:: max(1, -(-len(values) // SMALL_BUDGET))]


def _is_thorough() -> bool:
    return settings.get_current_profile_name() == "thorough"


def _limits() -> settings:
    thorough = _is_thorough()
    return settings(
        max_examples=settings().max_examples if thorough else SMALL_BUDGET,
        deadline=None,
        # What fails is made small by `reducing`, in a time that is known.
        phases=(Phase.explicit, Phase.generate),
        derandomize=not thorough and not planted(),
        suppress_health_check=list(HealthCheck),
        database=None,
    )


@lru_cache(maxsize=2)
def operations_of(catalogue: Catalogue, document: bytes) -> Any:
    """The operations of a published document but for imported ones, by path and method."""
    whole = json.loads(document)
    imported = {each.operation.route for each in catalogue.entries if each.operation.is_imported}
    whole["paths"] = {path: item for path, item in whole["paths"].items() if path not in imported}
    return _loaded(whole)


def _loaded(document: dict[str, Any]) -> Any:
    """The operations of a document. No keys of callers are generated."""
    config = SchemathesisConfig.from_dict({"generation": {"with-security-parameters": False}})
    return schemathesis.openapi.from_dict(document, config=config)


def valid_arguments(catalogue: Catalogue, entry: Entry) -> st.SearchStrategy[bytes]:
    """JSON texts that the input schema admits, without `fields`: no schema says its names."""

    bodies = _bodies(_operation(catalogue, entry), GenerationMode.POSITIVE).map(
        lambda body: _without_fields(entry, body)
    )
    return _texts(bodies).filter(lambda text: said(entry, text) == "valid")


def covering(operation: Any) -> Iterator[bytes]:
    """The bodies of Schemathesis' coverage phase: values at each boundary, and beyond it.

    They are the same on each run. Nothing where no body can be made.
    """
    known: set[bytes] = set()
    generating = operation.schema.config.generation_for(operation=operation)
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        cases = operation.schema.iter_coverage_cases(
            operation, generation_modes=[mode], generation_config=generating
        )
        for case in cases:
            text = _encoded(case.body)
            if text is not None and text not in known:
                known.add(text)
                yield text


def covering_arguments(catalogue: Catalogue, entry: Entry) -> Iterator[bytes]:
    """The arguments of the coverage phase.

    It gives each of them an empty selection, which no result has: each boundary of the other
    arguments would be refused for it, so they come without it.
    """
    imported = entry.operation.is_imported
    operation = _own_operation(entry) if imported else _operation(catalogue, entry)
    known: set[bytes] = set()
    for text in covering(operation):
        body = json.loads(text)
        is_empty = isinstance(body, dict) and body.get(FIELDS) == []
        made = json.dumps(_without_fields(entry, body)).encode() if is_empty else text
        if made not in known:
            known.add(made)
            yield made


def _without_fields(entry: Entry, body: Any) -> Any:
    """The arguments without a selection: no schema says the names of a result's members."""
    has_fields = entry.members is not None and isinstance(body, dict)
    return {n: v for n, v in body.items() if n != FIELDS} if has_fields else body


def covering_values(name: str, schema: Mapping[str, Any]) -> Iterator[bytes]:
    """The values of the coverage phase, of a schema that no operation has."""
    return covering(_loaded(_document(name, dict(schema)))["/"]["POST"])


def with_known_values(entry: Entry, text: bytes, known: Mapping[str, Sequence[Any]]) -> bytes:
    """The same arguments, naming things that exist where an earlier result had that property."""
    arguments = json.loads(text)
    for name, values in known.items():
        if name in arguments:
            arguments[name] = values[len(text) % len(values)]
    changed = json.dumps(arguments).encode()
    return changed if said(entry, changed) == "valid" else text


def invalid_arguments(catalogue: Catalogue, entry: Entry) -> st.SearchStrategy[bytes]:
    """Well-formed JSON texts that the input schema refuses."""
    bodies = _bodies(_operation(catalogue, entry), GenerationMode.NEGATIVE)
    return _texts(bodies).filter(lambda text: said(entry, text) == "invalid")


def valid_values(name: str, schema: Mapping[str, Any], gate: Validator) -> st.SearchStrategy[Any]:
    """JSON values that `schema` admits; `name` says what they are."""
    operation = _loaded(_document(name, dict(schema)))["/"]["POST"]
    texts = _texts(_bodies(operation, GenerationMode.POSITIVE))
    authority = Authority(schema)
    values: st.SearchStrategy[Any] = texts.map(jsontext.decode).filter(
        # What only formats refuse, the authority does not know.
        lambda value: authority.says(value) == "valid" and not refused_beyond(gate, value)
    )
    return values


def refused_beyond(gate: Validator, value: Any) -> bool:
    """Whether the gate refuses a value by rules alone that the authority does not know."""
    violations = gate.violations(value)
    return bool(violations) and all(is_beyond(each.keyword) for each in violations)


def said(entry: Entry, text: bytes) -> Said:
    """Whether the published schema admits these arguments."""
    return authority_on(entry).says(json.loads(text))


_EXPECTED: Final[Mapping[Said, Expectation]] = {"valid": "admitted", "invalid": "invalid"}


def expected(entry: Entry, text: bytes) -> Expectation | None:
    """What must come of these arguments. None: the authority cannot say."""
    return _EXPECTED.get(said(entry, text))


def _operation(catalogue: Catalogue, entry: Entry) -> Any:
    return operations_of(catalogue, catalogue.openapi)[entry.operation.route]["POST"]


def _own_operation(entry: Entry) -> Any:
    """An operation with the arguments of an imported one, which the document has no body for."""
    return _loaded(_document(entry.id, dict(entry.listing.input_schema)))["/"]["POST"]


def _bodies(operation: Any, mode: GenerationMode) -> st.SearchStrategy[Any]:
    bodies: st.SearchStrategy[Any] = operation.as_strategy(generation_mode=mode).map(
        lambda case: case.body
    )
    return bodies


def _texts(bodies: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return bodies.map(_encoded).filter(lambda text: text is not None)  # type: ignore[return-value]  # what is left


def _document(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A document for a schema that no operation has. Its references begin at the document."""
    definitions = schema.pop("$defs", None)
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {
        **({} if definitions is None else {"$defs": definitions}),
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "paths": {
            "/": {"post": {"requestBody": body, "responses": {"200": {"description": "OK"}}}}
        },
    }


def _encoded(body: Any) -> bytes | None:
    """The body as JSON text; None for what is no JSON value, or not one this gateway reads."""
    try:
        text = json.dumps(body, allow_nan=False).encode()
        jsontext.decode(text)
    except (TypeError, ValueError):
        return None
    return text
