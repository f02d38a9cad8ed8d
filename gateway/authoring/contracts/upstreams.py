"""Converts an upstream's OpenAPI contract, with its credentials, to the record of the run time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.tree import SourceTree
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    QueryRule,
    RateHeaders,
    RefusalRule,
    SettingRule,
    TokenRule,
    Upstream,
    UpstreamOperation,
    credential_rules,
    token_settings,
)
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import FORM

# The credentials of the contract of an upstream: its security schemes and requirements.

_FLOWS: Final[Mapping[str, Literal["client_credentials", "refresh_token"]]] = {
    "clientCredentials": "client_credentials",
    "authorizationCode": "refresh_token",
}
_KINDS: Final[Mapping[str, Literal["api_key", "oauth2", "mutual_tls"]]] = {
    "apiKey": "api_key",
    "oauth2": "oauth2",
    "mutualTLS": "mutual_tls",
}


def slots_of(document: Mapping[str, Any]) -> tuple[CredentialSlot, ...]:
    """The credential slots of a valid document, sorted by name."""
    schemes = document.get("components", {}).get("securitySchemes", {})
    return tuple(slot_of(name, scheme) for name, scheme in sorted(schemes.items()))


def slot_of(name: str, scheme: Mapping[str, Any]) -> CredentialSlot:
    """The slot of a Security Scheme Object."""
    flows: Mapping[str, Mapping[str, str]] = scheme.get("flows", {})
    flow = next(iter(flows), None)
    return CredentialSlot(
        name=name,
        kind=scheme["scheme"] if scheme["type"] == "http" else _KINDS[scheme["type"]],
        description=scheme.get("description", ""),
        location=scheme.get("in"),
        key_name=scheme.get("name"),
        flow=_FLOWS[flow] if flow else None,
        token_url=flows[flow]["tokenUrl"] if flow else None,
    )


def requirements_of(
    document: Mapping[str, Any], operation: Mapping[str, Any]
) -> Sequence[Mapping[str, Sequence[str]]]:
    """The alternatives of `operation`: its own, or those of the document.

    Empty if it needs no credentials.
    """
    found: Sequence[Mapping[str, Sequence[str]]] = operation.get(
        "security", document.get("security", ())
    )
    return found if any(found) else ()


# Converts an upstream's OpenAPI contract to the record that field maps and backends use.

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def lower_upstream(tree: SourceTree, name: str) -> Upstream:
    """The upstream of the contract `upstreams/<name>/openapi.yaml`, which must pass the lint.

    Raises `ContractRefused` for a reference that cannot be resolved.
    """
    document = tree.upstreams[name]
    facts = document.value["x-upstream"]
    slots = slots_of(document.value)
    return Upstream(
        name=facts["name"],
        title=facts["title"],
        base_url=facts.get("baseUrl"),
        base_paths=facts.get("basePaths", {}),
        credentials=(
            *(_credential(each) for each in facts.get("credentials", ())),
            *credential_rules(slots),
        ),
        settings=(
            *(SettingRule(**each) for each in facts.get("settings", ())),
            *token_settings(slots),
        ),
        headers=tuple(HeaderRule(**each) for each in facts.get("headers", ())),
        query=tuple(QueryRule(**each) for each in facts.get("query", ())),
        slots=slots,
        tokens=tuple(_token(each) for each in facts.get("tokens", ())),
        refusals=tuple(
            _refusal(each, pointer)
            for each in facts.get("refusals", ())
            for pointer in error_pointers(each)
        ),
        errors_at=tuple(facts.get("errorsAt", ())),
        soft_errors=facts.get("softErrors"),
        rate=_rate(facts.get("rateHeaders")),
        mock=facts.get("mock"),
        has_workspace=facts.get("workspace", False),
        tables=_tables(tree, document, facts.get("tables", {})),
        operations=tuple(_operations(tree, document)),
    )


def _credential(facts: Mapping[str, Any]) -> CredentialRule:
    return CredentialRule(
        name=facts["name"],
        description=facts["description"],
        is_required=facts.get("required", True),
        mistaken=facts.get("mistaken", {}),
        kind=facts.get("kind", "text"),
    )


def _token(facts: Mapping[str, Any]) -> TokenRule:
    return TokenRule(
        grant=facts["grant"],
        url=facts["url"],
        operation=facts["operationId"],
        scopes=tuple(facts.get("scopes", ())),
    )


def error_pointers(refusal: Mapping[str, Any]) -> list[str]:
    """The places in the body where a refusal of x-upstream looks."""
    found = refusal["pointer"]
    return found if isinstance(found, list) else [found]


def _refusal(facts: Mapping[str, Any], pointer: str) -> RefusalRule:
    return RefusalRule(
        status=facts["status"],
        pointer=pointer,
        values=tuple(facts.get("values", ())),
        begins=tuple(facts.get("begins", ())),
        means=facts["means"],
        fix=facts.get("fix", ""),
        has_happened=facts.get("happened", True),
    )


def _tables(
    tree: SourceTree, document: Document, names: Iterable[str]
) -> dict[str, dict[str, Any]]:
    return {
        name: dereference(tree, document.path, child("/x-upstream/tables", name)) for name in names
    }


def _rate(facts: Mapping[str, str] | None) -> RateHeaders | None:
    if facts is None:
        return None
    return RateHeaders(remaining=facts["remaining"], reset_seconds=facts["resetSeconds"])


def _operations(tree: SourceTree, document: Document) -> Iterator[UpstreamOperation]:
    for path, members in document.value.get("paths", {}).items():
        pointer = child("/paths", path)
        for method in METHODS:
            if method in members:
                item = dereference(tree, document.path, child(pointer, method))
                shared = _parameters(tree, document, pointer, members)
                uses = requirements_of(document.value, item)
                yield _operation(path, method, item, shared, uses)


def _parameters(
    tree: SourceTree, document: Document, pointer: str, members: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The parameters that every method of a path shares."""
    if "parameters" not in members:
        return []
    shared: list[dict[str, Any]] = dereference(tree, document.path, child(pointer, "parameters"))
    return shared


def _operation(
    path: str,
    method: str,
    item: Mapping[str, Any],
    shared: list[dict[str, Any]],
    security: Sequence[Mapping[str, Sequence[str]]],
) -> UpstreamOperation:
    own = {(each["name"], each["in"]): each for each in [*shared, *item.get("parameters", ())]}
    replies = item.get("responses", {})
    examples = {status: _example(reply) for status, reply in replies.items()}
    body = item.get("requestBody", {})
    form = body.get("content", {}).get(FORM)
    return UpstreamOperation(
        id=item["operationId"],
        method=method.upper(),
        path=path,
        parameters=tuple(own.values()),
        request_schema=(_json(body) if form is None else form).get("schema"),
        replies={status: _json(reply).get("schema") for status, reply in replies.items()},
        examples={status: found[0] for status, found in examples.items() if found},
        takes_form=form is not None,
        encoding=(form or {}).get("encoding", {}),
        is_body_required=body.get("required", False),
        idempotency_header=item.get("x-idempotency-header"),
        rows=item.get("x-rows"),
        cache_seconds=float(item.get("x-cache-seconds", 0)),
        failure_seconds=float(item.get("x-failure-seconds", 0)),
        slots=tuple(map(tuple, security)),
        scopes=tuple(tuple(map(tuple, each.values())) for each in security),
    )


def _json(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The Media Type Object of a message's JSON body. Empty if there is none."""
    for media_type, facts in message.get("content", {}).items():
        essence = media_type.partition(";")[0].strip()
        if essence == "application/json" or essence.endswith("+json"):
            found: Mapping[str, Any] = facts
            return found
    return {}


def _example(reply: Mapping[str, Any]) -> list[Any]:
    """A list of the first example of a reply. Empty if there is none."""
    facts = _json(reply)
    if "example" in facts:
        return [facts["example"]]
    return [each["value"] for each in facts.get("examples", {}).values()][:1]
