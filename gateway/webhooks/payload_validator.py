"""Validates authentic messages against the contract of their source."""

import re
from typing import Any, Final

from gateway.catalogue import DeclaredSource
from gateway.contract.webhook import MessagePart
from gateway.store.records import Mismatch, StoredWebhook

MAX_REFUSALS: Final = 20


class PayloadValidator:
    """Validates messages of one source: on arrival, and again after a change of the contract."""

    def __init__(self, declared: DeclaredSource) -> None:
        self._validators = declared.validators
        self._events = declared.events
        self._types = {profile.name: profile.event_type for profile in declared.source.profiles}
        self._ignored = [re.compile(pattern) for pattern in declared.source.ignored]

    def refusals(self, profile: str, event_type: str, payload: Any) -> tuple[Mismatch, ...]:
        """The places where the message breaks the contract, at most `MAX_REFUSALS`."""
        event = self._events.get(event_type)
        if event is None and self.is_ignored(event_type):
            return ()
        if event is None:
            return (self._at_type(profile, "is no event type of this contract"),)
        if profile not in event.profiles:
            return (self._at_type(profile, f"is not sent in the profile {profile}"),)
        return self.payload_refusals(event_type, payload)

    def is_ignored(self, event_type: str) -> bool:
        """Whether the contract says that nothing follows from messages of this type."""
        return event_type not in self._events and any(
            pattern.fullmatch(event_type) for pattern in self._ignored
        )

    def stored_refusals(self, webhook: StoredWebhook, payload: Any) -> tuple[Mismatch, ...]:
        """The places where a stored message breaks the contract, at most `MAX_REFUSALS`.

        The profile of a derived message is not checked, because no provider sent it.
        """
        if webhook.derived_from is None:
            return self.refusals(webhook.profile, webhook.event_type, payload)
        return self.payload_refusals(webhook.event_type, payload)

    def payload_refusals(self, event_type: str, payload: Any) -> tuple[Mismatch, ...]:
        """The places where a payload breaks the contract of its event, for any sender."""
        validator = self._validators.get(event_type)
        if validator is None:
            return (Mismatch(pointer="", detail="is of no event type of this contract"),)
        if validator.admits(payload):
            return ()
        found = validator.violations(payload)[:MAX_REFUSALS]
        return tuple(Mismatch(pointer=each.pointer, detail=each.detail) for each in found)

    def _at_type(self, profile: str, detail: str) -> Mismatch:
        return refusal_at(self._types.get(profile), detail)


def refusal_at(place: MessagePart | None, detail: str) -> Mismatch:
    """A refusal of the part at `place`. Headers have no pointer, so the detail names them."""
    if place is None or place.pointer is None:
        subject = f"the header {place.header}" if place and place.header else "the profile"
        return Mismatch(pointer="", detail=f"{subject} {detail}")
    return Mismatch(pointer=place.pointer, detail=detail)
