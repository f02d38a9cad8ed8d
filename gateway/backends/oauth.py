"""Tokens of OAuth 2.0 for upstreams: how they are asked for, read, kept and renewed."""

import asyncio
import base64
import logging
import math
import re
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote_plus

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.slots import TokenUse
from gateway.backends.wire import form_encoded
from gateway.clock import Clock
from gateway.contract.credentials import GRANT_CREDENTIALS, KeyFile, read_key_file, usable_rule
from gateway.contract.refusals import plain_code, with_code
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import (
    Reply,
    TokenGrant,
    TokenRule,
    Upstream,
    UpstreamOperation,
    status_names,
)
from gateway.contract.values import jsontext
from gateway.encoding.bodies import FORM
from gateway.encoding.replies.content import ReplySchema
from gateway.errors import (
    ConfigurationError,
    InternalError,
    InvalidReply,
    UpstreamError,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from gateway.lookups import Known, Lookups
from gateway.observability.defects import log_defect

# Reads the replies of a token endpoint (RFC 6749 §5.1, §5.2).

MAX_TOKEN_REPLY_BYTES: Final = 64 * 1024
UNKNOWN_LIFETIME_SECONDS: Final = 300.0
"""The lifetime of a token if the endpoint does not give one."""
_PERMANENT: Final = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
_TRANSIENT: Final = frozenset({408, 429})
_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,16384}")
"""The characters that RFC 6749 (A.12) allows in a token, and a length that servers accept in a
header. Any other token would be cached, and would make all calls fail until it expires."""


class IssuedToken(Struct, frozen=True, kw_only=True):
    """What the endpoint issued. Its repr does not contain the tokens."""

    text: str
    lifetime_seconds: float
    refresh_token: str | None = None
    """A new refresh token that replaces the old one."""

    def __repr__(self) -> str:
        return "IssuedToken(***)"


class CredentialsRefused(Struct, frozen=True):
    """The endpoint refused the credentials permanently. An operator must fix them."""

    code: str
    """The error code of RFC 6749 §5.2, or a code of the gateway's own."""


class TokenReplyReader:
    """Validates the replies of one token endpoint against its operation in the contract."""

    def __init__(self, operation: UpstreamOperation) -> None:
        declared = map(operation.replies.get, status_names(200))
        self._schema = ReplySchema(next(filter(None, declared), {}), None)

    def read(self, reply: Reply) -> IssuedToken | CredentialsRefused:
        """The issued token, or the permanent refusal.

        Raises `UpstreamUnavailable` for a temporary failure, and another `UpstreamError` for any
        other reply. The errors contain the endpoint's error code, and nothing else of its reply.
        """
        if reply.status == 200:
            return self._issued(reply)
        if reply.status in _TRANSIENT or reply.status >= 500:
            raise UpstreamUnavailable(
                f"The upstream's token endpoint answered {reply.status}.", is_sent=False
            )
        if 300 <= reply.status < 400:
            raise InvalidReply("The upstream's token endpoint answered with a redirect.")
        code = plain_code((_object(reply) or {}).get("error"))
        if code in _PERMANENT:
            return CredentialsRefused(code)
        raise UpstreamRefusedCredentials(
            with_code(f"The upstream's token endpoint answered {reply.status}", code)
        )

    def _issued(self, reply: Reply) -> IssuedToken:
        body = _object(reply)
        if body is None:
            raise InvalidReply("The upstream's token endpoint did not return a JSON object.")
        if not self._schema.admits(body):
            body, _ = self._schema.lenient(body)
        if not self._schema.admits(body):
            raise InvalidReply("The reply of the upstream's token endpoint breaks its contract.")
        token, lifetime = body.get("access_token"), body.get("expires_in")
        if not isinstance(token, str) or not token or not _is_bearer(body.get("token_type")):
            raise InvalidReply("The upstream's token endpoint did not return a bearer token.")
        if not _TOKEN.fullmatch(token):
            raise InvalidReply("The upstream issued an access token that a header cannot hold.")
        rotated = body.get("refresh_token")
        return IssuedToken(
            text=token,
            lifetime_seconds=_seconds(lifetime),
            refresh_token=rotated if isinstance(rotated, str) and rotated else None,
        )


def _seconds(lifetime: object) -> float:
    """The lifetime as a number. Some endpoints write it as text."""
    try:
        seconds = float(lifetime) if isinstance(lifetime, int | float | str) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    return seconds if math.isfinite(seconds) else UNKNOWN_LIFETIME_SECONDS


def _is_bearer(kind: object) -> bool:
    return kind is None or (isinstance(kind, str) and kind.lower() == "bearer")


def _object(reply: Reply) -> dict[str, Any] | None:
    if len(reply.body) > MAX_TOKEN_REPLY_BYTES:
        return None
    try:
        body = jsontext.decode(reply.body)
    except jsontext.NotJson:
        return None
    return body if isinstance(body, dict) else None


# A token endpoint over HTTP.

_HEADERS = {
    "Content-Type": FORM,
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "contract-gateway",
}


class HttpTokenWire:
    """Posts forms to `url`. Redirects are not followed, and proxies are not used."""

    def __init__(self, url: str, authorization: str | None = None) -> None:
        """`authorization` is the client's, if it is not in the form (RFC 6749 §2.3.1)."""
        self._url = url
        self._headers = _HEADERS | ({"Authorization": authorization} if authorization else {})
        self._trust: ssl.SSLContext | None = None

    async def post(self, form: bytes) -> Reply:
        """See `TokenWire.post`. The caller must limit the time."""
        import httpx  # noqa: PLC0415 - takes a tenth of a second, and only token endpoints need it

        try:
            return await self._post(form)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
            # Without its cause: an error of httpx contains the request, and thus the secrets.
            raise UpstreamUnavailable(
                f"The upstream's token endpoint cannot be reached ({type(error).__name__}).",
                is_sent=False,
            ) from None

    async def _post(self, form: bytes) -> Reply:
        import httpx  # noqa: PLC0415 - as in `post`

        # One context for all posts: to read the system's certificates takes tens of milliseconds.
        self._trust = self._trust or ssl.create_default_context()
        client = httpx.AsyncClient(
            verify=self._trust,
            timeout=None,  # noqa: S113 - the token source limits the time
            follow_redirects=False,
            trust_env=False,
        )
        async with (
            client,
            client.stream("POST", self._url, content=form, headers=self._headers) as response,
        ):
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_TOKEN_REPLY_BYTES:
                    raise InvalidReply("The reply of the upstream's token endpoint is too large.")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Reply(status=response.status_code, headers=headers, body=bytes(body))


# The forms that are posted to a token endpoint (RFC 6749 §4.4.2, §6; RFC 7523 §2.1).

GRANT_TYPES: Final[Mapping[TokenGrant, str]] = {
    "refresh_token": "refresh_token",
    "client_credentials": "client_credentials",
    "jwt_bearer": "urn:ietf:params:oauth:grant-type:jwt-bearer",
}
ASSERTION_SECONDS: Final = 3600
"""How long an assertion is valid."""
_KEY_BITS: Final = 2048
_CLIENT: Final = frozenset({"client_id", "client_secret"})


class TokenForms:
    """Makes the forms for one grant type. They contain secrets: never log them."""

    def __init__(
        self,
        rule: TokenRule,
        credentials: Mapping[str, str],
        read_key: Callable[[str], KeyFile] = read_key_file,
    ) -> None:
        self._rule = rule
        self._read_key = read_key
        self._credentials = {name: credentials[name] for name in GRANT_CREDENTIALS[rule.grant]}
        self._key: KeyFile | None = None

    async def form(self, now: datetime) -> dict[str, str]:
        """The form to post at the time `now`. Raises `ValueError` if the key cannot sign."""
        form = {"grant_type": GRANT_TYPES[self._rule.grant]}
        match self._rule.grant:
            case "jwt_bearer":
                # In a thread, so that other calls do not wait: the signature takes milliseconds,
                # and the first import of its library a tenth of a second.
                return form | {"assertion": await asyncio.to_thread(self._assertion, now)}
            case "client_credentials" if self._rule.scopes:
                form["scope"] = " ".join(self._rule.scopes)
        return form | self._sent

    @property
    def _sent(self) -> dict[str, str]:
        """The credentials in the form. A client that uses HTTP Basic is in the header instead."""
        hidden = _CLIENT if self._rule.client_auth == "header" else frozenset[str]()
        return {name: value for name, value in self._credentials.items() if name not in hidden}

    def rotate(self, refresh_token: str | None) -> bool:
        """Use this refresh token from now on. Returns whether it replaced another one."""
        held = self._credentials.get("refresh_token")
        if refresh_token is None or held is None or refresh_token == held:
            return False
        self._credentials["refresh_token"] = refresh_token
        return True

    def _assertion(self, now: datetime) -> str:
        import jwt  # noqa: PLC0415 - takes a tenth of a second, and only assertions need it

        if self._key is None:
            self._key = self._read_key(self._credentials["service_account_key"])
        issued = int(now.timestamp())
        claims = {
            "iss": self._key.client_email,
            "scope": " ".join(self._rule.scopes),
            "aud": self._key.token_uri,
            "iat": issued,
            "exp": issued + ASSERTION_SECONDS,
        }
        headers = {"kid": self._key.private_key_id} if self._key.private_key_id else None
        try:
            return jwt.encode(claims, self._key.private_key, algorithm="RS256", headers=headers)
        except jwt.PyJWTError:
            raise ValueError("the private key cannot sign") from None


def mock_key(name: str) -> KeyFile:
    """A new random key for a mock. To make one takes a tenth of a second."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - only mocks need it
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 - only mocks need it

    pem = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return KeyFile(
        client_email=f"{name}@mock.iam.gserviceaccount.com",
        private_key=pem.decode(),
        token_uri="https://mock.example/token",  # noqa: S106 - an address
        private_key_id="mock",
    )


# Access tokens (RFC 6749): one fetch for all calls, which use the old token during a renewal.

EARLY_SECONDS: Final = 60.0
EARLY_FRACTION: Final = 0.1
"""A token is renewed a minute before it expires, or a tenth of its lifetime if that is less. It is
used during the renewal, for half of this time at most."""
FETCH_SECONDS: Final = 10.0
"""The time limit of one request to a token endpoint. A waiting call may have a shorter limit."""
_log: Final = logging.getLogger(__name__)


class TokenWire(Protocol):
    """Sends forms to one token endpoint."""

    async def post(self, form: bytes) -> Reply:
        """The endpoint's reply to one form. Raises `UpstreamError` if there is none."""
        ...


class TokenSource:
    """The access token of one upstream."""

    def __init__(
        self, upstream: Upstream, rule: TokenRule, forms: TokenForms, wire: TokenWire, clock: Clock
    ) -> None:
        self._upstream = upstream
        self._rule = rule
        self._forms = forms
        self._wire = wire
        self._clock = clock
        self._reader = TokenReplyReader(token_operation(upstream, rule))
        self._held: Known[str] | None = None
        self._lookups = Lookups(self._fetch, clock, "token")
        self._refused: CredentialsRefused | None = None
        self._has_rotated = False

    @property
    def problem(self) -> str | None:
        """What an operator must fix before a token can be fetched again, or None."""
        return None if self._refused is None else self._advice(self._refused.code)

    async def current(self) -> str:
        """A token that is still valid for a while.

        Raises `UpstreamError`. In that case, nothing was sent to the API itself.
        """
        return (await self._lookups.current(None, self._held)).value

    def invalidate(self, token: str) -> None:
        """Discard `token`, because the API refused it. A token that was fetched since is kept."""
        if self._held is not None and self._held.value == token:
            self._held = None

    async def close(self) -> None:
        """Cancel a running fetch."""
        await self._lookups.close()

    async def _fetch(self, _: None) -> Known[str]:
        if self._refused is not None:
            raise self._refusal(self._refused)
        requested_at = self._clock.monotonic()
        try:
            issued = await self._request()
        except UpstreamError as error:
            _log.warning("%s: no access token: %s", self._upstream.name, error.detail)
            raise
        except Exception as error:
            log_defect(_log, error, "%s: fetching a token failed", self._upstream.name)
            raise
        if isinstance(issued, CredentialsRefused):
            self._refused = issued
            _log.error("%s: %s", self._upstream.name, self._advice(issued.code))
            raise self._refusal(issued)
        self._note_rotation(issued)
        lifetime = issued.lifetime_seconds
        usable = usable_seconds(lifetime)
        # Half of the rest is for the request that carries it.
        until = requested_at + (usable + lifetime) / 2
        self._held = Known(issued.text, requested_at + usable, until)
        return self._held

    async def _request(self) -> IssuedToken | CredentialsRefused:
        try:
            form = await self._forms.form(self._clock.now())
        except ValueError:
            return CredentialsRefused("unusable_key")
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                reply = await self._wire.post(form_encoded(form))
        except TimeoutError:
            raise UpstreamUnavailable(
                "The upstream's token endpoint did not answer in time.", is_sent=False
            ) from None
        return self._reader.read(reply)

    def _note_rotation(self, issued: IssuedToken) -> None:
        if self._forms.rotate(issued.refresh_token) and not self._has_rotated:
            self._has_rotated = True
            _log.warning(
                "%s: the upstream issued a new refresh token; it is used until this process ends",
                self._upstream.name,
            )

    def _refusal(self, refused: CredentialsRefused) -> UpstreamRefusedCredentials:
        return UpstreamRefusedCredentials(
            f"{self._upstream.title} refused this gateway's credentials: {refused.code}."
        )

    def _advice(self, code: str) -> str:
        names = GRANT_CREDENTIALS[self._rule.grant]
        if code == "invalid_grant":
            names = names[-1:]
        elif self._rule.grant != "jwt_bearer":
            names = names[:2]
        if code == "invalid_client":
            names += tuple(e.name for e in self._upstream.settings if e.name == "client_auth")
        settings = " and ".join(f"GATEWAY_{self._upstream.name}_{name}".upper() for name in names)
        clock = ", and this machine's clock" if self._rule.grant == "jwt_bearer" else ""
        return (
            f"The token endpoint refuses the credentials ({code}); "
            f"check {settings}{clock}, and reload or restart the gateway"
        )


def usable_seconds(lifetime_seconds: float) -> float:
    """How long a token with this lifetime is used until another one is fetched."""
    return lifetime_seconds - min(EARLY_SECONDS, lifetime_seconds * EARLY_FRACTION)


def token_operation(upstream: Upstream, rule: TokenRule) -> UpstreamOperation:
    """The operation that issues the tokens. Raises `InternalError` if there is none: a lint rule
    requires it."""
    operation = upstream.find(rule.operation)
    if operation is None:
        raise InternalError(f"{upstream.name} has no operation {rule.operation!r}")
    return operation


# The access tokens of the credential slots of one upstream (RFC 6749).

_ISSUE: Final = UpstreamOperation(id="issue_token", method="POST", path="/", replies={"200": {}})
_GRANTS: Final[tuple[Literal["refresh_token", "client_credentials"], ...]] = (
    "refresh_token",
    "client_credentials",
)
"""By precedence."""


class SlotTokens:
    """One source of tokens for each slot and set of scopes.

    A refresh token has its own scopes, so its slot has one source, which keeps a rotated token.
    """

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        credentials: Mapping[str, str],
        settings: Mapping[str, str],
    ) -> None:
        """`settings` are those of the token endpoints (`CredentialSlot.token_settings`)."""
        self._upstream = upstream
        self._clock = clock
        self._credentials = credentials
        self._settings = settings
        self._slots = {slot.name: slot for slot in upstream.slots}
        self._sources: dict[TokenUse, TokenSource] = {}

    @property
    def problem(self) -> str | None:
        """What an operator must fix before tokens can be fetched again, or None."""
        return next((p for each in self._sources.values() if (p := each.problem)), None)

    def source(self, use: TokenUse) -> TokenSource:
        """The source of the token. Raises `ConfigurationError` if its URL is not known."""
        slot = self._slots[use.slot]
        given = self._given(slot)
        key = TokenUse(use.slot) if "refresh_token" in given else use
        if key not in self._sources:
            self._sources[key] = self._made(slot, given, key.scopes)
        return self._sources[key]

    async def close(self) -> None:
        """Cancel all fetches that are under way."""
        for each in self._sources.values():
            await each.close()

    def _given(self, slot: CredentialSlot) -> dict[str, str]:
        """The credentials of `slot` by the names that a token rule has for them."""
        way = slot.way_of([name for name, value in self._credentials.items() if value]) or ()
        return {name.removeprefix(f"{slot.name}_"): self._credentials[name] for name in way}

    def _made(
        self, slot: CredentialSlot, given: Mapping[str, str], scopes: tuple[str, ...]
    ) -> TokenSource:
        url_setting, auth_setting = slot.token_settings
        url = self._settings.get(url_setting)
        if not url:
            variable = setting_variable(self._upstream.name, url_setting)
            raise ConfigurationError(f"{variable} is not set; set the URL that issues tokens")
        rule = self._rule(slot, url, self._settings.get(auth_setting, "header"), scopes, given)
        wire = HttpTokenWire(url, _authorization(given) if rule.client_auth == "header" else None)
        return TokenSource(self._issuer(slot), rule, TokenForms(rule, given), wire, self._clock)

    def _rule(
        self,
        slot: CredentialSlot,
        url: str,
        client_auth: str,
        scopes: tuple[str, ...],
        given: Mapping[str, str],
    ) -> TokenRule:
        auth: Literal["body", "header"] = "body" if client_auth == "body" else "header"
        rules = [
            TokenRule(grant=g, url=url, operation=_ISSUE.id, scopes=scopes, client_auth=auth)
            for g in _GRANTS
        ]
        rule = usable_rule(rules, given)
        if rule is None:
            raise ConfigurationError(f"{self._upstream.name}: {slot.name} has no credentials")
        return rule

    def _issuer(self, slot: CredentialSlot) -> Upstream:
        """The upstream that a token source sees: its name is the start of the slot's settings."""
        return Upstream(
            name=f"{self._upstream.name}_{slot.name}",
            title=self._upstream.title,
            base_url=None,
            settings=tuple(
                replace(each, name="client_auth")
                for each in self._upstream.settings
                if each.name == slot.token_settings[1]
            ),
            operations=(_ISSUE,),
        )


def _authorization(given: Mapping[str, str]) -> str:
    """The header value of HTTP Basic for a client (RFC 6749 §2.3.1)."""
    pair = ":".join(quote_plus(given[name]) for name in ("client_id", "client_secret"))
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
