"""Checks of x-upstream: credentials, settings, templates, access tokens and refusals."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.upstreams import error_pointers, slots_of
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.schemas import compiles, unportable
from gateway.authoring.lint.upstreams import LocatedOperation, declared_parameters, operations
from gateway.contract.credentials import GRANT_CREDENTIALS
from gateway.contract.upstream import TokenGrant
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import is_whole_match
from gateway.encoding.bodies import FORM

_CREDENTIAL: Final = re.compile(r"\{credential\.([a-z0-9_]+)\}")
_TOKEN: Final = "{token}"  # noqa: S105 - a placeholder in a template, not a secret
_KEY_FILE: Final = "service_account_key"
_TAKEN: Final = ("base_url", "token_url")
"""Reserved names under `GATEWAY_<UPSTREAM>_`: every upstream has these settings."""


def check_names(draft: Draft) -> Iterator[Finding]:
    """upstream/taken-setting"""
    for document in draft.upstreams.values():
        facts = document.value["x-upstream"]
        taken = dict.fromkeys(_TAKEN, "every upstream")
        for kind in ("credentials", "settings"):
            for index, rule in enumerate(facts.get(kind, ())):
                name = rule["name"]
                if name in taken:
                    pointer = f"/x-upstream/{kind}/{index}/name"
                    yield _taken(draft, document, pointer, name, taken[name])
                taken[name] = "this upstream"
                if kind == "credentials":
                    taken[f"{name}_file"] = f"the credential {name}"
        yield from _taken_by_schemes(draft, document, taken)


def _taken_by_schemes(draft: Draft, document: Document, taken: dict[str, str]) -> Iterator[Finding]:
    """Findings about security schemes whose settings have taken names. Adds to `taken`."""
    for slot in slots_of(document.value):
        secret = [*slot.settings, *(f"{name}_file" for name in slot.settings)]
        plain = slot.token_settings if slot.kind == "oauth2" else ()
        names = dict.fromkeys((slot.name, *secret, *plain))
        for name in names:
            if name in taken:
                pointer = child("/components/securitySchemes", slot.name)
                yield _taken(draft, document, pointer, name, taken[name])
                break
        taken |= dict.fromkeys(names, f"the security scheme {slot.name}")


def _taken(draft: Draft, document: Document, pointer: str, name: str, owner: str) -> Finding:
    message = f"{name} is already a setting of {owner}"
    return draft.finding("upstream/taken-setting", document, pointer, message)


def check_security(draft: Draft) -> Iterator[Finding]:
    """upstream/unknown-credential"""
    for document in draft.upstreams.values():
        known = {slot.name for slot in slots_of(document.value)}
        for holder in ("", *(each.pointer for each in operations(document))):
            for index, uses in enumerate(draft.at(document, f"{holder}/security") or ()):
                for name in uses.keys() - known:
                    pointer = child(f"{holder}/security/{index}", name)
                    message = f"there is no security scheme {name}"
                    fix = did_you_mean(name, known)
                    yield draft.finding(
                        "upstream/unknown-credential", document, pointer, message, fix
                    )


def check_settings(draft: Draft) -> Iterator[Finding]:
    """schema/pattern-unportable, schema/pattern-invalid, upstream/setting-refused"""
    for document in draft.upstreams.values():
        for index, rule in enumerate(document.value["x-upstream"].get("settings", ())):
            yield from _setting(draft, document, f"/x-upstream/settings/{index}", rule)


def _setting(
    draft: Draft, document: Document, pointer: str, rule: dict[str, str]
) -> Iterator[Finding]:
    pattern, where = rule["pattern"], f"{pointer}/pattern"
    found = unportable(pattern)
    if found:
        message = f"`{found}` has different meanings in different engines"
        yield draft.finding("schema/pattern-unportable", document, where, message)
    elif not compiles(pattern):
        message = "the pattern is not a regular expression of linear time"
        yield draft.finding("schema/pattern-invalid", document, where, message)
    else:
        for name in ("default", "mock"):
            if name in rule and not is_whole_match(pattern, rule[name]):
                message = f"this value of {rule['name']} does not match the pattern"
                yield draft.finding(
                    "upstream/setting-refused", document, f"{pointer}/{name}", message
                )


def check_templates(draft: Draft) -> Iterator[Finding]:
    """upstream/unknown-credential, upstream/token-unknown, upstream/token-unused"""
    for document in draft.upstreams.values():
        facts = document.value["x-upstream"]
        known = {credential["name"] for credential in facts.get("credentials", ())}
        uses_token = False
        for pointer, template in _templates(facts):
            for unknown in sorted({*_CREDENTIAL.findall(template)} - known):
                message = f"there is no credential {unknown}"
                fix = did_you_mean(unknown, known)
                yield draft.finding("upstream/unknown-credential", document, pointer, message, fix)
            if _TOKEN in template and "tokens" not in facts:
                message = "{token} is used, but x-upstream.tokens is missing"
                yield draft.finding("upstream/token-unknown", document, pointer, message)
            uses_token = uses_token or _TOKEN in template
        if "tokens" in facts and not uses_token:
            message = "no header contains {token}"
            yield draft.finding("upstream/token-unused", document, "/x-upstream/tokens", message)


def _templates(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for kind in ("headers", "query"):
        for index, rule in enumerate(facts.get(kind, ())):
            yield f"/x-upstream/{kind}/{index}/template", rule["template"]


def check_tokens(draft: Draft) -> Iterator[Finding]:
    """upstream/token-credential, upstream/token-operation"""
    for document in draft.upstreams.values():
        facts = document.value["x-upstream"]
        for index, rule in enumerate(facts.get("tokens", ())):
            pointer = f"/x-upstream/tokens/{index}"
            yield from _token_credentials(draft, document, pointer, rule["grant"])
            problem = _token_operation(draft, document, rule)
            if problem:
                message, fix = problem
                where = f"{pointer}/operationId"
                yield draft.finding("upstream/token-operation", document, where, message, fix)


def _token_credentials(
    draft: Draft, document: Document, pointer: str, grant: TokenGrant
) -> Iterator[Finding]:
    credentials = document.value["x-upstream"].get("credentials", ())
    kinds = {each["name"]: each.get("kind", "text") for each in credentials}
    for name in GRANT_CREDENTIALS[grant]:
        if name not in kinds:
            message = f"{grant} needs the credential {name}"
        elif name == _KEY_FILE and kinds[name] != "json":
            message = f"the credential {name} must have `kind: json`"
        else:
            continue
        where = f"{pointer}/grant"
        yield draft.finding("upstream/token-credential", document, where, message)


def _token_operation(
    draft: Draft, document: Document, rule: dict[str, Any]
) -> tuple[str, str | None] | None:
    """The problem of a token rule's operation and its fix. None if there is no problem."""
    known = {each.value["operationId"]: each for each in operations(document)}
    name = rule["operationId"]
    if name not in known:
        return f"there is no operation {name}", did_you_mean(name, known)
    operation = known[name]
    body = draft.expanded(document.path, child(operation.pointer, "requestBody")) or {}
    if operation.method != "post" or FORM not in body.get("content", {}):
        return f"{name} is not a POST of {FORM}", None
    if rule["url"].startswith("/") and rule["url"] != operation.path:
        return f"the path of {name} differs from url", f"Write `url: {operation.path}`."
    return None


def check_encodings(draft: Draft) -> Iterator[Finding]:
    """upstream/encoding"""
    for document in draft.upstreams.values():
        for operation in operations(document):
            place = child(operation.pointer, "requestBody")
            body = draft.expanded(document.path, place) or {}
            for media_type, facts in body.get("content", {}).items():
                known = facts.get("schema", {}).get("properties", {})
                for name in facts.get("encoding", {}):
                    where = child(child(f"{place}/content", media_type) + "/encoding", name)
                    if media_type != FORM:
                        message = f"{media_type} has no members that are encoded one by one"
                        yield draft.finding("upstream/encoding", document, where, message)
                    elif name not in known:
                        message = f"the form has no member {name}"
                        fix = did_you_mean(name, known)
                        yield draft.finding("upstream/encoding", document, where, message, fix)


def check_refusals(draft: Draft) -> Iterator[Finding]:
    """upstream/refusal-unreachable, upstream/refusal-pointer"""
    for document in draft.upstreams.values():
        seen: set[tuple[str, str, str]] = set()
        for index, rule in enumerate(document.value["x-upstream"].get("refusals", ())):
            pointer = f"/x-upstream/refusals/{index}"
            for position, value in enumerate(rule.get("values", ())):
                keys = {(rule["status"], each, value) for each in error_pointers(rule)}
                if keys <= seen:
                    where = f"{pointer}/values/{position}"
                    message = "an earlier refusal already has this value"
                    yield draft.finding("upstream/refusal-unreachable", document, where, message)
                seen |= keys
        for where, pointer in _error_pointers(document.value["x-upstream"]):
            path = steps(pointer)
            if not any(_declares(schema, path) for schema in _bodies(draft, document)):
                message = "no error reply declares a member at this pointer"
                yield draft.finding("upstream/refusal-pointer", document, where, message)


def check_rows(draft: Draft) -> Iterator[Finding]:
    """upstream/rows"""
    for document in draft.upstreams.values():
        for operation in operations(document):
            place = operation.value.get("x-rows")
            path = None if place is None else [*steps(place), "0"]
            declared = _bodies_of(draft, document, operation, ("2",))
            if path is not None and not any(_declares(schema, path) for schema in declared):
                pointer = child(operation.pointer, "x-rows")
                message = "no success declares a list at this pointer"
                yield draft.finding("upstream/rows", document, pointer, message)


def _error_pointers(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The pointers into bodies of errors, each after its own place in the contract."""
    for index, rule in enumerate(facts.get("refusals", ())):
        for pointer in error_pointers(rule):
            yield f"/x-upstream/refusals/{index}/pointer", pointer
    for index, pointer in enumerate(facts.get("errorsAt", ())):
        yield f"/x-upstream/errorsAt/{index}", pointer


def _bodies(draft: Draft, document: Document) -> Iterator[Any]:
    """The schemas of all error replies."""
    for operation in operations(document):
        yield from _bodies_of(draft, document, operation, ("4", "5", "d"))


def _bodies_of(
    draft: Draft, document: Document, operation: LocatedOperation, classes: tuple[str, ...]
) -> Iterator[Any]:
    """The schemas of the replies whose status begins with one of `classes`: `d` is the default."""
    for status in operation.value["responses"]:
        if status.startswith(classes):
            where = child(child(operation.pointer, "responses"), status)
            reply = draft.expanded(document.path, where) or {}
            for media in reply.get("content", {}).values():
                yield media.get("schema")


def _declares(schema: Any, path: list[str]) -> bool:
    """Whether `schema` declares a member at `path`. The schema may be invalid."""
    if not isinstance(schema, dict) or not path:
        return isinstance(schema, dict)
    step, *rest = path
    found = [] if not step.isdecimal() else [schema.get("items")]
    properties = schema.get("properties")
    found += [properties.get(step)] if isinstance(properties, dict) else []
    branches = [schema.get(keyword) for keyword in ("allOf", "anyOf", "oneOf")]
    inside = [each for listed in branches if isinstance(listed, list) for each in listed]
    is_member = any(_declares(each, rest) for each in found)
    return is_member or any(_declares(each, path) for each in inside)


def check_operations(draft: Draft) -> Iterator[Finding]:
    """upstream/idempotency-header, upstream/cached-write"""
    for document in draft.upstreams.values():
        for operation in operations(document):
            header = operation.value.get("x-idempotency-header")
            names = {
                each["name"].lower()
                for _, each in declared_parameters(draft, operation)
                if each["in"] == "header"
            }
            if header is not None and header.lower() not in names:
                pointer = child(operation.pointer, "x-idempotency-header")
                message = f"the operation has no header parameter {header}"
                yield draft.finding("upstream/idempotency-header", document, pointer, message)
            for name in ("x-cache-seconds", "x-failure-seconds"):
                if name in operation.value and operation.method != "get":
                    pointer = child(operation.pointer, name)
                    message = f"replies to {operation.method.upper()} are never cached"
                    yield draft.finding("upstream/cached-write", document, pointer, message)
