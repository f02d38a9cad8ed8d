"""Messages that only name objects: fetches the objects and derives new messages from them."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import text
from gateway.contract.fields.marker import Unmappable
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.webhook import Derivation, Fetch, WebhookEvent
from gateway.store.records import NewWebhook, StoredWebhook
from gateway.webhooks.failures import PermanentFailure
from gateway.webhooks.message import id_of_tenant
from gateway.webhooks.source import OpenSource

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
        path = {name: text(value) for name, value in fetch.path(payload, facts).items()}
        query = {
            name: [text(each) for each in value] if isinstance(value, list) else text(value)
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
