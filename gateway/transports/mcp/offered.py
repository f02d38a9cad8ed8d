"""Prompts, and the methods for all that is offered to MCP clients beside tools."""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from msgspec import Struct

from gateway.amounts import amount
from gateway.calls.asking import InputRequired, OpenQuestion, answer_of, asked_of
from gateway.contract import offered as declared_prompts
from gateway.contract.offered import DeclaredPrompt, PromptImage, PromptResource, PromptText, filled
from gateway.contract.policies.questions import Elicitation, Elicited
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.pointers import child
from gateway.contract.values.violation import MAX_VIOLATIONS, Violation
from gateway.errors import InvalidArguments, UnknownOperation
from gateway.transports.json_rpc import INVALID_PARAMS
from gateway.transports.mcp import errors
from gateway.transports.mcp.asking import requests_of
from gateway.transports.mcp.caller import Caller, OfferedAccess
from gateway.transports.mcp.events import EventResource
from gateway.transports.mcp.protocol import ProtocolRevision, revision_of
from gateway.transports.mcp.requests import (
    CallerOf,
    Context,
    answered,
    answering,
    bounds_in,
    declaring,
    refused,
)
from gateway.transports.mcp.resources import OfferedResources, shown_name
from gateway.transports.mcp.tasks import require_extension
from gateway.transports.mcp.tools import Tools

KEY: Final = "arguments"
"""The key of the question."""


def missing_in(prompt: DeclaredPrompt, given: Mapping[str, str]) -> OpenQuestion | None:
    """The question for the required arguments that are not `given`. None if there are none."""
    missing = [each for each in prompt.arguments if each.is_required and each.name not in given]
    if not missing:
        return None
    form = {
        "type": "object",
        "properties": {each.name: _field(each) for each in missing},
        "required": [each.name for each in missing],
    }
    return asked_of(Elicitation(prompt.description, form))


def completed(given: Mapping[str, str], asked: OpenQuestion, answer: Any) -> dict[str, str]:
    """`given` with what the user has answered. Raises `InvalidAnswer`."""
    found = answer_of(KEY, asked, answer)
    content = found.content if isinstance(found, Elicited) else {}
    fields = asked.params["requestedSchema"]["properties"]
    return {**given, **{name: content[name] for name in fields if name in content}}


def _field(argument: declared_prompts.PromptArgument) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "description": argument.description}
    if argument.values:
        return {**field, "enum": [*argument.values]}
    return {**field, "maxLength": argument.max_length}


_UNKNOWN: Final = "mcp:prompts/get"
"""What the audit record of a prompt that does not exist names. No operation id has a colon."""
_SHOWN: Final = 128
_LISTED: Final = 20


class _Filling(Struct, frozen=True, kw_only=True):
    """What takes the place of the arguments in the messages, which a model reads."""

    values: dict[str, str]
    hidden_characters: int
    """How many invisible characters were removed from the arguments."""
    job_id: None = None
    fallbacks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class OfferedPrompts:
    """Lists the prompts of MCP callers, and fills them in. What is listed can be got."""

    def __init__(self, tools: Tools, access: OfferedAccess) -> None:
        self._tools = tools
        self._access = access

    def prompts(self, caller: Caller, revision: ProtocolRevision) -> list[Prompt]:
        """The prompts that `caller` may get."""
        return [
            Prompt(
                name=name,
                title=each.title if revision.has_titles else None,
                description=each.description,
                arguments=[
                    PromptArgument(
                        name=one.name, description=one.description, required=one.is_required
                    )
                    for one in each.arguments
                ]
                or None,
            )
            for name, each in self._seen(caller)
        ]

    async def get(
        self, caller: Caller, name: str, arguments: Mapping[str, str] | None
    ) -> GetPromptResult | dict[str, Any]:
        """The messages of the prompt `name`, or a question for arguments that are left out.

        Leaves one audit record, and one for the question. Raises `MCPError`.
        """
        prompt = self._find(caller, name)
        grant = _UNKNOWN if prompt is None else prompt.grant
        async with answering(caller, errors.prompt(name)):
            try:
                arguments = await self._complete(caller, prompt, arguments or {})
            except InputRequired as error:
                return {"resultType": "input_required", "inputRequests": requests_of(error.asked)}
            async with self._access.recorded(caller, grant) as record:
                if prompt is None:
                    raise UnknownOperation
                filling = _filling(prompt, arguments)
                record.result = filling
            messages = [
                {"role": each.role, "content": _block(each.content, {**filling.values, **names})}
                for each in prompt.messages
                if (names := self._names(caller, each)) is not None
            ]
        found = [PromptMessage.model_validate(each) for each in messages]
        return GetPromptResult(description=prompt.description, messages=found)

    async def _complete(
        self, caller: Caller, prompt: DeclaredPrompt | None, given: Mapping[str, str]
    ) -> Mapping[str, str]:
        """`given`, with what a client that can be asked answers for arguments that are missing.

        Raises `InputRequired` if it is asked by rounds, and what `completed` raises.
        """
        asked = None if prompt is None else missing_in(prompt, given)
        if prompt is None or asked is None or "elicitation" not in caller.declared:
            return given
        if KEY in caller.answers:
            return completed(given, asked, caller.answers[KEY])
        try:
            await self._ask(caller, prompt, asked)
        except InputRequired:
            if caller.ask is None:
                raise
        return completed(given, asked, (await caller.ask({KEY: asked}))[KEY])

    async def _ask(self, caller: Caller, prompt: DeclaredPrompt, asked: OpenQuestion) -> NoReturn:
        """Raise `InputRequired`, with its audit record."""
        async with self._access.recorded(caller, prompt.grant):
            raise InputRequired({KEY: asked})
        raise AssertionError("the record swallowed its error")

    def values(self, caller: Caller, name: str, argument: str) -> list[str] | None:
        """The known values of an argument. None if `caller` sees no such argument."""
        prompt = self._find(caller, name)
        found = () if prompt is None else prompt.arguments
        return next(([*one.values] for one in found if one.name == argument), None)

    def _seen(self, caller: Caller) -> Iterator[tuple[str, DeclaredPrompt]]:
        """The prompts that exist for `caller`, with their names at its endpoint."""
        for each in self._access.catalogue.offered.prompts:
            if self._access.sees(caller, each.grant, each.connector) and any(
                self._names(caller, message) is not None for message in each.messages
            ):
                yield shown_name(each.connector, each.name, caller), each

    def _find(self, caller: Caller, name: str) -> DeclaredPrompt | None:
        return next((each for shown, each in self._seen(caller) if shown == name), None)

    def _names(
        self, caller: Caller, message: declared_prompts.PromptMessage
    ) -> dict[str, str] | None:
        """The names of the tools that the message names. None if `caller` may not call them all."""
        names: dict[str, str] = {}
        for operation_id in message.tools:
            entry = self._access.tool(caller, operation_id)
            if entry is None:
                return None
            profile = caller.view.profile
            names[operation_id] = self._tools.names.name(entry.tool, caller.connector, profile)
        return names


def _filling(prompt: DeclaredPrompt, given: Mapping[str, str]) -> _Filling:
    """What takes the place of each argument. Raises `InvalidArguments`: none is ever ignored."""
    known = {each.name: each for each in prompt.arguments}
    violations = [
        _violation(name, "additionalProperties", "the prompt has no such argument")
        for name in given
        if name not in known
    ]
    violations += [
        _violation(name, "required", "is missing")
        for name, each in known.items()
        if each.is_required and name not in given
    ]
    for name in given.keys() & known.keys():
        each, text = known[name], given[name]
        if len(text) > each.max_length:
            detail = f"has more than {amount(each.max_length, 'character')}"
            violations.append(_violation(name, "maxLength", detail))
        elif each.values and text not in each.values:
            detail = f"is none of {', '.join(each.values[:_LISTED])}"
            violations.append(_violation(name, "enum", detail))
    if violations:
        raise InvalidArguments(violations[:MAX_VIOLATIONS])
    shown = {name: visible_text(given.get(name, each.default)) for name, each in known.items()}
    return _Filling(
        values={name: text for name, (text, _) in shown.items()},
        hidden_characters=sum(count for _, count in shown.values()),
    )


def _violation(name: str, keyword: str, detail: str) -> Violation:
    shown = visible_text(name[:_SHOWN])[0]
    return Violation(pointer=child("", shown), keyword=keyword, detail=detail)


def _block(
    content: PromptText | PromptImage | PromptResource, values: Mapping[str, str]
) -> dict[str, Any]:
    """The content block, in which each placeholder has been replaced once."""
    match content:
        case PromptText(text=text):
            return {"type": "text", "text": filled(text, values)}
        case PromptImage(mime_type=mime_type, blob=blob):
            return {"type": "image", "data": blob, "mimeType": mime_type}
        case PromptResource():
            found = {"uri": filled(content.uri, values), "mimeType": content.mime_type}
            if content.blob is not None:
                return {"type": "resource", "resource": {**found, "blob": content.blob}}
            shown = content.data if content.text is None else filled(content.text, values)
            return {"type": "resource", "resource": {**found, "text": shown or ""}}


_T = TypeVar("_T")
PAGE: Final = 200
"""Items of a page."""
_LONGEST: Final = 4_000
_MARK: Final = "after:"


def page_of(
    items: Iterable[_T], key: Callable[[_T], str], params: PaginatedRequestParams | None
) -> tuple[list[_T], str | None]:
    """The page of `items` that the request asks for, in the order of `key`, and the next cursor.

    Raises `MCPError` for a cursor that is not one of ours, which the empty text is not either.
    """
    cursor = None if params is None else params.cursor
    after = None if cursor is None else _read(cursor)
    rest = sorted((each for each in items if after is None or key(each) > after), key=key)
    page = rest[:PAGE]
    return page, _cursor(key(page[-1])) if len(rest) > PAGE else None


def _cursor(last: str) -> str:
    return base64.urlsafe_b64encode(f"{_MARK}{last}".encode()).decode("ascii")


def _read(cursor: str) -> str:
    last = _decoded(cursor) if len(cursor) <= _LONGEST else None
    if last is None or _cursor(last) != cursor:
        raise MCPError(INVALID_PARAMS, "Unknown cursor")
    return last


def _decoded(cursor: str) -> str | None:
    try:
        text = base64.b64decode(cursor.encode("ascii"), b"-_", validate=True).decode()
    except ValueError:  # also of characters and bytes that are none of the encoding
        return None
    return text.removeprefix(_MARK)


MOST_COMPLETIONS: Final = 100
"""The protocol's limit."""


def add_context(
    server: Server[Any], tools: Tools, caller_of: CallerOf, events: EventResource | None
) -> OfferedResources | None:
    """Add to `server` what there is beside tools: that of contracts, and the events.

    Returns its resources. None: it has no methods of resources.
    """
    if events is not None:
        add_listening(server, caller_of, events)
    if tools.offered is None:
        return None
    return add_offered(server, tools, tools.offered, caller_of, events)


def add_listening(server: Server[Any], caller_of: CallerOf, events: EventResource) -> None:
    """Add `subscriptions/listen`, which notifies of new events, to `server`."""

    async def listen(
        ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        require_extension(ctx, params.notifications)
        return await events.listen(ctx, await caller_of(ctx), params.notifications)

    server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)


def add_offered(
    server: Server[Any],
    tools: Tools,
    access: OfferedAccess,
    caller_of: CallerOf,
    events: EventResource | None,
) -> OfferedResources:
    """Add what the contracts offer beside tools to `server`, and the resource of the events.

    Returns the resources.
    """
    resources, prompts = OfferedResources(tools, access, events), OfferedPrompts(tools, access)

    async def known_caller(ctx: Context) -> Caller:
        return declaring(await caller_of(ctx), ctx)

    _add_resources(server, resources, known_caller)
    if access.catalogue.offered.prompts:
        _add_prompts(server, prompts, known_caller)

    async def complete(ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        caller, ref, name = await known_caller(ctx), params.ref, params.argument.name
        if isinstance(ref, PromptReference):
            values, named = prompts.values(caller, ref.name, name), errors.prompt(ref.name)
        else:
            values, named = resources.values(caller, ref.uri, name), errors.resource(ref.uri)
        if values is None:
            raise refused(named.not_found())
        return _completed(values, params.argument.value)

    server.add_request_handler("completion/complete", CompleteRequestParams, complete)
    return resources


def _completed(values: list[str], begun: str) -> CompleteResult:
    fitting = [each for each in values if each.startswith(begun)]
    return CompleteResult(
        completion=Completion(
            values=fitting[:MOST_COMPLETIONS],
            total=len(fitting),
            has_more=len(fitting) > MOST_COMPLETIONS,
        )
    )


def _add_resources(server: Server[Any], resources: OfferedResources, caller_of: CallerOf) -> None:
    async def list_resources(
        ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        found = resources.resources(await caller_of(ctx), revision_of(ctx.protocol_version))
        page, cursor = page_of(found, lambda each: each.uri, params)
        return ListResourcesResult(resources=page, next_cursor=cursor)

    async def list_templates(
        ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        found = resources.templates(await caller_of(ctx), revision_of(ctx.protocol_version))
        page, cursor = page_of(found, lambda each: each.uri_template, params)
        return ListResourceTemplatesResult(resource_templates=page, next_cursor=cursor)

    async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await resources.read(await caller_of(ctx), params.uri, bounds_in(ctx))

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)


def _add_prompts(server: Server[Any], prompts: OfferedPrompts, caller_of: CallerOf) -> None:
    async def list_prompts(
        ctx: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        found = prompts.prompts(await caller_of(ctx), revision_of(ctx.protocol_version))
        page, cursor = page_of(found, lambda each: each.name, params)
        return ListPromptsResult(prompts=page, next_cursor=cursor)

    async def get_prompt(
        ctx: Context, params: GetPromptRequestParams
    ) -> GetPromptResult | dict[str, Any]:
        caller = answered(await caller_of(ctx), ctx)
        return await prompts.get(caller, params.name, params.arguments)

    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
