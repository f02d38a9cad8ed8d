"""Compiles a binding to a Python module under `generated/bindings/`."""

from msgspec.structs import replace

from gateway.authoring.contracts.names import camel
from gateway.authoring.mapping.fields.check import meaning_problems
from gateway.authoring.mapping.fields.emit import (
    EmitContext,
    emit,
    emit_members,
    emit_pairs,
    emit_path,
    emit_path_arguments,
    parameters,
)
from gateway.authoring.mapping.fields.nodes import (
    BindingSource,
    DocumentCall,
    HandlerMap,
    HttpMap,
    Value,
)
from gateway.authoring.mapping.fields.parse import parse
from gateway.authoring.mapping.fields.pycode import Module, literal
from gateway.authoring.mapping.fields.scope import Scope, sources_of
from gateway.authoring.mapping.fields.walk import parameters_of, settings_of
from gateway.contract.schemas.algebra import Schema
from gateway.contract.upstream import Upstream, UpstreamOperation
from gateway.errors import ContractError


def compile_binding(binding: BindingSource) -> str:
    """The text of the module that defines `BINDING`. The caller must format it.

    Raises `ContractError` with the first problem of the binding.
    """
    written, problems = parse(binding.x_binding)
    found = [*problems] if written is None else meaning_problems(binding, written)
    if found:
        first = found[0]
        raise ContractError(
            f"{binding.tool_id}: x-binding{first.pointer}: {first.message}; {first.fix}"
        )
    match written, binding.upstream:
        case HandlerMap(), _:
            return _handler_module(binding, written)
        case DocumentCall(), _:
            return _call_module(binding, written)
        case HttpMap(), Upstream() as upstream:
            return _http_module(binding, written, upstream)
        case _:
            raise ContractError(f"{binding.tool_id}: the upstream of its binding is not known")


def _handler_module(binding: BindingSource, handler: HandlerMap) -> str:
    connector, _, tool = binding.tool_id.partition(".")
    module = Module()
    models = f"{binding.package}.models.{connector}.{tool}"
    arguments = module.use(models, f"{camel(tool)}Input")
    run = module.use(handler.module, handler.function)
    convert = module.use("gateway.contract.handler", "returned_file" if binding.is_file else "dump")
    answer = "dict[str, Any]"
    if binding.is_file:
        answer = module.use("gateway.contract.values.files", "FileContent")
    python_binding = module.use("gateway.contract.operation", "PythonBinding")
    model = f"{module.use('gateway.contract.handler', 'take')}({arguments}, arguments)"
    given = f"{model}, context" if handler.takes_context else model
    text = f"{convert}(await {run}({given}))"
    module.define("run", ("arguments", "context"), answer, [text], is_async=True)
    used = f", upstreams={literal(handler.upstreams)}" if handler.upstreams else ""
    used += f", asks={literal(handler.asks)}" if handler.asks else ""
    if handler.takes_context and not (handler.upstreams or handler.asks):
        used = ", has_context=True"
    return module.text(
        f"The binding of {binding.tool_id}.",
        f"Calls are answered by `{handler.module}:{handler.function}`.",
        f"{python_binding}(run=run{used})",
    )


def _call_module(binding: BindingSource, written: DocumentCall) -> str:
    module = Module()
    named = {status: each.reason for status, each in written.errors.items()}
    exact = {int(status): reason for status, reason in named.items() if status.isdigit()}
    every = dict.fromkeys(range(400, 500), named["4XX"]) if "4XX" in named else {}
    parts = {
        "upstream": literal(written.upstream),
        "operation": literal(written.operation),
        "errors": literal(every | exact),
    }
    text = ", ".join(f"{name}={value}" for name, value in parts.items())
    return module.text(
        f"The binding of {binding.tool_id}.",
        f"Calls are those of the operation `{written.operation}` of the import {written.upstream}.",
        f"{module.use('gateway.contract.operation', 'ImportedBinding')}({text})",
    )


def _http_module(binding: BindingSource, written: HttpMap, upstream: Upstream) -> str:
    module = Module()
    text = _binding(written, binding, upstream, module)
    operation = _operation(written, upstream)
    return module.text(
        f"The binding of {binding.tool_id}.",
        f"Requests go to `{operation.method} {operation.path}` of {upstream.name}.",
        text,
    )


def _binding(
    written: HttpMap, binding: BindingSource, upstream: Upstream, module: Module, prefix: str = ""
) -> str:
    """The expression of the `HttpBinding` of `written`. Its functions are added to `module`."""
    operation = _operation(written, upstream)
    scope = Scope(inputs=binding.input_schema, settings=settings_of(upstream))
    context = EmitContext(module=module, scope=scope, target={})
    arguments = {
        "upstream": literal(upstream.name),
        "upstream_operation": literal(operation.id),
        "request": _request(written, operation, context, prefix),
        "results": _results(
            written, operation, replace(context, target=binding.output_schema), prefix
        ),
        "errors": _errors(written, replace(context, target=binding.output_schema), prefix),
    }
    if written.fallback is not None:
        arguments["fallback_on"] = literal(written.fallback.fallback_on)
        arguments["fallback_writes"] = "True" if written.fallback.is_write else ""
        arguments["fallback"] = _binding(
            written.fallback, binding, upstream, module, prefix="fallback_"
        )
    text = ", ".join(f"{name}={value}" for name, value in arguments.items() if value)
    return f"{module.use('gateway.contract.operation', 'HttpBinding')}({text})"


def _request(
    written: HttpMap, operation: UpstreamOperation, context: EmitContext, prefix: str
) -> str:
    parts = {
        "operation": literal(operation.id),
        "method": literal(operation.method),
        "path": emit_path(written.path, operation, context),
    }
    if arguments := emit_path_arguments(written.path, operation):
        parts["path_arguments"] = arguments
    for argument, kind, group in (
        ("query", "query", written.query),
        ("headers", "header", written.header),
    ):
        if group.values:
            parts[argument] = emit_pairs(group, parameters_of(operation, kind), kind, context)
    if written.body is not None:
        schema = operation.request_schema or {}
        parts["body"] = emit_members(written.body, replace(context, target=schema))
    request = context.module.use("gateway.contract.upstream", "UpstreamRequest")
    text = ", ".join(f"{name}={value}" for name, value in parts.items())
    name = context.module.free([f"{prefix}request"], prefix="_")
    context.module.define(name, ("arguments", "call"), request, [f"{request}({text})"])
    return name


def _results(
    written: HttpMap, operation: UpstreamOperation, context: EmitContext, prefix: str
) -> str:
    texts = (
        f"{literal(status)}: {_result(status, members, operation.replies[status], context, prefix)}"
        for status, members in written.results.items()
    )
    return "{" + ", ".join(texts) + "}"


def _result(
    status: str, members: Value, body: Schema | None, context: EmitContext, prefix: str
) -> str:
    """Define the function that maps replies with `status`. Returns its name."""
    scope = replace(context.scope, body=body, is_reply=True)
    text = emit(members, replace(context, scope=scope))
    name = context.module.free([f"{prefix}result_{status.lower()}"], prefix="_")
    reads_body = "body" in parameters(sources_of(members))
    statements = ["body = reply.body", text] if reads_body else [text]
    context.module.define(name, ("arguments", "call", "reply"), "dict[str, Any]", statements)
    return name


def _errors(written: HttpMap, context: EmitContext, prefix: str) -> str:
    """The expression of the error rules by status or code. Empty if there are none."""
    texts = []
    for status, meaning in written.errors.items():
        rule = context.module.use("gateway.contract.operation", "ErrorRule")
        says = f"reason={literal(meaning.reason)}"
        if meaning.result is not None:
            says = f"result={_result(status, meaning.result, None, context, prefix)}"
        texts.append(f"{literal(status)}: {rule}({says})")
    return "{" + ", ".join(texts) + "}" if texts else ""


def _operation(written: HttpMap, upstream: Upstream) -> UpstreamOperation:
    """The upstream operation of a checked binding. Raises `ContractError` if there is none."""
    found = upstream.find(written.operation)
    if found is None:
        raise ContractError(f"{upstream.name} has no operation {written.operation!r}")
    return found
