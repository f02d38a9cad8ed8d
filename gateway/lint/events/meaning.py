"""Checks the events of webhooks against the contracts that they name.

Runs after the other checks, because it needs valid contracts.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child
from gateway.contracts.cache import Remember
from gateway.contracts.finding import Finding
from gateway.contracts.sources.tree import WebhookFile
from gateway.contracts.upstreams import lower_upstream
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound
from gateway.mapping.events import EventBasis, check
from gateway.mapping.events.basis import Declared, Named, basis_of, named_in
from gateway.mapping.fields import MappingError

_EVENTS: Final = "/post/x-webhook/events"
_INPUT: Final = "/post/requestBody/content/application~1json/schema"
_CLOUD_EVENT: Final = "/post/requestBody/content/application~1cloudevents+json/schema"
_decoder = msgspec.json.Decoder(tuple[MappingError, ...])


def check_events(
    draft: Draft, unsound: frozenset[PurePosixPath], remember: Remember
) -> Iterator[Finding]:
    """binding/*, webhook/*, for every webhook event that names only sound contracts"""
    webhooks = [each for each in draft.webhooks if is_sound(draft, each.path, unsound)]
    if draft.tree.findings or not webhooks:
        return
    declared, broken = _declared(draft, unsound), _broken(draft, unsound)
    for webhook in webhooks:
        payloads = {
            name: draft.expanded(webhook.path, f"{child(_EVENTS, name)}/payload")
            for name in webhook.rules["events"]
        }
        for name, rules in webhook.rules["events"].items():
            if not _overlap(named_in(rules), broken):
                basis = basis_of(f"{webhook.provider}.{name}", webhook.rules, payloads, declared)
                for problem in _problems(basis, remember):
                    pointer = child(_EVENTS, name) + problem.pointer
                    yield _finding(draft, webhook, pointer, problem, declared)


def _declared(draft: Draft, unsound: frozenset[PurePosixPath]) -> Declared:
    return Declared(
        entities={
            kind: {**draft.expanded(each.path, ""), "x-entity": each.value["x-entity"]}
            for kind, each in draft.entities.items()
            if is_sound(draft, each.path, unsound)
        },
        events={
            each.type: draft.expanded(each.path, _CLOUD_EVENT)
            for each in draft.events
            if is_sound(draft, each.path, unsound)
        },
        tools={
            each.id: draft.expanded(each.path, _INPUT)
            for each in draft.tools
            if is_sound(draft, each.path, unsound)
        },
        upstreams={
            name: lower_upstream(draft.tree, name)
            for name, each in draft.upstreams.items()
            if is_sound(draft, each.path, unsound)
        },
    )


def _broken(draft: Draft, unsound: frozenset[PurePosixPath]) -> Named:
    """The contracts that exist and have errors, which other checks report."""
    tree = draft.tree
    return Named(
        entities=frozenset(
            kind
            for kind, each in tree.entities.items()
            if kind not in draft.entities or not is_sound(draft, each.path, unsound)
        ),
        events=frozenset(
            each.type
            for each in tree.events
            if each not in draft.events or not is_sound(draft, each.path, unsound)
        ),
        tools=frozenset(
            each.id
            for each in tree.tools
            if each not in draft.tools or not is_sound(draft, each.path, unsound)
        ),
        upstreams=frozenset(
            name
            for name, each in tree.upstreams.items()
            if name not in draft.upstreams or not is_sound(draft, each.path, unsound)
        ),
    )


def _overlap(one: Named, other: Named) -> bool:
    fields = one.__struct_fields__
    return any(getattr(one, field) & getattr(other, field) for field in fields)


def _problems(basis: EventBasis, remember: Remember) -> tuple[MappingError, ...]:
    """The problems of an event, from the cache if possible: proofs take milliseconds."""
    text: Any = msgspec.json.encode(basis, order="deterministic").decode()
    problems = remember("event-check", text, lambda: msgspec.json.encode(check(basis)).decode())
    return _decoder.decode(problems)


def _finding(
    draft: Draft, webhook: WebhookFile, pointer: str, problem: MappingError, declared: Declared
) -> Finding:
    known = {
        "webhook/unknown-entity": declared.entities,
        "webhook/unknown-event": [*declared.events, *webhook.rules["events"]],
        "webhook/unknown-tool": declared.tools,
    }.get(problem.rule)
    suggestion = did_you_mean(str(draft.at(webhook.document, pointer)), known) if known else None
    fix = suggestion or problem.fix
    return Finding(
        path=str(webhook.path),
        line=webhook.document.line_of(pointer),
        pointer=pointer,
        rule=problem.rule,
        message=problem.message,
        fix=fix,
    )
