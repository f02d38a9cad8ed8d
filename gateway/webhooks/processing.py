"""Runs a job that processes a message, and validates quarantined messages again.

The changes that a message makes are rows, an event, calls and an audit record, all or nothing. Of
messages that only name objects, the objects are fetched, and new messages are derived from them.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit
from uuid import UUID, uuid5

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.context import CallFacts
from gateway.contract.event import SPEC_VERSION
from gateway.contract.fields import fieldmap
from gateway.contract.fields.conversion import ABSENT, Unmappable, as_date_time, rfc3339, text
from gateway.contract.rows.rows import InvalidColumnValue, Shape
from gateway.contract.values import jsontext
from gateway.contract.values.jsontext import NotJson
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.contract.webhook import (
    Derivation,
    Emission,
    EntityEffect,
    Fetch,
    Notification,
    WebhookEvent,
)
from gateway.errors import GatewayError, StoreError
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.completer import Batcher
from gateway.jobs.dead_letters import account_of
from gateway.jobs.outcome import Failed, Finished, Outcome, outcome_of
from gateway.store.protocols import Inbox
from gateway.store.records import (
    AuditRecord,
    Changes,
    Claim,
    EntityChange,
    Failure,
    Mismatch,
    NewCall,
    NewEvent,
    NewWebhook,
    StoredWebhook,
)
from gateway.webhooks.message import id_of_tenant, read_body
from gateway.webhooks.source import OpenSource

CONTRACT_CHANGED: Final = "contract_changed"
_MAX_DETAIL: Final = 500
FetchFrom = Callable[
    [str, str, Mapping[str, str], Mapping[str, str | Sequence[str]]], Awaitable[Any]
]
"""Fetches from an upstream by an operation of its contract, with path and query parameters.

Returns the body, which is valid by the contract. Raises a `GatewayError`.
"""

FOREIGN_HREF: Final = "foreign_href"
_PORTS: Final = {"http": 80, "https": 443}
_MESSAGE_ID: Final = re.compile(r"[^\x00-\x20\x7f-\x9f]{1,200}")
_ODD: Final = re.compile(r"[^\x21-\x7e]|\\|%(?:2[eEfF]|5[cC])")
"""Characters that URL parsers read differently. Links of upstreams do not need them."""
BROKEN_PROMISE: Final = "broken_promise"
_JSON: Final = "application/json"
_FORGOTTEN: Final = Failure(error="forgotten", detail="The message is not stored any more.")


class PermanentFailure(Exception):
    """A message cannot be processed by any further attempt. The text contains no payload."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        """A class of failures, such as `contract_changed`."""
        self.detail = detail


def payload_of(webhook: StoredWebhook, source: OpenSource) -> Any:
    """The value of its body, as `source` reads it. Raises `PermanentFailure`."""
    if webhook.body is None:
        raise PermanentFailure("forgotten", "The message is not stored any more.")
    try:
        return read_body(source.form_of(webhook), webhook.body)
    except NotJson as error:
        raise PermanentFailure(
            CONTRACT_CHANGED, f"/ is not the JSON that is read today: {error}"
        ) from None


def described(refusals: Sequence[Mismatch | Violation]) -> str:
    """Refusals in one line for an operator."""
    return "; ".join(f"{each.pointer or '/'} {each.detail}" for each in refusals)[:_MAX_DETAIL]


class Pointers:
    """Follows pointers, but only to the configured upstreams."""

    def __init__(self, fetch_from: FetchFrom, base_urls: Mapping[str, str]) -> None:
        """`base_urls`: the configured URLs of the upstreams."""
        self._fetch_from = fetch_from
        self._base_urls = base_urls

    async def follow(self, fetch: Fetch, payload: Any, facts: CallFacts) -> Any:
        """The object that `payload` points to.

        The `href` in it is only checked. The request is built from the contract and the payload's
        ids.
        Raises `PermanentFailure`, `Unmappable`, and the `GatewayError`s of a call.
        """
        self._check_href(fetch, payload)
        path = {name: fieldmap.text(value) for name, value in fetch.path(payload, facts).items()}
        query = {
            name: list(map(fieldmap.text, value))
            if isinstance(value, list)
            else fieldmap.text(value)
            for name, value in fetch.query(payload, facts).items()
        }
        return await self._fetch_from(fetch.upstream, fetch.operation, path, query)

    def _check_href(self, fetch: Fetch, payload: Any) -> None:
        if fetch.href is None or fetch.href.pointer is None:
            return
        try:
            href = follow(payload, fetch.href.pointer)
        except NoSuchPlace:
            return
        base_url = self._base_urls.get(fetch.upstream, "")
        if not isinstance(href, str) or not leads_below(href, base_url):
            detail = "The message points elsewhere than to its upstream's base URL."
            raise PermanentFailure(FOREIGN_HREF, detail)


def leads_below(href: str, base_url: str) -> bool:
    """Whether `href` has the origin of `base_url`, and a path below its path."""
    if _ODD.search(href):
        return False
    try:
        place, base = urlsplit(href), urlsplit(base_url)
        is_same = _origin(place) == _origin(base)
    except ValueError:
        return False
    below = base.path.rstrip("/") + "/"
    return is_same and place.path.startswith(below) and not _climbs(place.path)


def _origin(url: SplitResult) -> tuple[str, str, int | None]:
    if url.username is not None or url.password is not None:
        raise ValueError("holds credentials")
    return url.scheme, url.hostname or "", url.port or _PORTS.get(url.scheme)


def _climbs(path: str) -> bool:
    return any(step in (".", "..") for step in path.split("/"))


def derived(
    event: WebhookEvent, source: OpenSource, webhook: StoredWebhook, reply: Any
) -> tuple[NewWebhook, ...]:
    """The messages in a fetched reply. Those that break the contract of `event` are quarantined.

    Raises `Unmappable`.
    """
    facts = source.facts(webhook)
    return tuple(
        _message(derivation, source, webhook, payload)
        for derivation in event.derives
        for payload in derivation.payloads(reply, facts)
    )


def _message(
    derivation: Derivation, source: OpenSource, webhook: StoredWebhook, payload: Any
) -> NewWebhook:
    return NewWebhook(
        provider=webhook.provider,
        profile=webhook.profile,
        message_id=id_of_tenant(source.facts(webhook).tenant, _message_id(derivation, payload)),
        event_type=derivation.event,
        body=jsontext.encode(payload),
        headers={},
        contract=source.contract.contract,
        refusals=source.validator.payload_refusals(derivation.event, payload),
        derived_from=webhook.id,
    )


def _message_id(derivation: Derivation, payload: Any) -> str:
    try:
        found = follow(payload, derivation.message_id)
    except NoSuchPlace:
        found = None
    if not isinstance(found, str) or not _MESSAGE_ID.fullmatch(found):
        raise Unmappable(derivation.message_id, f"is not the id of a {derivation.event}")
    return found


class Effects:
    """Turns messages into changes. It has no code for single providers."""

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        events: Mapping[str, Validator],
        now: Callable[[], datetime],
    ) -> None:
        """`shapes`: the entities' shapes by kind. `events`: validators of whole events by type."""
        self._shapes = shapes
        self._events = events
        self._now = now

    def changes(
        self, event: WebhookEvent, webhook: StoredWebhook, payload: Any, facts: CallFacts
    ) -> Changes:
        """All changes that `webhook` makes. Its field maps read `payload`.

        The changes of one message are always the same, except for times. So processing it again
        does not add anything.

        Raises `Unmappable` for a value that cannot be mapped. Raises `PermanentFailure` for an
        event that would break the gateway's own contract, which is a defect.
        """
        occurred_at = _occurred_at(event, payload, webhook.received_at)
        return Changes(
            entities=tuple(self._rows(event, webhook, payload, facts, occurred_at)),
            events=tuple(self._event_drafts(event.emission, webhook, payload, facts)),
            calls=tuple(_calls(event.notifications, webhook, payload, facts)),
        )

    def _rows(
        self,
        event: WebhookEvent,
        webhook: StoredWebhook,
        payload: Any,
        facts: CallFacts,
        occurred_at: datetime,
    ) -> Iterator[EntityChange]:
        for effect in event.effects:
            row = effect.row(payload, facts)
            if row is not None:
                yield EntityChange(
                    kind=effect.entity,
                    values=self._canonical(effect, row),
                    mode=effect.mode,
                    webhook_id=webhook.id,
                    occurred_at=occurred_at,
                )

    def _canonical(self, effect: EntityEffect, row: Mapping[str, Any]) -> dict[str, Any]:
        shape = self._shapes[effect.entity]
        if not shape.admits_change.admits(row):
            first = shape.admits_change.violations(row)[0]
            raise Unmappable(f"/{effect.entity}{first.pointer}", first.detail)
        try:
            return shape.canonical(row)
        except InvalidColumnValue as error:
            first = error.violation
            raise Unmappable(f"/{effect.entity}{first.pointer}", first.detail) from None

    def _event_drafts(
        self, emission: Emission | None, webhook: StoredWebhook, payload: Any, facts: CallFacts
    ) -> Iterator[NewEvent]:
        data = None if emission is None else emission.data(payload, facts)
        if emission is None or data is None:
            return
        subject = emission.subject(payload, facts)
        if subject is ABSENT or subject is None:
            raise Unmappable("", f"{emission.event} has no subject")
        draft = NewEvent(
            id=str(uuid5(UUID(webhook.id), emission.event)),
            type=emission.event,
            subject=text(subject),
            source=f"/webhooks/{webhook.provider}",
            data=data,
            webhook_id=webhook.id,
        )
        self._check(draft)
        yield draft

    def _check(self, draft: NewEvent) -> None:
        validator = self._events[draft.type]
        envelope = {
            "specversion": SPEC_VERSION,
            "id": draft.id,
            "source": draft.source,
            "type": draft.type,
            "subject": draft.subject,
            "time": rfc3339(self._now()),
            "datacontenttype": _JSON,
            "data": dict(draft.data),
        }
        if not validator.admits(envelope):
            places = described(validator.violations(envelope))
            raise PermanentFailure(BROKEN_PROMISE, f"{draft.type}: {places}")


def _calls(
    notifications: tuple[Notification, ...], webhook: StoredWebhook, payload: Any, facts: CallFacts
) -> Iterator[NewCall]:
    for number, each in enumerate(notifications):
        arguments = each.arguments(payload, facts)
        if arguments is not None:
            yield NewCall(
                id=str(uuid5(UUID(webhook.id), f"{number} {each.operation}")),
                operation=each.operation,
                arguments=arguments,
                # Each tool has its own lane, so a slow upstream does not block the other tools.
                lane=each.operation,
            )


def _occurred_at(event: WebhookEvent, payload: Any, received_at: datetime) -> datetime:
    """When it happened, but not later than its arrival. Otherwise a message that is dated 2062
    would make all earlier reports look old."""
    if event.occurred_at is None:
        return received_at
    try:
        said = follow(payload, event.occurred_at)
    except NoSuchPlace:
        return received_at
    try:
        occurred_at = datetime.fromisoformat(as_date_time(said))
    except ValueError as error:
        raise Unmappable(event.occurred_at, str(error)) from None
    return min(occurred_at, received_at)


class Revalidation(Struct, frozen=True, kw_only=True):
    """The result of validating a quarantined message again."""

    webhook_id: str
    is_admitted: bool
    """Whether it is pending now. Otherwise it stays quarantined."""
    refusals: tuple[Mismatch, ...] = ()
    """The places where it breaks the current contract."""
    reason: str | None = None
    """Why it could not be checked."""


class Quarantine:
    """Validates quarantined messages again. No message is lost or processed twice."""

    def __init__(self, inbox: Inbox, sources: Mapping[str, OpenSource]) -> None:
        """`sources` by provider."""
        self._inbox = inbox
        self._sources = sources

    async def reconsider(self, webhook_id: str) -> Revalidation | None:
        """Validate one message. None if there is none with this id.

        A conflict stays quarantined: its id belongs to another body. Only an operator can resolve
        this.
        """
        webhook = await self._inbox.find(webhook_id)
        return None if webhook is None else await self._check(webhook)

    async def _check(self, webhook: StoredWebhook) -> Revalidation:
        if webhook.is_conflict:
            return _stays(webhook, "Its id belongs to another message.")
        if webhook.job.state != "quarantined":
            return _stays(webhook, f"It is not quarantined: its state is {webhook.job.state}.")
        source = self._sources.get(webhook.provider)
        if source is None:
            return _stays(webhook, "Its provider has no contract any more.")
        try:
            refusals = source.validator.stored_refusals(webhook, payload_of(webhook, source))
        except PermanentFailure as error:
            return _stays(webhook, error.detail)
        if not await self._inbox.reconsider(webhook.id, refusals, source.contract.contract):
            return _stays(webhook, "It is not quarantined any more.")
        return Revalidation(webhook_id=webhook.id, is_admitted=not refusals, refusals=refusals)


def _stays(webhook: StoredWebhook, reason: str) -> Revalidation:
    return Revalidation(webhook_id=webhook.id, is_admitted=False, reason=reason)


class WebhookRun:
    """Turns a stored message into its changes. A permanent failure is a dead letter at once."""

    def __init__(
        self,
        inbox: Inbox,
        sources: Mapping[str, OpenSource],
        effects: Effects,
        pointers: Pointers,
        now: Callable[[], datetime],
        policy: JobPolicy = WORK_POLICY.jobs["webhook"],
    ) -> None:
        """`sources` by provider."""
        self._inbox = inbox
        self._found: Batcher[str, StoredWebhook | None] = Batcher(self._find_all)
        self._sources = sources
        self._effects = effects
        self._pointers = pointers
        self._now = now
        self._policy = policy

    async def __call__(self, claim: Claim) -> Outcome:
        webhook = await self._found.ask(claim.job.subject)
        if webhook is None:
            return Failed(failure=_FORGOTTEN, retry_seconds=None)
        try:
            return Finished(changes=await self._changes(webhook))
        except PermanentFailure as error:
            failure = Failure(error=error.error, detail=error.detail)
            return Failed(failure=failure, retry_seconds=None)
        except Unmappable as error:
            failure = Failure(error="unmappable", detail=str(error))
            return Failed(failure=failure, retry_seconds=None)
        except StoreError:
            raise
        except GatewayError as error:
            return outcome_of(error, claim.job, self._policy)

    async def _changes(self, webhook: StoredWebhook) -> Changes:
        source, payload = self._checked(webhook)
        if source.validator.is_ignored(webhook.event_type):
            return Changes(audit=self._account(webhook))
        event = source.events[webhook.event_type]
        facts = source.facts(webhook)
        messages: tuple[NewWebhook, ...] = ()
        if event.fetch is not None:
            reply = await self._pointers.follow(event.fetch, payload, facts)
            messages = derived(event, source, webhook, reply)
        changes = self._effects.changes(event, webhook, payload, facts)
        return replace(changes, webhooks=messages, audit=self._account(webhook))

    def _checked(self, webhook: StoredWebhook) -> tuple[OpenSource, Any]:
        """Validate the message by the current contract, which may have changed since it came."""
        source = self._sources.get(webhook.provider)
        if source is None:
            raise PermanentFailure(CONTRACT_CHANGED, "The provider has no contract any more.")
        payload = payload_of(webhook, source)
        if refusals := source.validator.stored_refusals(webhook, payload):
            raise PermanentFailure(CONTRACT_CHANGED, described(refusals))
        return source, payload

    async def _find_all(self, webhook_ids: Sequence[str]) -> list[StoredWebhook | None]:
        found = {each.id: each for each in await self._inbox.find_all(webhook_ids)}
        return [found.get(webhook_id) for webhook_id in webhook_ids]

    def _account(self, webhook: StoredWebhook) -> AuditRecord:
        operation = f"{webhook.provider}.{webhook.event_type}"
        return account_of(webhook.id, webhook.provider, operation, self._now())
