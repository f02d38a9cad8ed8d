"""The credentials of imported operations (OpenAPI 3.2, Security Requirement Object)."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, TypeAlias
from urllib.parse import quote, unquote_plus

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.templates import SENDABLE
from gateway.contract.slots import CredentialSlot, filling_all, setting_variable
from gateway.contract.upstream import Upstream
from gateway.errors import ConfigurationError, UpstreamRefusedCredentials

_COOKIE_SAFE: Final = "!#$&'()*+/:<=>?@[]^_`{|}~-."
"""What a cookie's value may contain besides letters and digits (RFC 6265 §4.1.1)."""

Field = tuple[str, str]
Alternatives: TypeAlias = tuple[tuple[str, ...], ...]
"""See `UpstreamRequest.slots`."""
Scopes: TypeAlias = tuple[tuple[tuple[str, ...], ...], ...]
"""See `UpstreamRequest.scopes`."""


class TokenUse(Struct, frozen=True):
    """An access token that a request needs: the slot that it is fetched for, and its scopes."""

    slot: str
    scopes: tuple[str, ...] = ()


class Sent(Struct, frozen=True):
    """What credentials add to a request. Each value is in its HTTP form."""

    headers: tuple[Field, ...] = ()
    query: tuple[str, ...] = ()
    """Encoded pairs, `name=value`."""
    cookies: tuple[str, ...] = ()
    tokens: tuple[TokenUse, ...] = ()
    """The access tokens that must be added to the header `Authorization`. It holds one."""

    @property
    def token(self) -> TokenUse | None:
        """The access token that must be added, or None."""
        return next(iter(self.tokens), None)

    def added_to(self, target: str) -> str:
        """The target with the query parameters. They replace arguments with the same names."""
        if not self.query:
            return target
        path, _, query = target.partition("?")
        names = {_query_name_of(pair) for pair in self.query}
        own = [pair for pair in query.split("&") if pair and _query_name_of(pair) not in names]
        return f"{path}?{'&'.join([*own, *self.query])}"

    def merged(self, headers: Iterable[Field]) -> Iterator[Field]:
        """The headers with the credentials, each name once, in any case of its letters.

        A later header replaces an earlier one, and credentials replace headers and cookies with the
        same names.
        """
        fields: dict[str, Field] = {}
        cookies: list[str] = []
        for name, value in (*headers, *self.headers):
            if name.lower() == "cookie":
                cookies += (each.strip() for each in value.split(";") if each.strip())
            else:
                fields[name.lower()] = (name, value)
        if self.tokens:
            fields.pop("authorization", None)
        yield from fields.values()
        named = {_name_of(each) for each in self.cookies}
        kept = [each for each in cookies if _name_of(each) not in named]
        if kept or self.cookies:
            yield "Cookie", "; ".join([*kept, *self.cookies])

    @property
    def is_ambiguous(self) -> bool:
        """Whether two of the credentials have the same place, which can hold only one."""
        return any(
            len(set(names)) < len(names)
            for names in (
                [name.lower() for name, _ in self.headers] + ["authorization"] * len(self.tokens),
                [_name_of(pair) for pair in self.query],
                [_name_of(pair) for pair in self.cookies],
            )
        )


class Slots:
    """The credential slots of one upstream whose credentials are set."""

    def __init__(self, upstream: Upstream, filled: Mapping[str, Sent]) -> None:
        self._name = upstream.name
        self._title = upstream.title
        self._filled = filled
        self._slots = {slot.name: slot for slot in upstream.slots}
        self._chosen: dict[tuple[Alternatives, Scopes], Sent] = {((), ()): Sent()}

    def chosen(self, alternatives: Alternatives, scopes: Scopes = ()) -> Sent:
        """What the first alternative adds whose slots are all filled.

        `scopes` are those of each slot, in the same order. Raises `UpstreamRefusedCredentials` if
        there is none. The request is not sent then.
        """
        known = self._chosen.get((alternatives, scopes))
        if known is None:
            known = self._chosen[alternatives, scopes] = self._choose(alternatives, scopes)
        return known

    def _choose(self, alternatives: Alternatives, scopes: Scopes) -> Sent:
        found = [
            (names, dict(zip(names, needed, strict=False)))
            for names, needed in zip_longest(alternatives, scopes, fillvalue=())
            if all(name in self._filled for name in names)
        ]
        for names, wanted_scopes in found:
            sent = _together([self._scoped(name, wanted_scopes) for name in names])
            if not sent.is_ambiguous:
                return sent
        if found:
            raise UpstreamRefusedCredentials(
                f"{self._title} wants two credentials in the same place, which cannot be sent: "
                f"{' with '.join(found[0][0])}. "
                "Correct the security of the operation with an overlay."
            )
        wanted = ", or ".join(map(self._wanted, alternatives))
        raise UpstreamRefusedCredentials(
            f"This gateway has no credentials of {self._title} for this tool; set {wanted}."
        )

    def _scoped(self, name: str, scopes: Mapping[str, tuple[str, ...]]) -> Sent:
        sent = self._filled[name]
        uses = tuple(TokenUse(use.slot, scopes.get(name, ())) for use in sent.tokens)
        return replace(sent, tokens=uses)

    def _wanted(self, names: tuple[str, ...]) -> str:
        """The settings that fill these slots, without those that are set already."""
        empty = [self._slots[name] for name in names if name not in self._filled]
        return filling_all(self._name, empty)


def sent_slots(upstream: Upstream, credentials: Mapping[str, str]) -> Slots:
    """The slots that `credentials` fill.

    Raises `ConfigurationError` for a value that cannot be sent.
    """
    filled = {slot.name: _sent(slot, upstream, credentials) for slot in upstream.slots}
    return Slots(upstream, {name: sent for name, sent in filled.items() if sent is not None})


def _together(parts: Sequence[Sent]) -> Sent:
    return Sent(
        tuple(each for part in parts for each in part.headers),
        tuple(each for part in parts for each in part.query),
        tuple(each for part in parts for each in part.cookies),
        tuple(each for part in parts for each in part.tokens),
    )


def _name_of(pair: str) -> str:
    return pair.partition("=")[0].strip()


def _query_name_of(pair: str) -> str:
    # A name has several encodings, and receivers read all of them.
    return unquote_plus(_name_of(pair))


def _sent(slot: CredentialSlot, upstream: Upstream, credentials: Mapping[str, str]) -> Sent | None:
    """What the slot adds to a request, or None if its credentials are not set."""
    way = slot.way_of([name for name, value in credentials.items() if value])
    if way is None:
        return None
    if slot.kind == "basic":
        return _basic(way, credentials)
    if slot.kind == "mutual_tls":
        return Sent()  # the connection carries it
    if slot.name not in way:
        return Sent(tokens=(TokenUse(slot.name),))
    value = credentials[slot.name]
    if slot.kind == "api_key":
        return _api_key(slot, value, upstream)
    return Sent(headers=(("Authorization", f"Bearer {_sendable(value, slot, upstream)}"),))


def _basic(way: Iterable[str], credentials: Mapping[str, str]) -> Sent:
    """RFC 7617."""
    pair = base64.b64encode(":".join(credentials[name] for name in way).encode()).decode("ascii")
    return Sent(headers=(("Authorization", f"Basic {pair}"),))


def _api_key(slot: CredentialSlot, value: str, upstream: Upstream) -> Sent:
    key = slot.key_name or slot.name
    match slot.location:
        case "query":
            return Sent(query=(f"{quote(key, safe='')}={quote(value, safe='')}",))
        case "cookie":
            return Sent(cookies=(f"{key}={quote(value, safe=_COOKIE_SAFE)}",))
        case _:
            return Sent(headers=((key, _sendable(value, slot, upstream)),))


def _sendable(value: str, slot: CredentialSlot, upstream: Upstream) -> str:
    if not SENDABLE.fullmatch(value):
        setting = setting_variable(upstream.name, slot.name)
        raise ConfigurationError(
            f"{setting} cannot be sent in a header; does it contain a line break?"
        )
    return value
