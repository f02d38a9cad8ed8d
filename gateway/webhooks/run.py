"""Runs a job that processes a message."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from gateway.contract.fields.marker import Unmappable
from gateway.errors import GatewayError, StoreError
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.accounts import account_of
from gateway.jobs.batcher import Batcher
from gateway.jobs.outcome import Failed, Finished, Outcome
from gateway.jobs.refusals import outcome_of
from gateway.store.protocols import Inbox
from gateway.store.records import AuditRecord, Changes, Claim, Failure, NewWebhook, StoredWebhook
from gateway.webhooks.effects import Effects
from gateway.webhooks.failures import CONTRACT_CHANGED, PermanentFailure, described, payload_of
from gateway.webhooks.pointer import Pointers, derived
from gateway.webhooks.source import OpenSource

_FORGOTTEN: Final = Failure(error="forgotten", detail="The message is not stored any more.")


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
        """See `Run`."""
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
