"""Base URLs: Server Objects of the document, a path or an operation (OpenAPI 3.2 §4.6)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from gateway.contract.outbound import url_refusal
from gateway.contract.values.pointers import child
from gateway.openapi.lowering.records import OperationSource, Unservable

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URL: Final = re.compile(r"[\x21-\x7e]+")
_FIX: Final = "set base_url in import.yaml, or correct the servers with an overlay"


class Servers:
    """The base URLs of one document.

    The first server is used, with the defaults of its variables. `given` has precedence over the
    document's servers. Relative URLs are relative to `given`, else to `source`, the URL of the
    document (RFC 3986 §5).
    """

    def __init__(self, document: Mapping[str, Any], given: str | None, source: str) -> None:
        is_url = source.startswith(("https://", "http://"))
        self._base = f"{given.rstrip('/')}/" if given else source if is_url else None
        self._relative = _relative(document)
        self.problem: Unservable | None = None
        """Why the document's own servers cannot be used, if `given` is None."""
        self._own = self._document_url(document)
        self.base_url = given.rstrip("/") if given else self._own
        if given:
            self.problem = None

    def of_operation(self, operation: OperationSource) -> str | None:
        """The base URL of `operation`. None: it is the document's. Raises `Unservable`."""
        for holder, pointer in (
            (operation.value, operation.pointer),
            (operation.item, operation.item_pointer),
        ):
            servers = holder.get("servers")
            if not isinstance(servers, list) or not servers:
                continue
            if self._relative is not None and _relative(holder) == self._relative:
                return None
            found = self._url(servers, child(pointer, "servers"))
            if found.startswith("http:") and (self.base_url or "").startswith("https:"):
                message = "the server is reached without TLS, and the document's own server with it"
                where = child(child(pointer, "servers"), 0)
                raise Unservable(where, "server/plain-http", message, _FIX)
            return None if found in {self._own, self.base_url} else found
        return None

    def _document_url(self, document: Mapping[str, Any]) -> str | None:
        servers = document.get("servers")
        if not isinstance(servers, list) or not servers:
            self.problem = Unservable("", "server/missing", "the document has no servers", _FIX)
            return None
        try:
            return self._url(servers, "/servers")
        except Unservable as problem:
            self.problem = problem
            return None

    def _url(self, servers: Sequence[Any], pointer: str) -> str:
        pointer = child(pointer, 0)
        server = servers[0]
        template = server.get("url") if isinstance(server, dict) else None
        if not isinstance(template, str):
            raise Unservable(pointer, "server/malformed", "the server has no URL", _FIX)
        url = _with_defaults(template, server.get("variables"), pointer)
        if not _SCHEME.match(url):
            if self._base is None:
                message = "the server's URL is relative, and the URL of the document is not known"
                raise Unservable(pointer, "server/relative", message, _FIX)
            url = urljoin(self._base, url)
        _refuse_unusable(url, pointer)
        return url.rstrip("/")


def _relative(holder: Mapping[str, Any]) -> str | None:
    """The first server of `holder`, if it is relative. Without servers, it is `/`."""
    match holder.get("servers"):
        case [{"url": str(url)}, *_]:
            is_absolute = "{" in url or _SCHEME.match(url) is not None
            return None if is_absolute else url.rstrip("/")
        case None | []:
            return ""
    return None


def _with_defaults(template: str, variables: Any, pointer: str) -> str:
    known = variables if isinstance(variables, dict) else {}

    def default(found: re.Match[str]) -> str:
        variable = known.get(found[1])
        value = variable.get("default") if isinstance(variable, dict) else None
        if value is None:
            message = f"the server variable {found[1]!r} has no default"
            raise Unservable(pointer, "server/variable", message, _FIX)
        return str(value)

    return _VARIABLE.sub(default, template)


def _refuse_unusable(url: str, pointer: str) -> None:
    """Raise `Unservable` for a URL that requests may not be sent to."""
    reason = None
    try:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            reason = "is not an HTTP URL"
        elif "@" in parts.netloc or parts.query or parts.fragment or not _URL.fullmatch(url):
            reason = "has user information, a query, a fragment or a character that URLs exclude"
        else:
            reason = url_refusal(url)
    except ValueError:
        reason = "is not a URL"
    if reason is not None:
        raise Unservable(pointer, "server/refused", f"the server's URL: {reason}", _FIX)
