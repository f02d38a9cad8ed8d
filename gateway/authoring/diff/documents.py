"""What an OpenAPI document offers: its operations, webhooks and callbacks, as they are written."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.authoring.diff.changes import ChangePlace, Direction
from gateway.authoring.diff.document_schemas import DocumentSchemas, WrittenSchema
from gateway.authoring.diff.prepared import UNREAD, encoded
from gateway.authoring.diff.surface import Alternative, ExchangedSchema, Fact, Kind, Subject
from gateway.authoring.diff.texts import WHOLE
from gateway.authoring.openapi.reading.normalise import MEDIA_SHAPE, METHODS, NormalDocument
from gateway.authoring.openapi.reading.schemas import Part, resolve_part
from gateway.authoring.openapi.reading.source import PartRefused
from gateway.authoring.openapi.reading.swagger import PATHS
from gateway.contract.values.pointers import child, follow

_TEMPLATE: Final = re.compile(r"\{[^}]*\}")
_LOCATIONS: Final = ("path", "query", "querystring", "header", "cookie")
_Requirements = tuple[dict[str, frozenset[str] | None], ...]
_NO_SCOPES: Final = frozenset[str]()
_SCHEMES: Final = "/components/securitySchemes"
_CREDENTIAL_URLS: Final = ("authorizationUrl", "tokenUrl", "refreshUrl", "deviceAuthorizationUrl")
_UNSENT: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI ignores (3.1 §4.8.12.2)."""
_STYLES: Final = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
_REPEATED: Final = ("form", True)
"""The form in which `?a=x` is a text, and a list of one too (OpenAPI 3.1 §4.8.12.3)."""
_SCALARS: Final = frozenset({"string", "number", "integer", "boolean", "null"})
_MAX_DEPTH: Final = 8
_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
"""Media types whose members are texts."""


class Roles(Struct, frozen=True):
    """Who sends what, and what it means if a kind of message comes or goes."""

    kind: Kind
    request: Direction
    reply: Direction
    type_added: str
    type_removed: str
    reply_added: str
    reply_removed: str


_REQUESTS: Final = ("request-type-added", "request-type-removed")
_REPLIES: Final = ("reply-type-added", "reply-type-removed")
SERVED: Final = Roles("operation", Direction.REQUEST, Direction.RESPONSE, *_REQUESTS, *_REPLIES)
CALLED: Final = Roles(
    "operation", Direction.UPSTREAM_REQUEST, Direction.UPSTREAM_RESPONSE, *_REQUESTS, *_REPLIES
)
SENT: Final = Roles("webhook", Direction.EVENT, Direction.EVENT_REPLY, *_REPLIES, *_REQUESTS)
CALLED_BACK: Final = Roles(
    "callback", Direction.EVENT, Direction.EVENT_REPLY, *_REPLIES, *_REQUESTS
)


def document_subjects(
    document: NormalDocument, prefix: str = "", roles: Roles = SERVED
) -> Iterator[Subject]:
    """The subjects of a document. Raises `PartRefused` for a part that cannot be read."""
    reader = _Reader(document)
    value = document.value
    known: set[str] = set()
    items = [(section, *each) for section in PATHS for each in value.get(section, {}).items()]
    for section, written, item in items:
        path = _with_sorted_query(written)
        name = f"{prefix}{{method}} {_TEMPLATE.sub('{}', path)}"
        pointer = child(child("", section), written)
        for each in reader.path_item(item, pointer, roles, name, path):
            # Documents may have two paths of one shape, which OpenAPI forbids (3.1 §4.8.8.1).
            is_second = each.name in known
            known.add(each.name)
            shown = f"{prefix}{each.method} {path}"
            yield msgspec.structs.replace(each, name=shown) if is_second else each
    if roles is SERVED:
        yield from reader.addresses()
    for section in ("webhooks", "x-webhooks"):
        for name, item in value.get(section, {}).items():
            pointer = child(child("", section), name)
            yield from reader.path_item(item, pointer, SENT, f"{prefix}webhook {name} {{method}}")


class _Reader:
    def __init__(self, document: NormalDocument) -> None:
        self._document = document
        self._schemas = DocumentSchemas(document)

    def addresses(self) -> Iterator[Subject]:
        """The addresses of the whole document, also those at which callers get credentials."""
        for at, server in enumerate(_listed(self._document.value.get("servers") or [])):
            yield from self._address(server, "url", child("/servers", at))
        schemes = self._document.value.get("components", {}).get("securitySchemes", {})
        for name, scheme in schemes.items():
            with suppress(PartRefused):
                part = resolve_part(self._document, scheme, child(_SCHEMES, name))
                yield from self._address(part.value, "openIdConnectUrl", part.pointer)
                flows = part.value.get("flows")
                for flow, written in flows.items() if isinstance(flows, dict) else ():
                    pointer = child(child(part.pointer, "flows"), flow)
                    for member in _CREDENTIAL_URLS:
                        yield from self._address(written, member, pointer)

    def _address(self, owner: Any, member: str, pointer: str) -> Iterator[Subject]:
        url = owner.get(member) if isinstance(owner, dict) else None
        if isinstance(url, str):
            place = self._place(child(pointer, member))
            yield Subject(name=f"{member} {url}", kind="server", place=place, parts={})

    def path_item(
        self, item: Any, pointer: str, roles: Roles, name: str, path: str = ""
    ) -> Iterator[Subject]:
        found = resolve_part(self._document, item, pointer)
        own = {method: found.value[method] for method in METHODS if method in found.value}
        own |= found.value.get("additionalOperations", {})
        for method, operation in own.items():
            at = child(found.pointer, method)
            if method not in found.value:
                at = child(child(found.pointer, "additionalOperations"), method)
            part = resolve_part(self._document, operation, at)
            named = name.replace("{method}", method.upper(), 1)
            subject = self._subject(named, part, found, roles, path)
            yield msgspec.structs.replace(subject, method=method.upper(), path=path)
            yield from self._callbacks(named, part)

    def _callbacks(self, name: str, operation: Part) -> Iterator[Subject]:
        below = child(operation.pointer, "callbacks")
        for key, callback in operation.value.get("callbacks", {}).items():
            found = resolve_part(self._document, callback, child(below, key))
            for url, item in found.value.items():
                at = child(found.pointer, url)
                yield from self.path_item(
                    item, at, CALLED_BACK, f"{name} callback {key} {url} {{method}}"
                )

    def _subject(self, name: str, operation: Part, item: Part, roles: Roles, path: str) -> Subject:
        parts: dict[str, ExchangedSchema] = {}
        facts: dict[str, Fact] = {}
        found = self._written_parameters(operation, item)
        for location in _LOCATIONS:
            members = {
                name: part
                for (where, name), part in found.items()
                if where == location and not (location == "header" and name in _UNSENT)
            }
            if location == "path":
                members = _by_segment(members, path, operation.pointer)
            for each, part in members.items():
                facts |= self._style(location, each, part, roles)
            shown = f"{location} parameters"
            parts[shown] = self._object(shown, members, roles.request, is_closed=True)
        if operation.value.get("deprecated") is True:
            facts["the deprecation"] = Fact(
                place=self._place(child(operation.pointer, "deprecated")),
                added="deprecated",
                removed="deprecation-withdrawn",
            )
        self._body(operation, roles, parts, facts)
        self._replies(operation, roles, parts, facts)
        return Subject(
            name=name,
            kind=roles.kind,
            place=self._place(operation.pointer),
            parts=parts,
            facts=facts,
            security=self._security(operation),
        )

    def _place(self, pointer: str) -> ChangePlace:
        found = self._document.spot_of(pointer)
        return ChangePlace(found.file.path, found.pointer)

    def _written_parameters(self, operation: Part, item: Part) -> dict[tuple[str, str], Part]:
        """The parameters by location and name. Those of the operation replace the item's."""
        found: dict[tuple[str, str], Part] = {}
        for owner in (item, operation):
            below = child(owner.pointer, "parameters")
            for at, each in enumerate(owner.value.get("parameters", ())):
                part = resolve_part(self._document, each, child(below, at))
                found[str(part.value.get("in")), _parameter_name(part.value)] = part
        return found

    def _object(
        self, name: str, members: Mapping[str, Part], direction: Direction, *, is_closed: bool
    ) -> ExchangedSchema:
        """The exchange of parameters or headers, as one object."""
        written = {each: self._value(part) for each, part in members.items()}
        required = [
            each
            for each, part in members.items()
            if part.value.get("required") is True or part.value.get("in") == "path"
        ]
        exchange = self._schemas.composed(
            name, direction, written, required, is_closed=is_closed, is_output=not is_closed
        )
        texts = frozenset(each for each, part in members.items() if "content" not in part.value)
        repeated = frozenset(each for each in texts if _form(members[each].value) == _REPEATED)
        return msgspec.structs.replace(exchange, texts=texts, repeated=repeated)

    def _value(self, part: Part) -> WrittenSchema:
        """The schema of a parameter or header."""
        if "content" in part.value:
            for media_type, media in part.value["content"].items():
                found = self._media(media, child(child(part.pointer, "content"), media_type))
                return WrittenSchema(
                    found.value.get("schema", True), child(found.pointer, "schema")
                )
        schema = part.value.get("schema", True)
        if part.value.get("allowEmptyValue") is True and part.value.get("in") == "query":
            schema = {"anyOf": [schema, {"const": ""}]}
        if part.value.get("deprecated") is True and isinstance(schema, dict):
            schema = {**schema, "deprecated": True}
        return WrittenSchema(schema, child(part.pointer, "schema"))

    def _style(self, location: str, name: str, part: Part, roles: Roles) -> dict[str, Fact]:
        """How a parameter is written, if that can differ."""
        value = part.value
        if "content" in value:
            text = f"content {', '.join(value['content'])}"
        else:
            if self._is_scalar(value.get("schema", {"type": "string"})):
                return {}
            text = "{}, explode {}".format(*_form(value))
        fact = Fact(
            value=text,
            place=self._place(part.pointer),
            changed="parameter-style",
            direction=roles.request,
        )
        return {f"style of {location} {name}": fact}

    def _is_scalar(self, schema: Any, depth: int = 0) -> bool:
        """Whether no value is a list or an object, which alone have a style."""
        try:
            found = resolve_part(self._document, schema, "").value
        except PartRefused:
            return False
        if "type" in found:
            kinds = found["type"]
            return all(str(each) in _SCALARS for each in _listed(kinds))
        if "enum" in found or "const" in found:
            values = _listed(found["enum"]) if "enum" in found else [found["const"]]
            return not any(isinstance(each, list | dict) for each in values)
        parts = [found[keyword] for keyword in ("anyOf", "oneOf", "allOf") if keyword in found]
        inside = [self._is_scalar(each, depth + 1) for each in parts[0]] if parts else []
        return depth < _MAX_DEPTH and bool(inside) and all(inside)

    def _body(
        self,
        operation: Part,
        roles: Roles,
        parts: dict[str, ExchangedSchema],
        facts: dict[str, Fact],
    ) -> None:
        if "requestBody" not in operation.value:
            return
        at = child(operation.pointer, "requestBody")
        body = resolve_part(self._document, operation.value["requestBody"], at)
        place = self._place(body.pointer)
        facts["body"] = Fact(
            place=place, added="body-added", removed="body-removed", direction=roles.request
        )
        if body.value.get("required") is True:
            grows = roles.request.may_grow
            facts["required body"] = Fact(
                place=place,
                added="body-required" if grows else "",
                removed="" if grows else "output-required-lost",
                direction=roles.request,
            )
        rules = (roles.type_added, roles.type_removed)
        self._content("body", body, roles.request, rules, (), parts)

    def _content(
        self,
        name: str,
        owner: Part,
        direction: Direction,
        rules: tuple[str, str],
        wider: Iterable[str],
        parts: dict[str, ExchangedSchema],
    ) -> None:
        """The exchanges of each media type of a body or reply."""
        for written, media in owner.value.get("content", {}).items():
            found = self._media(media, child(child(owner.pointer, "content"), written))
            media_type = _media_type(written)
            names = [f"{each} {media_type}" for each in (name, *wider)]
            ranges = (f"{media_type.partition('/')[0]}/*", "*/*")
            names += [f"{each} {one}" for each in (name, *wider) for one in ranges]
            for keyword, prefix in (("schema", ""), ("itemSchema", "items of ")):
                if keyword == "schema" or keyword in found.value:
                    shown = [f"{prefix}{each}" for each in names]
                    schema = WrittenSchema(
                        found.value.get(keyword, True), child(found.pointer, keyword)
                    )
                    exchange = self._schemas.exchange(
                        shown[0], direction, schema, is_text=media_type.endswith(("/xml", "+xml"))
                    )
                    parts[shown[0]] = msgspec.structs.replace(
                        exchange,
                        added=rules[0],
                        removed=rules[1],
                        fallback=tuple(shown[1:]),
                        texts=_texts_of(media_type),
                        repeated=frozenset() if "encoding" in found.value else None,
                    )

    def _media(self, media: Any, pointer: str) -> Part:
        """The Media Type Object. One that is no object has a schema of which only its text counts.

        Raises `PartRefused` if that text refers to others, whose changes would not be seen.
        """
        try:
            return resolve_part(self._document, media, pointer)
        except PartRefused as error:
            finding = error.finding
            if finding.rule != MEDIA_SHAPE:
                raise
            files = {each.path: each for each in self._document.files}
            text = encoded(follow(files[finding.path].value, finding.pointer))
            if b'"$ref"' in text:
                raise
            unread = f"{finding.message}, and is {text.decode()}"
            return Part({"schema": {UNREAD: {"media type": unread}}}, pointer)

    def _replies(
        self,
        operation: Part,
        roles: Roles,
        parts: dict[str, ExchangedSchema],
        facts: dict[str, Fact],
    ) -> None:
        below = child(operation.pointer, "responses")
        for status, reply in operation.value.get("responses", {}).items():
            found = resolve_part(self._document, reply, child(below, status))
            wider = [each for each in (f"{status[:1]}XX", "default") if each != status]
            word = "success" if status.startswith("2") or status == "default" else "failure"
            facts[f"status {status}"] = Fact(
                place=self._place(found.pointer),
                added=f"{word}-added" if not roles.reply.may_grow else "",
                removed=f"{word}-removed",
                direction=roles.reply,
                fallback=tuple(f"status {each}" for each in wider),
            )
            rules = (roles.reply_added, roles.reply_removed)
            others = [f"reply {each}" for each in wider]
            self._content(f"reply {status}", found, roles.reply, rules, others, parts)
            self._headers(status, found, roles, wider, parts)

    def _headers(
        self,
        status: str,
        reply: Part,
        roles: Roles,
        wider: Iterable[str],
        parts: dict[str, ExchangedSchema],
    ) -> None:
        below = child(reply.pointer, "headers")
        members = {
            name.lower(): resolve_part(self._document, each, child(below, name))
            for name, each in reply.value.get("headers", {}).items()
            if name.lower() != "content-type"
        }
        name = f"headers of {status}"
        exchange = self._object(name, members, roles.reply, is_closed=False)
        others = tuple(f"headers of {each}" for each in wider)
        parts[name] = msgspec.structs.replace(exchange, fallback=others)

    def _security(self, operation: Part) -> tuple[Alternative, ...]:
        owner = operation if "security" in operation.value else Part(self._document.value, "")
        schemes = self._document.value.get("components", {}).get("securitySchemes", {})
        try:
            written = msgspec.convert(owner.value.get("security") or (), _Requirements)
        except msgspec.ValidationError as error:
            pointer = child(owner.pointer, "security")
            fix = "give a list of objects, each with a list of scopes for each scheme"
            finding = self._document.finding(pointer, "document/shape", str(error), fix)
            raise PartRefused(finding) from None
        return tuple(
            frozenset((self._scheme(schemes, name), scopes or _NO_SCOPES) for name, scopes in each)
            for each in (one.items() for one in written)
        )

    def _scheme(self, schemes: Mapping[str, Any], name: str) -> str:
        """The scheme itself, so that its name may change."""
        if name not in schemes:
            return name
        try:
            scheme = resolve_part(self._document, schemes[name], "").value
        except PartRefused:
            return name
        kept = {key: scheme[key] for key in ("type", "in", "name", "scheme") if key in scheme}
        # Names of headers and of HTTP schemes have no case (RFC 9110 §5.1, §11.1).
        if kept.get("in") == "header":
            kept["name"] = str(kept.get("name")).lower()
        if kept.get("type") == "http":
            kept["scheme"] = str(kept.get("scheme")).lower()
        return msgspec.json.encode(kept, order="deterministic").decode()


def _form(parameter: Mapping[str, Any]) -> tuple[str, bool]:
    """The style in which a parameter is written, and whether it explodes."""
    style = parameter.get("style", _STYLES.get(parameter.get("in", "header"), "form"))
    return style, parameter.get("explode", style in {"form", "cookie"})


def _with_sorted_query(path: str) -> str:
    """`path`, whose query has no order."""
    path, mark, query = path.partition("?")
    return f"{path}{mark}{'&'.join(sorted(query.split('&')))}"


def _by_segment(members: Mapping[str, Part], path: str, pointer: str) -> dict[str, Part]:
    """The path parameters by the place in `path`: their names are on no wire.

    One that is not described is any text. One without a place keeps its name.
    """
    names = [each[1:-1] for each in _TEMPLATE.findall(path)]
    unknown = Part({"in": "path", "schema": {"type": "string"}}, pointer)
    placed = {f"segment {at}": members.get(name, unknown) for at, name in enumerate(names, 1)}
    return placed | {name: part for name, part in members.items() if name not in names}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _parameter_name(parameter: Mapping[str, Any]) -> str:
    name = str(parameter.get("name", ""))
    return name.lower() if parameter.get("in") == "header" else name


def _texts_of(media_type: str) -> frozenset[str] | None:
    if media_type in _FORMS:
        return None
    return WHOLE if media_type == "text/plain" else frozenset()


def _media_type(text: str) -> str:
    """The media type without its charset."""
    essence, *rest = (each.strip() for each in text.lower().split(";"))
    return ";".join([essence, *(each for each in rest if not each.startswith("charset="))])
