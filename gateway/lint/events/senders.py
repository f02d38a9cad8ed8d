"""Checks of how the senders of webhooks are known: schemes, signed samples and challenges."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import WebhookFile
from gateway.lint.draft import Draft
from gateway.signatures.received import Received
from gateway.signatures.registry import SCHEMES, InvalidScheme, scheme_of
from gateway.signatures.scheme import InvalidSecret

PROFILES: Final = "/post/x-webhook/profiles"
_OWN: Final = frozenset({"content", "time"})
"""Members of a signature that nobody but its vendor can tell to be right."""


def check_schemes(draft: Draft) -> Iterator[Finding]:
    """webhook/scheme"""
    for webhook, at, profile in _profiles(draft):
        try:
            scheme_of(profile["authentication"])
        except InvalidScheme as error:
            pointer = f"{at}/authentication/scheme"
            name, message, fix = profile["authentication"]["scheme"], str(error), None
            if name not in SCHEMES:
                fix = did_you_mean(name, list(SCHEMES))
            elif "; " in message:
                message, _, known = message.partition("; ")
                fix = f"{known[0].upper()}{known[1:]}."
            yield draft.finding("webhook/scheme", webhook.document, pointer, message, fix)


def check_samples(draft: Draft) -> Iterator[Finding]:
    """webhook/sample"""
    for webhook, at, profile in _profiles(draft):
        sample = profile.get("sample")
        own = sorted(_OWN & profile["authentication"].keys())
        if sample is None and own:
            message = f"nothing proves that {' and '.join(own)} are what the sender signs"
            pointer = f"{at}/authentication/{own[0]}"
            yield draft.finding("webhook/sample", webhook.document, pointer, message)
        elif sample is not None and (objection := _objection(profile, sample)):
            yield draft.finding("webhook/sample", webhook.document, f"{at}/sample", *objection)


def _objection(
    profile: Mapping[str, Any], sample: Mapping[str, Any]
) -> tuple[str] | tuple[str, str] | None:
    """Why the sample is not authentic, and the fix. None if it is, or if the scheme is invalid."""
    try:
        scheme = scheme_of(profile["authentication"])
        verify = scheme.verifier([scheme.key_of(sample["secret"])])
    except InvalidScheme:
        return None
    except InvalidSecret as error:
        return (f"its secret {error}",)
    fields = sample.get("headers", {}).items()
    received = Received(
        fields=[(name.lower().encode("ascii"), value.encode("utf-8")) for name, value in fields],
        body=sample["body"].encode("utf-8"),
        method=sample.get("method", "POST"),
        url=sample.get("url", ""),
        path=sample.get("path", ""),
        settings=sample.get("settings", {}),
    )
    if verify(received, float(sample.get("at", 0))):
        return None
    sent_at = scheme.sent_at(received)
    if sent_at is not None and verify(received, sent_at):
        said = f"it was sent at {int(sent_at)}"
        wrong = "which is too far from `at`" if "at" in sample else "and has no `at`"
        return f"{said}, {wrong}", f"Write `at: {int(sent_at)}`."
    return ("it is not authentic by this authentication: every genuine message would be refused",)


def check_challenges(draft: Draft) -> Iterator[Finding]:
    """webhook/challenge"""
    for webhook in draft.webhooks:
        known: dict[tuple[str, str], str] = {}
        for name, profile in webhook.rules["profiles"].items():
            challenge = profile.get("challenge")
            if challenge is None:
                continue
            asked = challenge["method"], repr(challenge.get("when"))
            other = known.setdefault(asked, name)
            if other != name:
                pointer = f"{child(PROFILES, name)}/challenge"
                message = f"the challenges of {other} and {name} cannot be told apart"
                yield draft.finding("webhook/challenge", webhook.document, pointer, message)


def check_ignored(draft: Draft) -> Iterator[Finding]:
    """webhook/ignore"""
    for webhook in draft.webhooks:
        for index, text in enumerate(webhook.rules.get("ignore", ())):
            if objection := _pattern_objection(text, webhook.rules["events"]):
                pointer = f"/post/x-webhook/ignore/{index}"
                yield draft.finding("webhook/ignore", webhook.document, pointer, objection)


def _pattern_objection(text: str, events: Mapping[str, Any]) -> str:
    try:
        pattern = re.compile(text)
    except re.error:
        return "it is not a regular expression"
    taken = next((name for name in events if pattern.fullmatch(name)), None)
    return "" if taken is None else f"it matches {taken}, which is under events"


def _profiles(draft: Draft) -> Iterator[tuple[WebhookFile, str, Mapping[str, Any]]]:
    """Each profile, with its file and its pointer."""
    for webhook in draft.webhooks:
        for name, profile in webhook.rules["profiles"].items():
            yield webhook, child(PROFILES, name), profile
