"""Checks that a request to a mock has the headers and parameters that every request needs."""

from typing import Final
from urllib.parse import parse_qsl

from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.tokens import TokenIssuer
from gateway.backends.templates import PLACEHOLDER
from gateway.backends.wire import WireRequest
from gateway.contract.mock import MockRefusal
from gateway.contract.upstream import HeaderRule, QueryRule, Upstream

_TOKEN: Final = "token"  # noqa: S105 - a placeholder's name
_CREDENTIAL: Final = "credential."
_ACCEPT: Final = "accept"
"""Not required: a client may accept any media types (RFC 9110 §12.5.1)."""


class CredentialCheck:
    """Refuses requests without the headers and query parameters of `x-upstream`.

    A credential may be any text. An access token must be one that the mock issued.
    """

    def __init__(self, upstream: Upstream, issuer: TokenIssuer) -> None:
        self._issuer = issuer
        optional = {rule.name for rule in upstream.credentials if not rule.is_required}
        self._headers = [
            rule
            for rule in upstream.headers
            if rule.name.lower() != _ACCEPT and not _is_optional(rule, optional)
        ]
        self._query = [rule for rule in upstream.query if not _is_optional(rule, optional)]

    def check(self, request: WireRequest) -> None:
        """Raise `RequestRefused`: 401 for a credential or a token, 400 for anything else."""
        headers = {name.lower(): value for name, value in request.headers}
        for header in self._headers:
            self._check(header, headers.get(header.name.lower(), ""), "header")
        if self._query:
            query = dict(parse_qsl(request.target.partition("?")[2]))
            for parameter in self._query:
                self._check(parameter, query.get(parameter.name, ""), "parameter")

    def _check(self, rule: HeaderRule | QueryRule, value: str, kind: str) -> None:
        literal = rule.template.partition("{")[0]
        names = PLACEHOLDER.findall(rule.template)
        if not value or not value.startswith(literal):
            is_secret = any(name == _TOKEN or name.startswith(_CREDENTIAL) for name in names)
            raise RequestRefused(
                MockRefusal(
                    status=401 if is_secret else 400,
                    title=f"The {kind} '{rule.name}' is required",
                    path=rule.name,
                    reason="missing_credentials" if is_secret else "",
                )
            )
        if _TOKEN in names:
            self._issuer.admit(value.removeprefix(literal))


def _is_optional(rule: HeaderRule | QueryRule, optional: set[str]) -> bool:
    names = PLACEHOLDER.findall(rule.template)
    return any(name.removeprefix(_CREDENTIAL) in optional for name in names)
