"""Where requests go and how they authenticate (OpenAPI 3.2 §4.6, §4.27, §4.30)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, Final, Literal
from urllib.parse import urljoin, urlsplit

from gateway.authoring.openapi.lowering.records import DocumentView, OperationSource, Unservable
from gateway.authoring.openapi.lowering.selecting import snake_case
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.contract.imported import SecurityUse
from gateway.contract.outbound import header_refusal, url_refusal
from gateway.contract.slots import CredentialSlot
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child

# Base URLs: Server Objects of the document, a path or an operation (OpenAPI 3.2 §4.6).

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


# Credentials: Security Schemes and Security Requirements (OpenAPI 3.2 §4.27, §4.30).

SCHEMES: Final = "/components/securitySchemes"
MISSING: Final = "security/none"
UNKNOWN: Final = "security/unknown-scheme"
NEEDS_OVERLAY: Final = "if the API needs a credential, declare it with an overlay"
_TAKEN: Final = frozenset({"backend", "base_url", "token_url"})
"""Settings that every upstream has."""
_ENDS: Final = (
    "file",
    "username",
    "password",
    "client_id",
    "client_secret",
    "refresh_token",
    "token_url",
    "client_auth",
    "certificate",
    "key",
)
"""What follows the name of a slot in the names of its settings."""
_OVERLAY: Final = "correct the security of the operation with an overlay"
_FLOWS: Final[tuple[tuple[str, Literal["client_credentials", "refresh_token"]], ...]] = (
    ("clientCredentials", "client_credentials"),
    ("authorizationCode", "refresh_token"),
    ("deviceAuthorization", "refresh_token"),
)
"""OAuth flows that need no person at the time of a call, by precedence."""
_TOKENS: Final = frozenset({"bearer", "oauth2"})
"""Kinds that are sent as a bearer token."""


class Schemes:
    """The security schemes of one document."""

    def __init__(self, view: DocumentView, base_url: str | None) -> None:
        self._view = view
        self._base_url = base_url
        components = view.value.get("components")
        found = components.get("securitySchemes") if isinstance(components, dict) else None
        self._schemes: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._names = _slot_names(self._schemes)
        self._slots: dict[str, CredentialSlot | Unservable | PartRefused] = {}
        self._noted: set[str] = set()

    def of_operation(self, operation: OperationSource) -> tuple[tuple[SecurityUse, ...], ...]:
        """The alternatives of `operation`. Raises `Unservable` if none of them can be served."""
        holder, pointer = self._requirements(operation)
        if not self._schemes and any(isinstance(each, dict) and each for each in holder):
            self._note_unknown(holder, pointer)
            return ()
        alternatives: list[tuple[SecurityUse, ...]] = []
        problem: Unservable | PartRefused | None = None
        for position, requirement in enumerate(holder):
            place = child(pointer, position)
            try:
                alternatives.append(self._sent(list(self._uses(requirement, place)), place))
            except (Unservable, PartRefused) as found:
                problem = problem or found
                why = found.finding.message if isinstance(found, PartRefused) else found.message
                left_out = f"this alternative is left out: {why}"
                self._view.note(place, "security/left-out", left_out)
        if problem is not None and not alternatives:
            raise problem
        # The first alternative that can be sent is: without a credential, only if there is none.
        unique = sorted(dict.fromkeys(alternatives), key=lambda uses: not uses)
        return tuple(unique) if any(alternatives) else ()

    def _note_unknown(self, holder: Iterable[Any], pointer: str) -> None:
        """Note once that without any scheme nothing says where a credential is sent."""
        names = {name for each in holder if isinstance(each, dict) for name in each}
        if pointer not in self._noted:
            self._noted.add(pointer)
            listed = ", ".join(sorted(names))
            message = f"there is no security scheme {listed}, so calls go without credentials"
            self._view.note(pointer, UNKNOWN, message, NEEDS_OVERLAY)

    def note_missing(self) -> None:
        """Note that calls go without credentials, if no operation that was lowered names one."""
        if self._slots or isinstance(self._view.value.get("security"), list):
            return
        if self._schemes:
            message = "no operation requires one of the security schemes, so calls go without"
            self._view.note(SCHEMES, MISSING, message, NEEDS_OVERLAY)
        else:
            message = "there is no security scheme, so calls go without credentials"
            self._view.note("", MISSING, message, NEEDS_OVERLAY)

    def slots(self, names: Mapping[str, Any]) -> tuple[CredentialSlot, ...]:
        """The slots with these names, sorted by name."""
        found = (each for each in self._slots.values() if isinstance(each, CredentialSlot))
        return tuple(sorted((e for e in found if e.name in names), key=lambda each: each.name))

    def _requirements(self, operation: OperationSource) -> tuple[list[Any], str]:
        own = operation.value.get("security")
        if isinstance(own, list):
            return own, child(operation.pointer, "security")
        general = self._view.value.get("security")
        return general if isinstance(general, list) else [], "/security"

    def _uses(self, requirement: Any, pointer: str) -> Iterator[SecurityUse]:
        if not isinstance(requirement, dict):
            message = "a security requirement is not an object"
            raise Unservable(pointer, "security/malformed", message, _OVERLAY)
        for scheme, scopes in requirement.items():
            slot = self._slot(scheme, pointer)
            listed = scopes if isinstance(scopes, list) else []
            yield SecurityUse(slot=slot.name, scopes=tuple(map(str, listed)))

    def _sent(self, uses: Sequence[SecurityUse], pointer: str) -> tuple[SecurityUse, ...]:
        """`uses` with one credential in each place: one access token can stand for two schemes.

        Raises `Unservable` for different kinds of credentials in one place.
        """
        slots = {
            each.name: each for each in self._slots.values() if isinstance(each, CredentialSlot)
        }
        by_place: dict[Any, list[SecurityUse]] = {}
        for use in uses:
            by_place.setdefault(_place(slots[use.slot]), []).append(use)
        return tuple(self._one(found, slots, pointer) for found in by_place.values())

    def _one(
        self, uses: Sequence[SecurityUse], slots: Mapping[str, CredentialSlot], pointer: str
    ) -> SecurityUse:
        if len(uses) == 1:
            return uses[0]
        names = " and ".join(each.slot for each in uses)
        kinds = {slots[each.slot].kind for each in uses}
        if len(kinds) > 1 and not kinds <= _TOKENS:
            message = f"{names} are sent in the same place, which has room for one"
            raise Unservable(pointer, "security/same-place", message, _OVERLAY)
        # One whose token the gateway can get is easier to operate.
        kept = next((each for each in uses if slots[each.slot].flow), uses[0])
        message = f"{names} are sent in the same place, so {kept.slot} stands for all of them"
        self._view.note(pointer, "security/one-credential", message)
        scopes = dict.fromkeys(scope for each in uses for scope in each.scopes)
        return SecurityUse(slot=kept.slot, scopes=tuple(scopes))

    def _slot(self, scheme: str, pointer: str) -> CredentialSlot:
        if scheme not in self._schemes:
            message = f"there is no security scheme {scheme!r}"
            fix = hint(scheme, self._schemes, _OVERLAY)
            raise Unservable(pointer, UNKNOWN, message, fix)
        if scheme not in self._slots:
            self._slots[scheme] = self._made(scheme)
        slot = self._slots[scheme]
        if not isinstance(slot, CredentialSlot):
            raise slot
        return slot

    def _made(self, scheme: str) -> CredentialSlot | Unservable | PartRefused:
        try:
            found = self._view.part(self._schemes[scheme], child(SCHEMES, scheme))
            return self._lowered(self._names[scheme], found.value, found.pointer)
        except (Unservable, PartRefused) as problem:
            return problem

    def _lowered(self, name: str, value: Any, pointer: str) -> CredentialSlot:
        description = str(value.get("description", ""))[:500]
        match value:
            case {"type": "apiKey", "in": "header" | "query" | "cookie" as place, "name": str(key)}:
                _refuse_header(place, key, pointer)
                return CredentialSlot(
                    name=name, kind="api_key", description=description, location=place, key_name=key
                )
            case {"type": "http", "scheme": str(way)} if way.lower() in {"basic", "bearer"}:
                kind: Literal["basic", "bearer"] = "basic" if way.lower() == "basic" else "bearer"
                return CredentialSlot(name=name, kind=kind, description=description)
            case {"type": "oauth2", "flows": dict(flows)}:
                return self._oauth(name, description, flows, pointer)
            case {"type": "openIdConnect"}:
                self._view.note(pointer, "security/token-given", _token_given("OpenID Connect"))
                return CredentialSlot(name=name, kind="oauth2", description=description)
            case {"type": "mutualTLS"}:
                return CredentialSlot(name=name, kind="mutual_tls", description=description)
        shown = " ".join(str(value.get(each, "")) for each in ("type", "scheme", "in")).strip()
        message = f"the gateway has no credentials of the kind {shown!r}"
        raise Unservable(pointer, "security/scheme", message, _OVERLAY)

    def _oauth(
        self, name: str, description: str, flows: Mapping[str, Any], pointer: str
    ) -> CredentialSlot:
        for member, flow in _FLOWS:
            found = flows.get(member)
            url = found.get("tokenUrl") if isinstance(found, dict) else None
            if flow == "refresh_token" and isinstance(found, dict):
                url = found.get("refreshUrl", url)
            if isinstance(url, str) and (absolute := self._absolute(url)):
                return CredentialSlot(
                    name=name,
                    kind="oauth2",
                    description=description,
                    flow=flow,
                    token_url=absolute,
                )
        message = _token_given(f"OAuth 2 with the flows {', '.join(flows) or 'none'}")
        self._view.note(pointer, "security/token-given", message)
        return CredentialSlot(name=name, kind="oauth2", description=description)

    def _absolute(self, url: str) -> str | None:
        try:
            found = urljoin(f"{self._base_url}/", url) if self._base_url else url
            is_http = urlsplit(found).scheme in {"https", "http"}
        except ValueError:
            return None
        return found if is_http else None


def _place(slot: CredentialSlot) -> tuple[str, str]:
    """Where the credential is sent. Headers have names without case."""
    if slot.kind == "api_key":
        name = slot.key_name or ""
        return slot.location or "header", name if slot.location != "header" else name.lower()
    return ("connection", "") if slot.kind == "mutual_tls" else ("header", "authorization")


def _slot_names(schemes: Mapping[str, Any]) -> dict[str, str]:
    """The name of each slot. A name that is taken gets a number."""
    names: dict[str, str] = {}
    for scheme in schemes:
        wanted = snake_case(scheme) or "credential"
        wanted = f"key_{wanted}" if wanted[0].isdigit() else wanted
        taken = {*names.values(), *_TAKEN}
        numbered = (f"{wanted}_{number}" for number in count(2))
        candidates = chain((wanted,), numbered)
        names[scheme] = next(each for each in candidates if not _clashes(each, taken))
    return names


def _clashes(name: str, taken: Collection[str]) -> bool:
    """Whether a setting of the slot `name` would have the name of another setting."""
    return name in taken or any(
        f"{name}_{end}" in taken or f"{other}_{end}" == name for other in taken for end in _ENDS
    )


def _refuse_header(place: str, key: str, pointer: str) -> None:
    reason = header_refusal(key) if place == "header" else None
    if reason:
        raise Unservable(pointer, "security/header", reason, _OVERLAY)


def _token_given(kind: str) -> str:
    return f"{kind}: the operator gives an access token, or sets the URL that issues tokens"
