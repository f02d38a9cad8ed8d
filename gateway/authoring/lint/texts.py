"""Checks of all texts, names and numbers in contracts, and of the addresses of upstreams."""

from collections.abc import Iterator
from math import isfinite
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.refs import origin
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.upstreams import declared_parameters, operations
from gateway.contract.outbound import header_refusal, url_refusal
from gateway.contract.schemas.keywords import NAME_MAPS
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.pointers import child

_LARGEST: Final = 2**63 - 1
"""The largest integer in both databases, and in JSON parsers with 64-bit integers."""
_LARGEST_COUNT: Final = 2**31 - 1
_COUNTS: Final = frozenset(
    {
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    }
)
_LONGEST_PATTERN: Final = 2_000
_HEADERS: Final = "/x-upstream/headers"
_DATA: Final = frozenset({"const", "default", "enum", "example"})
"""Keywords whose content is data. `examples` is a list of data, or has Example Objects by name."""
_EXAMPLE: Final = "Example Object"


def check_texts(draft: Draft) -> Iterator[Finding]:
    """contract/hidden-text, contract/number-too-large, schema/pattern-too-long"""
    for document in draft.tree.documents.values():
        for rule, pointer, message in _values(document.value, "", ""):
            yield draft.finding(rule, document, pointer, message)


def check_addresses(draft: Draft) -> Iterator[Finding]:
    """upstream/address, upstream/header"""
    for document in draft.upstreams.values():
        facts = document.value["x-upstream"]
        if facts["baseUrl"] is not None and (why := url_refusal(facts["baseUrl"])):
            yield draft.finding("upstream/address", document, "/x-upstream/baseUrl", why)
        for index, rule in enumerate(facts.get("tokens", ())):
            if why := url_refusal(str(rule["url"])):
                pointer = child(child("/x-upstream/tokens", index), "url")
                yield draft.finding("upstream/address", document, pointer, why)
        for index, rule in enumerate(facts.get("headers", ())):
            if why := header_refusal(rule["name"]):
                pointer = child(child(_HEADERS, index), "name")
                yield draft.finding("upstream/header", document, pointer, why)
        yield from _of_schemes(draft, document)
        yield from _of_parameters(draft, document)


def _of_schemes(draft: Draft, document: Document) -> Iterator[Finding]:
    """Findings about the headers and the token endpoints of security schemes."""
    for name, scheme in document.value.get("components", {}).get("securitySchemes", {}).items():
        pointer = child("/components/securitySchemes", name)
        if scheme.get("in") == "header" and (why := header_refusal(scheme["name"])):
            yield draft.finding("upstream/header", document, f"{pointer}/name", why)
        for flow, facts in scheme.get("flows", {}).items():
            if why := url_refusal(facts["tokenUrl"]):
                at = f"{pointer}/flows/{flow}/tokenUrl"
                yield draft.finding("upstream/address", document, at, why)


def _of_parameters(draft: Draft, document: Document) -> Iterator[Finding]:
    """Findings about header parameters, once for each parameter, at its own place."""
    seen: set[tuple[PurePosixPath, str]] = set()
    for operation in operations(document):
        for pointer, parameter in declared_parameters(draft, operation):
            why = header_refusal(parameter["name"])
            if parameter.get("in") != "header" or why is None:
                continue
            written = origin(draft.tree, document, pointer, "/name")
            if (written.document.path, written.pointer) not in seen:
                seen.add((written.document.path, written.pointer))
                yield draft.finding("upstream/header", written.document, written.pointer, why)


def _values(value: Any, pointer: str, keyword: str) -> Iterator[tuple[str, str, str]]:
    match value:
        case dict():
            for name, member in value.items():
                at = child(pointer, name)
                yield from _of_name(str(name), at)
                yield from _values(member, at, _below(keyword, str(name)))
        case list():
            inside = _below(keyword, "")
            for index, member in enumerate(value):
                yield from _values(member, child(pointer, index), inside)
        case str():
            yield from _of_text(value, pointer, keyword)
        case int() | float():
            yield from _of_number(value, pointer, keyword)


def _below(keyword: str, name: str) -> str:
    """The keyword that decides how the member `name` of the value of `keyword` is checked.

    `name` is empty for an item of a list. The result is empty if `name` is not a keyword, because
    the author chose it. Inside data it is the keyword of the data.
    """
    if keyword in _DATA:
        return keyword
    if keyword == "examples":
        return _EXAMPLE if name else "example"
    if keyword == _EXAMPLE and name == "value":
        return "example"
    return "" if keyword in NAME_MAPS else name


def _of_name(name: str, pointer: str) -> Iterator[tuple[str, str, str]]:
    if visible_text(name)[1] or "\n" in name:
        yield "contract/hidden-text", pointer, "the name contains invisible characters"


def _of_number(value: float, pointer: str, keyword: str) -> Iterator[tuple[str, str, str]]:
    limit = _LARGEST_COUNT if keyword in _COUNTS else _LARGEST
    # The limit is for integers. A double may be larger.
    is_bounded = isinstance(value, int) or keyword in _COUNTS
    if (is_bounded and abs(value) > limit) or not isfinite(value):
        yield "contract/number-too-large", pointer, f"the number is larger than {limit}"


def _of_text(text: str, pointer: str, keyword: str) -> Iterator[tuple[str, str, str]]:
    if count := visible_text(text)[1]:
        yield "contract/hidden-text", pointer, f"the text contains {count} invisible characters"
    if keyword in {"title", "summary"} and "\n" in text.strip():
        yield "contract/hidden-text", pointer, "the title has several lines"
    if keyword == "pattern" and len(text) > _LONGEST_PATTERN:
        message = f"the pattern has {len(text)} characters, more than {_LONGEST_PATTERN}"
        yield "schema/pattern-too-long", pointer, message
