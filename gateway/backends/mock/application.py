"""A mock of an upstream, built from its contract.

The contract defines the requests and the replies. A behaviour module (`gateway.contract.mock`) can
compute replies and keep state. An operation without a behaviour returns its contract's example.

The token endpoint of a mock upstream (RFC 6749 §4.4, §5, §6; RFC 7523 §2.1, §3).

It issues a token for every valid form. The API of the same mock accepts the tokens until they
expire. A `refresh_token`, `client_secret` or issuer that contains `revoked` is refused.
"""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.mock.damage import damaged
from gateway.backends.mock.faults import (
    FAULT_HEADER,
    Fault,
    NotAFault,
    Scenario,
    ScenarioStep,
    requested_fault,
)
from gateway.backends.mock.requests import MockArguments, RequestReader, RequestRefused
from gateway.backends.mock.router import Router
from gateway.backends.mock.slots import SlotCheck
from gateway.backends.mock.state import StoredState
from gateway.backends.oauth.forms import GRANT_TYPES
from gateway.backends.templates import PLACEHOLDER
from gateway.backends.wire import WireReply, WireRequest
from gateway.clock import Clock
from gateway.contract.connector import faults, import_named
from gateway.contract.credentials.grants import GRANT_CREDENTIALS
from gateway.contract.mock import (
    Behaviour,
    MockMessage,
    MockRefusal,
    MockReply,
    MockRequest,
    TokenRefusal,
)
from gateway.contract.upstream import (
    HeaderRule,
    QueryRule,
    TokenGrant,
    Upstream,
    UpstreamOperation,
    status_names,
)
from gateway.contract.values import jsontext
from gateway.encoding.replies.tolerance import ReplySchema
from gateway.errors import ContractError

REVOKED: Final = "revoked"
MAX_TOKENS: Final = 1000
"""How many tokens are accepted at once. The oldest ones are discarded."""
_LIFETIME_SECONDS: Final = 3600
_LONGEST_ASSERTION_SECONDS: Final = 3600
_ERRORS: Final = {401: "invalid_client", 429: "slow_down", 503: "temporarily_unavailable"}

RefuseToken = Callable[[TokenRefusal], Any]


class TokenIssuer:
    """Issues access tokens, and checks whether a token is valid."""

    def __init__(self, upstream: Upstream, clock: Clock, seed: str, refuse: RefuseToken) -> None:
        self._clock = clock
        self._seed = seed
        self._refuse = refuse
        self._grants: dict[str, dict[str, TokenGrant]] = {}
        for rule in upstream.tokens:
            self._grants.setdefault(rule.operation, {})[GRANT_TYPES[rule.grant]] = rule.grant
        self._issued: dict[str, datetime] = {}
        self._count = 0

    def serves(self, operation_id: str) -> bool:
        """Whether this operation issues tokens."""
        return operation_id in self._grants

    def answer(self, operation: UpstreamOperation, form: Mapping[str, Any]) -> MockReply:
        """The reply to a form that is valid under the contract."""
        refusal = self._check(operation, form)
        if refusal is not None:
            return self.refused(refusal)
        examples = operation.examples.items()
        example: dict[str, Any] = next((body for s, body in examples if s.startswith("2")), {})
        lifetime = example.get("expires_in", _LIFETIME_SECONDS)
        body = {**example, "access_token": self._issue(lifetime), "expires_in": lifetime}
        if "client_id" in example and "client_id" in form:
            body["client_id"] = form["client_id"]
        return MockReply(body=body)

    def refused(self, refusal: TokenRefusal) -> MockReply:
        """A refusal in the vendor's format."""
        return MockReply(status=refusal.status, body=self._refuse(refusal))

    def failed(self, status: int, title: str) -> MockReply:
        """A refusal for a reason other than the grant: a fault, or an invalid request."""
        code = _ERRORS.get(status, "invalid_request" if status < 500 else "server_error")
        status = 400 if status == 422 else status
        return self.refused(TokenRefusal(status=status, error=code, description=title))

    def admit(self, token: str) -> None:
        """Raise `RequestRefused` with 401 for a token that is expired or was not issued here."""
        expires_at = self._issued.get(token)
        if expires_at is None:
            title = "The access token is not valid."
            raise RequestRefused(MockRefusal(status=401, title=title, reason="invalid_token"))
        if expires_at <= self._clock.now():
            title = "The access token has expired."
            raise RequestRefused(MockRefusal(status=401, title=title, reason="expired_token"))

    def _check(self, operation: UpstreamOperation, form: Mapping[str, Any]) -> TokenRefusal | None:
        grant = self._grants[operation.id].get(str(form.get("grant_type")))
        if grant is None:
            return TokenRefusal(
                status=400, error="unsupported_grant_type", description="Not a grant for this API."
            )
        if grant == "jwt_bearer":
            return _check_assertion(form.get("assertion"))
        missing = [name for name in GRANT_CREDENTIALS[grant] if not form.get(name)]
        if missing:
            description = f"Missing required parameter: {missing[0]}"
            return TokenRefusal(status=400, error="invalid_request", description=description)
        if REVOKED in str(form["client_secret"]):
            description = "Client credentials are invalid"
            return TokenRefusal(status=401, error="invalid_client", description=description)
        if REVOKED in str(form.get("refresh_token", "")):
            return _invalid_grant("Token has been expired or revoked.")
        return None

    def _issue(self, lifetime: float) -> str:
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}\0token\0{self._count}".encode()).hexdigest()
        token = f"mock_token_{digest[:32]}"
        self._issued[token] = self._clock.now() + timedelta(seconds=lifetime)
        if len(self._issued) > MAX_TOKENS:
            del self._issued[next(iter(self._issued))]
        return token


def plain_token_refusal(refusal: TokenRefusal) -> Any:
    """A refusal in the format of RFC 6749 §5.2."""
    return {"error": refusal.error, "error_description": refusal.description}


def _check_assertion(assertion: object) -> TokenRefusal | None:
    """The refusal of an assertion whose header or claims break RFC 7523, or None.

    The signature is not verified, because the mock has no public key.
    """
    try:
        header, claims, signature = str(assertion).split(".")
        algorithm = _decoded(header).get("alg")
        facts = _decoded(claims)
        lifetime = facts["exp"] - facts["iat"]
        issuer, audience = facts["iss"], facts["aud"]
    except (ValueError, KeyError, TypeError, AttributeError, msgspec.DecodeError):
        return _invalid_grant("Invalid JWT.")
    if algorithm != "RS256" or not signature:
        return _invalid_grant("Invalid JWT Signature.")
    if not 0 < lifetime <= _LONGEST_ASSERTION_SECONDS:
        return _invalid_grant("Invalid JWT: Token must be a short-lived token (60 minutes).")
    if not issuer or not audience or REVOKED in str(issuer):
        return _invalid_grant("Invalid grant: account not found")
    return None


def _decoded(part: str) -> dict[str, Any]:
    text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return msgspec.json.decode(text, type=dict[str, Any])


def _invalid_grant(description: str) -> TokenRefusal:
    return TokenRefusal(status=400, error="invalid_grant", description=description)


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


_NO_BEHAVIOURS: Final[Mapping[str, Behaviour]] = {}


class MockOptions(Struct, frozen=True, kw_only=True):
    """The options of a mock."""

    seed: str = "0"
    """The seed of its random values."""
    speed: float = 1.0
    """How many times faster than real people its simulated people answer; 0 counts as 1."""
    latency_seconds: float = 0.0
    """A delay before every reply, in addition to the latency of faults."""
    base_url: str | None = None
    """The URL at which it is served, for links to it. If None, the vendor's URL."""


class MockBrokeContract(Exception):
    """The mock made a reply that its contract does not allow. This is a defect of the mock."""


class UpstreamApplication:
    """Answers requests like the upstream. It stores its state in `state`, or else in memory.

    The same seed, with the same calls in the same order at the same times, gives the same replies.
    Raises `ContractError` if the behaviour module cannot be used.
    """

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        options: MockOptions | None = None,
        state: StoredState | None = None,
        scenario: Sequence[ScenarioStep] = (),
    ) -> None:
        self._upstream = upstream
        self.clock = clock
        """The mock's own clock."""
        self._options = options = options or MockOptions()
        self._scenario = Scenario(scenario)
        self._state = state or StoredState()
        self._router = Router(upstream.operations)
        self._slots = SlotCheck(upstream.slots)
        ignored = frozenset(rule.name for rule in upstream.query) | self._slots.secret_names
        is_open = bool(upstream.tables)
        self._readers = {
            each.id: RequestReader(each, ignored, is_open=is_open) for each in upstream.operations
        }
        self._validators = {
            (operation.id, status): ReplySchema(schema, operation.rows)
            for operation in upstream.operations
            for status, schema in operation.replies.items()
            if schema is not None
        }
        module = None if upstream.mock is None else _behaviour_module(upstream.mock)
        self._behaviours = _NO_BEHAVIOURS if module is None else module.BEHAVIOURS
        self._refuse = _plain_refusal if module is None else module.refuse
        self._finish = _unfinished if module is None else module.finish
        vendors_url = getattr(module, "BASE_URL", upstream.base_url)
        self.base_url = options.base_url or vendors_url
        # Whoever is told the vendor's URL keeps its path, and changes the host.
        self._prefix = urlsplit(vendors_url or "").path.rstrip("/")
        refuse_token = getattr(module, "refuse_token", plain_token_refusal)
        self._issuer = TokenIssuer(upstream, clock, options.seed, refuse_token)
        self._credentials = CredentialCheck(upstream, self._issuer)

    async def handle(self, request: WireRequest) -> WireReply:
        """The reply to `request`.

        Raises `MockBrokeContract`, and `ConfigurationError` if the state's file cannot be used.
        """
        operation: UpstreamOperation | None = None
        fault = Fault()
        try:
            request = self._relative(request)
            operation, path = self._router.find(request.method, request.target)
            fault = self._fault(operation, request)
            await asyncio.sleep(self._options.latency_seconds + fault.latency_seconds)
            if not self._issuer.serves(operation.id):
                self._credentials.check(request)
                self._slots.check(operation.slots, request)
            reply = self._answer(operation, self._readers[operation.id].read(request, path), fault)
        except RequestRefused as refused:
            reply = self._refused(operation, refused)
        finished = self._finish(reply)
        self._check(operation, finished)
        return self._committed(fault, operation, finished)

    def _relative(self, request: WireRequest) -> WireRequest:
        """`request` without the path of the vendor's base URL, if it has it."""
        if not self._prefix or not request.target.startswith(f"{self._prefix}/"):
            return request
        return replace(request, target=request.target.removeprefix(self._prefix))

    def messages_due(self) -> list[MockMessage]:
        """The messages that the upstream would have sent to its listeners by now, each once.

        Messages that are not passed to `message_sent` are returned again after a restart.
        """
        return self._state.due(self.clock.now())

    def message_sent(self, message: MockMessage) -> None:
        """Remove a message, because a listener accepted it or none will."""
        self._state.sent(message)

    def close(self) -> None:
        """Close the state."""
        self._state.close()

    def _fault(self, operation: UpstreamOperation, request: WireRequest) -> Fault:
        scripted = self._scenario.next_for(operation.id)
        try:
            return requested_fault(request.headers) or scripted
        except NotAFault as error:
            refusal = MockRefusal(status=400, title=f"{error}.", path=FAULT_HEADER)
            raise RequestRefused(refusal) from error

    def _answer(
        self, operation: UpstreamOperation, arguments: MockArguments, fault: Fault
    ) -> MockReply:
        if fault.status is not None:
            refusal = MockRefusal(status=fault.status, title="A fault of the mock was requested.")
            return self._refused(operation, RequestRefused(refusal))
        if self._issuer.serves(operation.id):
            return self._issuer.answer(operation, arguments.body or {})
        behaviour = self._behaviours.get(operation.id)
        if behaviour is None:
            return _example(operation)
        request = self._request(operation, arguments)
        with self._state.transaction(request.now):
            return behaviour(request, self._state)

    def _request(self, operation: UpstreamOperation, arguments: MockArguments) -> MockRequest:
        content = [operation.id, arguments.path, arguments.query, arguments.body]
        content += [arguments.filters] if arguments.filters else []
        return MockRequest(
            operation=operation.id,
            path=arguments.path,
            query=arguments.query,
            filters=arguments.filters,
            tables=self._upstream.tables,
            headers=arguments.headers,
            body=arguments.body,
            now=self.clock.now(),
            speed=self._options.speed or 1.0,
            seed=self._options.seed,
            base_url=self.base_url or "",
            fingerprint=json.dumps(content, sort_keys=True),
        )

    def _refused(self, operation: UpstreamOperation | None, refused: RequestRefused) -> MockReply:
        headers = {"allow": ", ".join(refused.allow)} if refused.allow else {}
        refusal = refused.refusal
        if operation is not None and self._issuer.serves(operation.id):
            return self._issuer.failed(refusal.status, refusal.title)
        return MockReply(status=refusal.status, headers=headers, body=self._refuse(refusal))

    def _check(self, operation: UpstreamOperation | None, reply: MockReply) -> None:
        if operation is None:
            return  # The contract does not define replies for unknown paths and methods.
        validator = self._validator_of(operation, reply.status)
        if validator is None:
            _check_declared(operation, reply)
        elif not validator.admits(reply.body):
            found = validator.violations(reply.body)
            raise MockBrokeContract(f"{operation.id} answered {reply.status}: {found}")

    def _validator_of(self, operation: UpstreamOperation, status: int) -> ReplySchema | None:
        found = (self._validators.get((operation.id, name)) for name in status_names(status))
        return next(filter(None, found), None)

    def _committed(
        self, fault: Fault, operation: UpstreamOperation | None, reply: MockReply
    ) -> WireReply:
        validator = None if operation is None else self._validator_of(operation, reply.status)
        body = b"" if reply.body is None else jsontext.encode(reply.body)
        return WireReply(
            status=reply.status,
            headers=self._headers(fault, reply),
            body=damaged(body, fault.damage, validator),
            is_cut=fault.damage == "close",
            body_delay_seconds=fault.body_latency_seconds,
        )

    def _headers(self, fault: Fault, reply: MockReply) -> dict[str, str]:
        headers = dict(reply.headers)
        if reply.body is not None:
            headers.setdefault("content-type", "application/json")
        if fault.retry_after_seconds is not None:
            headers["retry-after"] = str(fault.retry_after_seconds)
        if fault.status is not None and 300 <= fault.status < 400:
            headers["location"] = "/"
        rate = self._upstream.rate
        if fault.exhausted_seconds is not None and rate is not None:
            headers[rate.remaining.lower()] = "0"
            headers[rate.reset_seconds.lower()] = str(fault.exhausted_seconds)
        return headers


def _behaviour_module(name: str) -> Any:
    try:
        module: Any = import_named(name)
    except ImportError as error:
        raise ContractError(f"x-upstream.mock: {error}") from error
    for fault in faults(module, "", "mock"):
        raise ContractError(f"x-upstream.mock: {fault}")
    missing = [each for each in ("refuse", "finish") if not hasattr(module, each)]
    if missing:
        raise ContractError(f"x-upstream.mock: {name} has no {' and no '.join(missing)}")
    return module


def _check_declared(operation: UpstreamOperation, reply: MockReply) -> None:
    """Check a reply without a schema: a success must be declared, and must have no body."""
    is_declared = not operation.replies.keys().isdisjoint(status_names(reply.status))
    if reply.status < 300 and (reply.body is not None or not is_declared):
        raise MockBrokeContract(f"{operation.id} answered {reply.status}, which is not declared")


def _example(operation: UpstreamOperation) -> MockReply:
    for status, schema in operation.replies.items():
        if status.startswith("2") and (schema is None or status in operation.examples):
            number = 200 if status == "2XX" else int(status)
            return MockReply(status=number, body=operation.examples.get(status))
    raise MockBrokeContract(f"{operation.id} has neither a behaviour nor an example")


def _plain_refusal(refusal: MockRefusal) -> Any:
    return {"error": {"status": refusal.status, "title": refusal.title, "path": refusal.path}}


def _unfinished(reply: MockReply) -> MockReply:
    return reply
