"""Validates quarantined messages again, against the current contract."""

from collections.abc import Mapping

from msgspec import Struct

from gateway.store.protocols import Inbox
from gateway.store.records import Mismatch, StoredWebhook
from gateway.webhooks.failures import PermanentFailure, payload_of
from gateway.webhooks.source import OpenSource


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
