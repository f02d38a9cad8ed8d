"""Drafts the contract of a provider from what a vendor's document says that the vendor sends."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.names import payload_stem
from gateway.contracts.sources.tree import WEBHOOKS, SourceTree
from gateway.errors import ConfigurationError, ContractError
from gateway.openapi.lowering.webhooks import InboundMessage, InboundMessages
from gateway.profiles.inlining import inlined
from gateway.project.drafts.event import event_part, message_event
from gateway.project.drafts.listing import listed_parts
from gateway.project.drafts.names import check_connector
from gateway.project.drafts.texts import inline, rendered, schema_text
from gateway.project.drafts.webhook import (
    PROFILE,
    DraftProvider,
    is_event_type,
    provider_part,
)
from gateway.project.inbound.kinds import MessageKinds, kinds_of
from gateway.project.inbound.payloads import MAX_SUBSCHEMAS, payload_file
from gateway.project.inbound.senders import authentication_of, message_id_of
from gateway.project.placing import Files
from gateway.project.staging import Project, with_generated

MAX_EVENTS: Final = 200
"""The most events of one provider."""
_MOST_LISTED: Final = 8
_MOST_SHOWN: Final = 64
_EVENTS: Final = "/post/x-webhook/events"
_UNKNOWN_KINDS: Final = """\
# The document does not say where a message names its kind. Correct eventType above, and the names
# of the events.
"""
_QUESTIONS: Final = """\
# Where is the time of a message? An older one never replaces newer data: occurredAt: /pointer
# Which rows does it write? List them under `effects`, by entity. Which tools are called afterwards?
# List them under `notifications`. What do subscribers need? Now they get the whole message: make
# events of your own with `gateway new event TYPE`, and name them under `emits`.
"""


class InboundDraft(Struct, frozen=True, kw_only=True):
    """A drafted provider."""

    provider: str
    files: Files
    events: Mapping[str, tuple[str, ...]]
    """The messages of each event, as the document names them, by type. Empty: nothing is left."""
    messages: tuple[InboundMessage, ...]
    """The drafted messages."""
    refused: tuple[Finding, ...]
    """What is not drafted, each with its cause."""


class _Draft(Struct, frozen=True, kw_only=True):
    """What is drafted of the messages that remain."""

    provider: str
    messages: tuple[InboundMessage, ...]
    bodies: tuple[dict[str, Any], ...]
    """Their schemas without references, in which members are looked up."""
    kinds: MessageKinds
    is_flat: bool = False
    """Whether the parts of members of payloads are left out."""
    by_type: Mapping[str, tuple[int, ...]]
    """The indexes of the messages of each event."""


class InboundWish(Struct, frozen=True, kw_only=True):
    """The provider that is drafted, and its messages."""

    provider: str
    names: tuple[str, ...]
    """The names of the messages that are drafted; globs."""


def draft_inbound(
    project: Project, tree: SourceTree, wish: InboundWish, messages: InboundMessages
) -> InboundDraft:
    """The contract of a provider with an event for each kind of those `messages` that are wished.

    Nothing is written. Raises `ConfigurationError` if the name is taken or nothing has a wished
    name, and `ContractRefused` if the contracts of the project have errors.
    """
    provider = wish.provider
    _refuse_taken(tree, provider)
    _refuse_unmatched(wish, messages)
    refused = [each.finding for each in messages.refused if _is_wished(each.name, wish)]
    if not any(_is_wished(each.name, wish) for each in messages.read):
        return InboundDraft(
            provider=provider, files={}, events={}, messages=(), refused=tuple(refused)
        )
    bodies = tuple(inlined(each.body, MAX_SUBSCHEMAS) for each in messages.read)
    kinds = kinds_of(messages.read, bodies)
    draft = _Draft(
        provider=provider,
        messages=messages.read,
        bodies=bodies,
        kinds=kinds,
        by_type=_usable(messages.read, kinds, wish, refused),
    )
    draft, files = _generated(project, tree, draft, refused)
    used = sorted({each for found in draft.by_type.values() for each in found})
    return InboundDraft(
        provider=provider,
        files=files,
        events={
            kind: tuple(draft.messages[each].name for each in found)
            for kind, found in draft.by_type.items()
        },
        messages=tuple(draft.messages[each] for each in used),
        refused=tuple(refused),
    )


def _generated(
    project: Project, tree: SourceTree, draft: _Draft, refused: list[Finding]
) -> tuple[_Draft, Files]:
    """What is left of `draft` without the events that lint or generate with errors, and its files.

    Those are added to `refused`. Raises `ContractRefused` and `ContractError` for errors of others.
    """
    while draft.by_type:
        files = _files(project, tree, draft)
        try:
            with_generated(project, files)
        except ContractRefused as found:
            draft = _without(draft, found, refused)
        except ContractError:
            # No model can be generated of some schema, and the error does not say of which.
            if draft.is_flat:
                raise
            draft = replace(draft, is_flat=True)
        else:
            return draft, files
    return draft, {}


def _is_wished(name: str, wish: InboundWish) -> bool:
    return any(fnmatchcase(name, each) for each in wish.names)


def _refuse_unmatched(wish: InboundWish, messages: InboundMessages) -> None:
    known = [each.name for each in messages.read] + [each.name for each in messages.refused]
    for each in wish.names:
        if not any(fnmatchcase(name, each) for name in known):
            first = ", ".join(known[:_MOST_LISTED])
            known_are = f"the document has {len(known)}: {first}" if known else "it has none"
            fix = hint(each, known, known_are)
            raise ConfigurationError(
                f"{each!r} is no webhook and no callback of the document; {fix}"
            )


def _refuse_taken(tree: SourceTree, provider: str) -> None:
    check_connector(provider, what="provider")
    known = next((each for each in tree.webhooks if each.provider == provider), None)
    if known is not None or (tree.root / WEBHOOKS / provider).exists():
        raise ConfigurationError(
            f"the name {provider} is taken by {WEBHOOKS}/{provider}, and it is not replaced; import"
            f" under another name with --as, or add events: gateway new webhook {provider}.EVENT"
        )


def _usable(
    messages: Sequence[InboundMessage],
    kinds: MessageKinds,
    wish: InboundWish,
    refused: list[Finding],
) -> dict[str, tuple[int, ...]]:
    """The messages by kind, sorted. Those that a contract cannot have are added to `refused`."""
    found: dict[str, tuple[int, ...]] = {}
    stems: dict[str, str] = {}
    for index, message in enumerate(messages):
        for kind in kinds.kinds[index] if _is_wished(message.name, wish) else ():
            if not is_event_type(kind):
                why = "is no type of an event: lower-case letters, digits and _, also . and -"
                refused.append(_cause(message, f"its kind {kind[:_MOST_SHOWN]!r} {why}"))
            elif stems.setdefault(payload_stem(kind), kind) != kind:
                refused.append(_cause(message, f"its kind {kind!r} has the file of another one"))
            elif kind not in found and len(found) == MAX_EVENTS:
                refused.append(_cause(message, f"a provider has at most {MAX_EVENTS} events"))
            else:
                found[kind] = (*found.get(kind, ()), index)
    return dict(sorted(found.items()))


def _cause(message: InboundMessage, why: str) -> Finding:
    return replace(message.finding, message=f"{message.title} is not drafted: {why}")


def _without(draft: _Draft, found: ContractRefused, refused: list[Finding]) -> _Draft:
    """`draft` without the events that have findings, which are added to `refused`.

    Raises `found` if other contracts have findings.
    """
    folder = PurePosixPath(WEBHOOKS, draft.provider)
    causes: dict[str, Finding] = {}
    for each in found.findings:
        for kind in draft.by_type:
            payload = folder / f"{payload_stem(kind)}.payload.json"
            pointer = f"{child(_EVENTS, kind)}/"
            is_event = each.path == str(folder / "webhook.yaml") and (
                f"{each.pointer}/".startswith(pointer) or each.message.endswith(f" of {kind}")
            )
            if each.path == str(payload) or is_event:
                causes.setdefault(kind, each)
    if not causes:
        raise found
    for kind, cause in causes.items():
        why = f"its contract would have an error, {cause.rule} {cause.pointer}: {cause.message}"
        refused += [_cause(draft.messages[each], why) for each in draft.by_type[kind]]
    by_type = {kind: each for kind, each in draft.by_type.items() if kind not in causes}
    return replace(draft, by_type=by_type)


def _files(project: Project, tree: SourceTree, draft: _Draft) -> Files:
    """The contract, its payloads, and the event that is published."""
    provider = draft.provider
    folder = PurePosixPath(WEBHOOKS, provider)
    payloads = {
        project.place_of(folder / f"{payload_stem(kind)}.payload.json"): schema_text(
            payload_file(
                kind,
                [draft.messages[each].description for each in found],
                [draft.messages[each].body for each in found],
                is_flat=draft.is_flat,
            )
        )
        for kind, found in draft.by_type.items()
    }
    authentication = authentication_of(draft.messages)
    provided = DraftProvider(
        name=provider,
        authentication=authentication,
        message_id=message_id_of(authentication, draft.messages, draft.bodies),
        event_type=draft.kinds.place,
        events=_events(draft),
    )
    parts = (provider_part(project, provided), event_part(project, tree, message_event(provider)))
    return {**payloads, **listed_parts(project, tree, *parts)}


def _events(draft: _Draft) -> dict[str, str]:
    """The text of each event. The questions for the author are above the first one."""
    published = f"gateway.{message_event(draft.provider).type}.v1"
    texts = {
        kind: rendered(
            "inbound_event.yaml",
            {
                "TYPE": inline(kind),
                "PROFILE": PROFILE,
                "STEM": payload_stem(kind),
                "EVENT": published,
                "KIND": inline(kind),
            },
        ).rstrip("\n")
        for kind in draft.by_type
    }
    first = next(iter(texts))
    known = "" if draft.kinds.is_declared else _UNKNOWN_KINDS
    return {**texts, first: f"{known}{_QUESTIONS}{texts[first]}"}
