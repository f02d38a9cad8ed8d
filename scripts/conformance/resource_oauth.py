"""Checks of OAuth resource servers: metadata (RFC 9728), audiences and scopes.

They apply to gateways that name an authorization server. Others have keys only.
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from resource_checks import check, refused
from resource_target import NotApplicable, Target, get, modern

_PLACE: Final = "/.well-known/oauth-protected-resource"
_PARAMETER: Final = re.compile(r'([a-z_]+)="([^"]*)"')


def _metadata(target: Target) -> dict[str, Any]:
    """The metadata of `/mcp`. Raises `NotApplicable` if there is none and none was expected."""
    answer = target.send(get("metadata", f"{_PLACE}/mcp"))
    message = answer.message()
    if answer.status == 200 and isinstance(message, dict):
        return message
    if target.issuer is not None:
        return {}
    raise NotApplicable("the server has no resource metadata, and no --issuer was given")


@check(
    "metadata", "the metadata names the resource, its servers and no tokens in queries (RFC 9728)"
)
def metadata(target: Target) -> Iterator[str]:
    found = _metadata(target)
    if not found:
        yield f"{_PLACE}/mcp is not served"
        return
    path = urlsplit(str(found.get("resource", ""))).path
    if path.rstrip("/") not in {"/mcp", ""}:
        yield f"the resource is {found.get('resource')}"
    issuer = target.issuer
    servers = found.get("authorization_servers") or []
    if not servers or (issuer is not None and issuer not in servers):
        yield f"the authorization servers are {servers}"
    if "header" not in found.get("bearer_methods_supported", ["header"]):
        yield "tokens in the header are not supported"
    if "query" in found.get("bearer_methods_supported", ()):
        yield "tokens in queries are supported"
    if "offline_access" in found.get("scopes_supported", ()):
        yield "offline_access is a scope of the resource"


@check("metadata-at-root", "the metadata is served at the root too, for clients that look there")
def metadata_at_root(target: Target) -> Iterator[str]:
    _metadata(target)
    answer = target.send(get("metadata", _PLACE))
    if answer.status != 200:
        yield f"{answer.request}: {answer.status}"


@check("challenge-metadata", "the challenge names the metadata, and a scope")
def challenge_metadata(target: Target) -> Iterator[str]:
    _metadata(target)
    for each in target.endpoints():
        if each.path.startswith("/mcp"):
            answer = target.send(each)
            parameters = dict(_PARAMETER.findall("".join(answer.values("www-authenticate"))))
            place = parameters.get("resource_metadata", "")
            if _PLACE not in place:
                yield f"{answer.request}: resource_metadata is {place!r}"


@check("expired-token", "a token that has expired is invalid")
def expired_token(target: Target) -> Iterator[str]:
    key = target.other("expired")
    for each in target.endpoints():
        yield from refused(target.send(each, key=key), error="invalid_token")


@check("foreign-audience", "a token for another resource is invalid (RFC 8707)")
def foreign_audience(target: Target) -> Iterator[str]:
    key = target.other("foreign")
    for each in target.endpoints():
        yield from refused(target.send(each, key=key), error="invalid_token")


@check("insufficient-scope", "a token without the scope gets 403 with every scope it needs")
def insufficient_scope(target: Target) -> Iterator[str]:
    key = target.other("narrow")
    name, _ = target.granted()
    call = modern("/mcp", "tools/call", {"name": name, "arguments": {"no_such_argument_zz": 1}})
    answer = target.send(call, key=key)
    parameters = dict(_PARAMETER.findall("".join(answer.values("www-authenticate"))))
    if answer.status != 403 or parameters.get("error") != "insufficient_scope":
        yield f"{answer.request}: {answer.status}, error {parameters.get('error')}"
    if not parameters.get("scope"):
        yield f"{answer.request}: the challenge names no scope"
