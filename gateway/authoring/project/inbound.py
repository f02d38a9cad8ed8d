"""Drafts the contract of a provider from what a vendor's document says that the vendor sends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.tree import WEBHOOKS, SourceTree
from gateway.authoring.mapping.event_maps import text_objection
from gateway.authoring.mapping.fields.scope import Scope
from gateway.authoring.openapi.lowering.selecting import snake_case
from gateway.authoring.openapi.lowering.webhooks import InboundMessage, InboundMessages
from gateway.authoring.project.changes import Files
from gateway.authoring.project.drafts.events import (
    PROFILE,
    DraftProvider,
    event_part,
    is_event_type,
    message_event,
    provider_part,
)
from gateway.authoring.project.drafts.texts import (
    check_connector,
    inline,
    listed_parts,
    rendered,
    schema_text,
    words,
)
from gateway.authoring.project.ejecting.results import Definitions, tool_schema
from gateway.authoring.project.staging import Project, with_generated
from gateway.contract.schemas.shapes import member
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import DATA, MAPS
from gateway.errors import ConfigurationError, ContractError
from gateway.profiles.inlining import inlined
from gateway.signatures.registry import DELIVERIES, SCHEMES, scheme_of

_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_CONDITIONS: Final = ("not", "if", "then", "else")
_MAX_TITLE: Final = 100
MAX_SUBSCHEMAS: Final = 200
"""The most subschemas of one payload, so that a person can read it. A provider of a large vendor
has hundreds of payloads."""
_KEPT: Final = frozenset({"type", "description"})
_LEAST: Final = 20
"""The subschemas that each of many forms of a payload may have."""
_EXAMPLES: Final = frozenset({"examples", "example"})


def payload_file(
    kind: str,
    descriptions: Sequence[str],
    schemas: Sequence[dict[str, Any]],
    *,
    is_flat: bool = False,
) -> dict[str, Any]:
    """The file of an event whose messages have one of `schemas`.

    It has no references, its objects are open, and it admits all that `schemas` admit. References
    that lead into themselves, or that do not fit into `MAX_SUBSCHEMAS`, are cut to open values.
    `is_flat`: the parts of its members are cut too.
    """
    limit = max(MAX_SUBSCHEMAS // len(schemas), _LEAST)
    bodies = [_body(each, limit) for each in schemas]
    title = words(kind)[:_MAX_TITLE]
    text = next((each.strip() for each in descriptions if each.strip()), f"{title}.")
    head = {"title": title, "description": text}
    forms = [form for body in bodies for form in body.get("anyOf", [body])]
    whole = forms[0] if len(forms) == 1 else _common(forms)
    if is_flat:
        members = {name: _cut(each) for name, each in whole.get("properties", {}).items()}
        whole = {"required": whole.get("required", []), "properties": members}
    return {**head, "type": "object", **{k: v for k, v in whole.items() if k not in head}}


def _common(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An object that admits all that `forms` admit, with the members that they have in common."""
    members: dict[str, list[Any]] = {}
    for form in forms:
        for name, each in form.get("properties", {}).items():
            members.setdefault(name, []).append(each)
    required = [name for name in members if all(name in form.get("required", ()) for form in forms)]
    return {
        "required": required,
        "properties": {
            name: _either(found) if len(found) == len(forms) else _cut({**found[0], "type": ()})
            for name, found in members.items()
        },
    }


def _either(schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A schema that admits what one of `schemas` admits."""
    first = schemas[0]
    if all(each == first for each in schemas):
        return first
    values = [each.get("enum", [each["const"]] if "const" in each else []) for each in schemas]
    if all(values):
        every = list(dict.fromkeys(value for each in values for value in each))
        return {"description": first["description"], "enum": every}
    same = all(each.get("type") == first.get("type") for each in schemas)
    return _cut(first if same else {**first, "type": ()})


def _cut(schema: dict[str, Any]) -> dict[str, Any]:
    """What is left of a member: its description, and its type if it has one."""
    kept = {name: value for name, value in schema.items() if name in _KEPT and value}
    texts = schema.get("enum", [schema.get("const")])
    is_text = schema.get("type") and all(isinstance(each, str) for each in texts)
    return {**kept, **({"enum": texts} if is_text else {})}


def _body(schema: dict[str, Any], limit: int) -> dict[str, Any]:
    plain = _open(inlined(schema, limit))
    found: dict[str, Any] = _open(tool_schema(Definitions({}), plain))
    return {"type": "object", **found}


def _open(node: Any, *, is_map: bool = False) -> Any:
    """`node` with objects that admit members which the sender adds."""
    if isinstance(node, list):
        return [_open(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _open(each) for name, each in node.items()}
    # A condition admits less if a part of it admits more.
    dropped = {*_CONDITIONS} if any(_closes(node.get(each)) for each in _CONDITIONS) else set()
    return {
        keyword: value if keyword in DATA else _open(value, is_map=keyword in MAPS)
        for keyword, value in node.items()
        if keyword not in dropped
        and keyword not in _EXAMPLES
        and not (keyword in _CLOSING and value in (False, {}))
    }


def _closes(node: Any) -> bool:
    """Whether an object somewhere in `node` is closed."""
    if isinstance(node, list):
        return any(map(_closes, node))
    if not isinstance(node, dict):
        return False
    return any(node.get(each) is False for each in _CLOSING) or any(map(_closes, node.values()))


_MEMBERS: Final = ("type", "event", "event_type", "eventType", "event_name", "topic", "kind")
"""Members that usually say the kind of a message, the most usual first."""
_HEADERS: Final = ("event", "topic", "kind", "type")
"""Words of the names of headers that do."""
_UNKNOWN: Final = {"header": "X-Event-Type"}


class MessageKinds(Struct, frozen=True, kw_only=True):
    """The place of the kind in each message, and the kinds of each message."""

    place: Mapping[str, str]
    """`{"pointer": …}` or `{"header": …}`."""
    is_declared: bool
    """Whether the document says it. If not, the kinds are the names of the messages."""
    kinds: tuple[tuple[str, ...], ...]
    """For each message, in the order of the messages."""


def kinds_of(messages: Sequence[InboundMessage], bodies: Sequence[dict[str, Any]]) -> MessageKinds:
    """How `messages` differ. `bodies` are their schemas without references."""
    names = list(bodies[0].get("properties", {})) if len(bodies) > 1 else []
    ways = (_of_bodies(bodies, _MEMBERS), _of_headers(messages), _of_bodies(bodies, names))
    found = next(chain.from_iterable(ways), None)
    return found or MessageKinds(
        place=_UNKNOWN,
        is_declared=False,
        kinds=tuple((_type_of(each.name),) for each in messages),
    )


def _type_of(name: str) -> str:
    return name if is_event_type(name) else snake_case(name)


def _of_bodies(bodies: Sequence[dict[str, Any]], names: Iterable[str]) -> Iterator[MessageKinds]:
    """Those of the members `names` with which all bodies say different kinds."""
    for name in names:
        kinds = tuple(_values(each, name) for each in bodies)
        every = [kind for each in kinds for kind in each]
        if all(kinds) and len(set(every)) == len(every):
            pointer = f"/{name.replace('~', '~0').replace('/', '~1')}"
            yield MessageKinds(place={"pointer": pointer}, is_declared=True, kinds=kinds)


def _values(body: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts that the member `name` of `body` may be. Empty if it may be absent or anything."""
    found = member(body, name)
    if found is None or not found.is_required or not isinstance(found.schema, dict):
        return ()
    schema = found.schema
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return tuple(values) if all(isinstance(each, str) for each in values) else ()


def _of_headers(messages: Sequence[InboundMessage]) -> Iterator[MessageKinds]:
    """The headers in which all messages say a kind. Several messages may have the same."""
    names = {name.lower(): name for name in messages[0].headers}
    for word in _HEADERS:
        for name in (each for each in names if word in each):
            kinds = tuple(_header(each, name) for each in messages)
            if all(kinds):
                yield MessageKinds(place={"header": names[name]}, is_declared=True, kinds=kinds)


def _header(message: InboundMessage, name: str) -> tuple[str, ...]:
    found = (values for header, values in message.headers.items() if header.lower() == name)
    return next(found, ())


_IN_HEADER: Final = next(
    name for name, kind in SCHEMES.items() if {"header", "prefix"} <= {*kind.__struct_fields__}
)
"""The scheme that signs in a header which the contract names."""
_SIGNATURE: Final = "signature"
_PREFIX: Final = "sha256="
_DELIVERY: Final = "delivery"
_IDS: Final = ("/id", "/event_id", "/eventId", "/message_id", "/messageId")
_TEXT: Final = {"type": "string"}


def authentication_of(messages: Sequence[InboundMessage]) -> dict[str, str]:
    """How the messages seem to be signed: in a header that all of them declare for it, else as the
    gateway signs its own deliveries."""
    own = {each.lower() for each in DELIVERIES.headers}
    for name in _shared_headers(messages):
        if _SIGNATURE in name.lower() and name.lower() not in own:
            is_prefixed = any(each.startswith(_PREFIX) for each in messages[0].headers[name])
            return {
                "scheme": _IN_HEADER,
                "header": name,
                **({"prefix": _PREFIX} if is_prefixed else {}),
            }
    return {"scheme": DELIVERIES.name}


def message_id_of(
    authentication: Mapping[str, str],
    messages: Sequence[InboundMessage],
    bodies: Sequence[dict[str, Any]],
) -> dict[str, str] | None:
    """Where the messages seem to have an id that a repeated one has again. None: nowhere."""
    signed = scheme_of(dict(authentication)).signed_headers
    for name in (*signed, *_shared_headers(messages)):
        if (name in signed and name.endswith("-id")) or _DELIVERY in name.lower():
            return {"header": name}
    scopes = [Scope(payload=each) for each in bodies]
    for pointer in _IDS:
        if not any(text_objection(each, pointer, _TEXT) for each in scopes):
            return {"pointer": pointer}
    return None


def _shared_headers(messages: Sequence[InboundMessage]) -> list[str]:
    """The headers that all messages declare, as the first one writes them."""
    others = [{name.lower() for name in each.headers} for each in messages[1:]]
    return [name for name in messages[0].headers if all(name.lower() in each for each in others)]


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
