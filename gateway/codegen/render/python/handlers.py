"""Renders `handlers.json`: the Python code that the contracts name, with the place of each name."""

from collections.abc import Iterator

from gateway.codegen.ir import Contracts, ToolContract, WebhookContract
from gateway.codegen.render.artifact import Artifact, document
from gateway.contract.connector import NamedCode
from gateway.contract.offered.resource import RESOURCES, HandlerContents
from gateway.contract.values.pointers import child
from gateway.mapping.events.functions import functions as event_functions
from gateway.mapping.fields.language.nodes import HandlerMap
from gateway.mapping.fields.language.parse import parse
from gateway.mapping.fields.python.functions import functions


def handlers_json(contracts: Contracts) -> Artifact:
    """`handlers.json`. The catalogue checks it before it imports the code."""
    named = [each for tool in contracts.tools for each in _of_tool(tool)]
    named += [each for webhook in contracts.webhooks for each in _of_webhook(webhook)]
    named += [
        NamedCode(
            use="mock",
            module=each.upstream.mock,
            path=str(each.source.path),
            pointer="/x-upstream/mock",
        )
        for each in contracts.upstreams
        if each.upstream.mock
    ]
    named += _of_resources(contracts)
    return document("handlers.json", named)


def _of_tool(tool: ToolContract) -> Iterator[NamedCode]:
    written, _ = parse(tool.x_binding)
    for pointer, module, function in functions(written) if written else ():
        yield NamedCode(
            use="tool" if isinstance(written, HandlerMap) else "mapping",
            module=module,
            function=function,
            path=str(tool.source.path),
            pointer=f"/post/x-binding{pointer}",
        )


def _of_webhook(webhook: WebhookContract) -> Iterator[NamedCode]:
    for name, rules in webhook.x_webhook["events"].items():
        for pointer, module, function in event_functions(rules):
            yield NamedCode(
                use="mapping",
                module=module,
                function=function,
                path=str(webhook.source.path),
                pointer=child("/post/x-webhook/events", name) + pointer,
            )


def _of_resources(contracts: Contracts) -> Iterator[NamedCode]:
    for each in contracts.offered.resources:
        if isinstance(each.contents, HandlerContents):
            yield NamedCode(
                use="resource",
                module=each.contents.module,
                function=each.contents.function,
                path=f"{RESOURCES}/{each.connector}/{each.name}.yaml",
                pointer="/contents/python",
            )
