"""The methods of resources, prompts and completions, added to the SDK's server."""

from typing import Any, Final

from mcp.server import Server
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
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.offered.errors import not_found, unknown_prompt
from gateway.transports.mcp.offered.events import EventResource
from gateway.transports.mcp.offered.paging import page_of
from gateway.transports.mcp.offered.prompts import OfferedPrompts
from gateway.transports.mcp.offered.resources import OfferedResources
from gateway.transports.mcp.offered_access import OfferedAccess
from gateway.transports.mcp.revisions import revision_of
from gateway.transports.mcp.task_methods import (
    CallerOf,
    Context,
    answered,
    bounds_in,
    declaring,
    require_extension,
)
from gateway.transports.mcp.tools import Tools

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
            values, error = prompts.values(caller, ref.name, name), unknown_prompt(ref.name)
        else:
            values, error = resources.values(caller, ref.uri, name), not_found(ref.uri)
        if values is None:
            raise error
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
