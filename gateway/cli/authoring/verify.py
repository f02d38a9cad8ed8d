"""`gateway verify`."""

import asyncio
import json
import sys
import tempfile
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import click
import httpx
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
)
from msgspec import Struct
from rich.text import Text

from gateway.amounts import amount
from gateway.catalogue import Catalogue
from gateway.cli.doctor.diagnosis import parted
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.freshness import compare_generated, stale_finding
from gateway.cli.known import known_connector
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.plain import plain
from gateway.cli.project import open_project
from gateway.cli.verification.imported import imported_plan
from gateway.cli.verification.plan import Step, steps
from gateway.cli.verification.serving import PROCESS, Gateways
from gateway.cli.verification.world import KEY, LOG, SILENT_SECONDS, TransportFailed, World
from gateway.contract.operation import ImportedBinding
from gateway.contract.values.pointers import NoSuchPlace, child, follow
from gateway.contracts.finding import ContractRefused
from gateway.errors import ConfigurationError
from gateway.settings import Settings

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
_JSON: Final = {"accept": "application/json"}
"""The bytes of a file are then a member of the result, as `_bytes_in` returns them."""
_DATA: Final = "data"
_UNDER_WAY: Final = "JOB_UNDER_WAY"
_LOOK_SECONDS: Final = 0.05
"""The time between two looks at a job."""

UNREACHABLE: Final = (MCPError, httpx.HTTPError, httpx2.HTTPError, OSError, ValueError)
"""The errors of clients when a transport breaks its protocol."""


class CallRefused(Exception):
    """A call returned no result. The text has the response."""


Ask = Callable[[Step], Awaitable[dict[str, Any]]]
"""One call over a transport. Raises `CallRefused`."""
OpenTransport = Callable[[Gateways], AbstractAsyncContextManager[Ask]]


@asynccontextmanager
async def rest(gateways: Gateways) -> AsyncIterator[Ask]:
    """`POST /v1/<connector>/<tool>`."""
    async with (
        gateways.serving() as url,
        httpx.AsyncClient(
            base_url=url, headers=_headers() | _JSON, timeout=SILENT_SECONDS, trust_env=False
        ) as http,
    ):

        async def ask(step: Step) -> dict[str, Any]:
            reply = await http.post(step.entry.operation.route, json=step.arguments)
            if reply.status_code == 202:
                reply = await _outcome(http, reply.headers["location"])
            body: dict[str, Any] = reply.json()
            if reply.status_code != 200:
                raise CallRefused(f"{reply.status_code} {body.get('code')}: {body.get('detail')}")
            return body

        yield ask


async def _outcome(http: httpx.AsyncClient, job: str) -> httpx.Response:
    """What the call would have been answered, had it not become this job."""
    while True:
        reply = await http.get(f"{job}/result")
        if reply.status_code != 409 or reply.json().get("code") != _UNDER_WAY:
            return reply
        await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def mcp_modern(gateways: Gateways) -> AsyncIterator[Ask]:
    """Streamable HTTP, without a handshake."""
    async with gateways.serving() as url, _over_http(url, MODERN, MODERN) as ask:
        yield ask


@asynccontextmanager
async def mcp_handshake(gateways: Gateways) -> AsyncIterator[Ask]:
    """Streamable HTTP, after `initialize`."""
    async with gateways.serving() as url, _over_http(url, "legacy", HANDSHAKE) as ask:
        yield ask


@asynccontextmanager
async def stdio(gateways: Gateways) -> AsyncIterator[Ask]:
    """`gateway mcp`, on the pipes of a child process."""
    world = gateways.world
    data = world.folder / "stdio"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", PROCESS, "mcp", str(data)],
        env=world.environment(),
        cwd=world.folder,
    )
    with data.with_suffix(LOG).open("w", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log), mode=MODERN) as client:
            yield _asking(client)


TRANSPORTS: Final[Mapping[str, OpenTransport]] = {
    "REST": rest,
    f"MCP {MODERN}": mcp_modern,
    f"MCP {HANDSHAKE}": mcp_handshake,
    "stdio": stdio,
}


@asynccontextmanager
async def _over_http(url: str, mode: str, version: str) -> AsyncIterator[Ask]:
    async with httpx2.AsyncClient(
        headers=_headers(), timeout=SILENT_SECONDS, trust_env=False
    ) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            if client.protocol_version != version:
                raise TransportFailed(f"spoke {client.protocol_version} instead of {version}")
            yield _asking(client)


def _asking(client: Client) -> Ask:
    async def ask(step: Step) -> dict[str, Any]:
        result = await client.call_tool(step.entry.tool.name, step.arguments)
        job = (result.structured_content or {}).get("job_id")
        if step.entry.operation.task != "never" and job is not None:
            result = await _result(client, str(job))
        text = getattr(result.content[0], "text", "") if result.content else ""
        if result.is_error:
            problem = json.loads(text)
            raise CallRefused(
                f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}"
            )
        if step.entry.operation.has_blocks:
            return {"content": [_as_json(each) for each in result.content]}
        member = step.entry.operation.text_member
        values = json.loads(text) if member is None else {member: text}
        if result.structured_content != values:
            raise CallRefused("the structured content differs from the text")
        return {**result.structured_content, **_bytes_in(result.content[1:])}

    return ask


async def _result(client: Client, job: str) -> CallToolResult:
    """The same over MCP."""
    while True:
        result = await client.call_tool("job_result", {"job_id": job})
        text = getattr(result.content[0], "text", "") if result.content else ""
        if not result.is_error or json.loads(text).get("code") != _UNDER_WAY:
            return result
        await asyncio.sleep(_LOOK_SECONDS)


def _as_json(block: ContentBlock) -> dict[str, Any]:
    return block.model_dump(mode="json", by_alias=True, exclude_none=True)


def _bytes_in(blocks: Iterable[ContentBlock]) -> dict[str, str]:
    """The bytes of a file as REST has them in JSON. Empty for other results."""
    for block in blocks:
        match block:
            case ImageContent(data=data) | AudioContent(data=data):
                return {_DATA: data}
            case EmbeddedResource(resource=BlobResourceContents(blob=data)):
                return {_DATA: data}
    return {}


def _headers() -> dict[str, str]:
    return {"authorization": f"Bearer {KEY}"}


VARYING: Final = "(varies)"


def varying(one: Any, other: Any, pointer: str = "") -> Iterator[str]:
    """Pointers to the strings and numbers that differ, and to values whose structure differs.

    The structure of a result must not vary: `is_leaf` distinguishes the two cases.
    """
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from varying(one[name], other[name], child(pointer, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from varying(left, right, child(pointer, index))
    elif type(one) is not type(other) or one != other:
        yield pointer


def is_leaf(value: Any) -> bool:
    """Whether a difference at this value does not change the structure of the result."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def masked(value: Any, pointers: frozenset[str], pointer: str = "") -> Any:
    """`value` with `VARYING` at each of `pointers`."""
    if pointer in pointers:
        return VARYING
    if isinstance(value, dict):
        return {n: masked(v, pointers, child(pointer, n)) for n, v in value.items()}
    if isinstance(value, list):
        return [masked(v, pointers, child(pointer, i)) for i, v in enumerate(value)]
    return value


REFERENCE: Final = "REST"
"""The transport with which the others are compared. It runs twice, to find values that vary."""

_NOTHING_THERE: Final = "The upstream answered 404"
"""The end of the refusal where a 404 of the upstream is not declared."""

Answer = dict[str, Any] | str
"""A result, or the reason why there is none."""
Report = Callable[[str], None]


class ToolReport(Struct, frozen=True, kw_only=True):
    """The outcome for one tool."""

    operation: str
    examples: int
    verified: Mapping[str, int]
    """By transport: the number of examples with a valid result, equal to the reference's."""
    failures: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    """Members that differ between runs, such as times. They are not compared between transports."""

    @property
    def is_verified(self) -> bool:
        return not self.failures


async def verify(
    catalogue: Catalogue,
    world: World,
    *,
    connector: str | None = None,
    more: Sequence[Step] = (),
    report: Report,
) -> list[ToolReport]:
    """Run all examples, and `more` calls, over all transports, on mocks.

    Raises `TransportFailed`.
    """
    plan = (*steps(catalogue, connector), *more)
    names = [*TRANSPORTS, REFERENCE]
    async with Gateways(world, report) as gateways:
        # One after the other: each has the machine to itself.
        answers = [await _pass(gateways, name, plan, report) for name in names]
    by_transport = dict(zip(TRANSPORTS, answers[:-1], strict=True))
    varies = [_varying(*pair) for pair in zip(by_transport[REFERENCE], answers[-1], strict=True)]
    # Over all examples of a tool: two runs can give one example the same millisecond.
    by_tool: dict[str, frozenset[str]] = {}
    for step, found in zip(plan, varies, strict=True):
        by_tool[step.entry.id] = by_tool.get(step.entry.id, frozenset()) | found
    checked = [
        _check(step, i, by_transport, answers[-1][i], by_tool[step.entry.id])
        for i, step in enumerate(plan)
    ]
    operations = dict.fromkeys(step.entry.id for step in plan)
    return [_tool_report(each, [j for j in checked if j.operation == each]) for each in operations]


async def _pass(
    gateways: Gateways, name: str, plan: Sequence[Step], report: Report
) -> list[Answer]:
    answers: list[Answer] = []
    failed: Exception | None = None
    try:
        async with TRANSPORTS[name](gateways) as ask:
            for step in plan:
                report(f"{name} {step.entry.id}")
                answers.append(await _answer(ask, step))
    except* (*UNREACHABLE, TransportFailed) as failures:
        failed = _first(failures)
    if isinstance(failed, TransportFailed):
        raise TransportFailed(f"{name}: {failed}")
    if failed is not None:
        # A step without a response ends the pass, because the connection is lost.
        what = f"{name}: {plan[len(answers)].entry.id}" if len(answers) < len(plan) else name
        raise TransportFailed(f"{what}: {type(failed).__name__}")
    return answers


def _first(failures: BaseExceptionGroup[Exception]) -> Exception:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _answer(ask: Ask, step: Step) -> Answer:
    try:
        return await ask(step)
    except CallRefused as refused:
        return str(refused)


class _ExampleReport(Struct, frozen=True, kw_only=True):
    """The outcome for one example."""

    operation: str
    verified: tuple[str, ...]
    failures: tuple[str, ...]
    varying: tuple[str, ...]


def _varying(reference: Answer, repeated: Answer) -> frozenset[str]:
    return frozenset(varying(reference, repeated)) if isinstance(reference, dict) else frozenset()


def _check(
    step: Step,
    index: int,
    by_transport: Mapping[str, Sequence[Answer]],
    repeated: Answer,
    varies: frozenset[str],
) -> _ExampleReport:
    reference = by_transport[REFERENCE][index]
    failures = [
        f"{step.example}: {place or '/'} is present in one run and missing in another"
        for place in sorted(_varying(reference, repeated))
        if not _is_leaf_at(reference, repeated, place)
    ]
    verified = []
    for transport, answers in by_transport.items():
        problem = _problem(step, answers[index], reference, varies)
        if problem is None:
            verified.append(transport)
        else:
            failures.append(f"{step.example} at {transport}: {problem}")
    return _ExampleReport(
        operation=step.entry.id,
        verified=tuple(verified),
        failures=tuple(failures),
        varying=tuple(sorted(varies)),
    )


def _problem(step: Step, answer: Answer, reference: Answer, varies: frozenset[str]) -> str | None:
    if isinstance(answer, str):
        return None if answer == reference and _is_expected(step, answer) else answer
    violations = step.entry.output.violations(answer)
    if violations:
        return f"{violations[0].pointer or '/'}: {violations[0].detail}"
    if masked(answer, varies) != masked(reference, varies):
        return f"differs from {REFERENCE}"
    return None


def _is_expected(step: Step, refusal: str) -> bool:
    """Whether an imported operation failed as its document says, or because nothing is there.

    Made arguments name things that the mock does not have, and many documents declare no 404.
    """
    status = refusal.partition(" ")[0]
    operation = step.entry.operation
    is_declared = status in {str(each.status) for each in operation.errors}
    is_missing = _NOTHING_THERE in refusal
    return isinstance(operation.binding, ImportedBinding) and (is_declared or is_missing)


def _is_leaf_at(one: Answer, other: Answer, pointer: str) -> bool:
    try:
        return is_leaf(follow(one, pointer)) and is_leaf(follow(other, pointer))
    except NoSuchPlace:
        return False


def _tool_report(operation: str, checked: Sequence[_ExampleReport]) -> ToolReport:
    return ToolReport(
        operation=operation,
        examples=len(checked),
        verified={
            transport: sum(transport in each.verified for each in checked)
            for transport in TRANSPORTS
        },
        failures=tuple(failure for each in checked for failure in each.failures),
        varying=tuple(dict.fromkeys(place for each in checked for place in each.varying)),
    )


_MANY_TOOLS: Final = 500
"""With more, the processes list five tools that find the others. All can be called by name."""


@click.command(epilog="Example: gateway verify --connectors --connector avinode")
@click.option(
    "--connectors",
    is_flag=True,
    help="Verify the tools of all connectors (default).",
)
@click.option("--connector", help="Only the tools of this connector.")
@settings_options("schemas", "package", "seed")
@json_option
def command(*, connectors: bool, connector: str | None, as_json: bool, **flags: Any) -> int:  # noqa: ARG001 - always true: there is nothing else to verify
    """Call every tool with its contract's examples over every transport, on mocks.

    Imported operations that read are called once each, with arguments made of their schemas, and
    may answer with a declared error or 404. Those that write are left out and counted.

    Calls the generated package, which must match the contracts. The transports are REST, both
    versions of MCP over HTTP, and stdio, each in its own process. Every result must be valid
    against the tool's output schema, and all transports must return the same. No real system is
    called. Exit code 1 if something fails.
    """
    settings = settings_of(flags)
    if stale := _stale(settings):
        click.echo(stale, err=True)
        return FINDINGS
    catalogue = open_project(settings)
    only = None if connector is None else known_connector(catalogue, connector)
    with (
        tempfile.TemporaryDirectory(prefix="gateway-verify-") as folder,
        progress("verify") as report,
    ):
        imported = imported_plan(catalogue, only, report)
        world = World(Path(folder), tuple(catalogue.upstreams), _served(settings, catalogue))
        calls = verify(catalogue, world, connector=only, more=imported.steps, report=report)
        try:
            reports = asyncio.run(calls)
        except TransportFailed as failed:
            output = world.last_words()
            for line in output:
                click.echo(plain(line), err=True)
            fix = "see its output above" if output else "see `gateway doctor`"
            raise ConfigurationError(f"{failed}; {fix}") from None
    if as_json:
        print_json(reports)
    else:
        _print(reports)
    for line in imported.lines():
        click.echo(line, err=True)
    return OK if all(report.is_verified for report in reports) else FINDINGS


def _served(settings: Settings, catalogue: Catalogue) -> dict[str, str]:
    """The settings that select what to serve, for processes that read no file and no flag."""
    # The official client lists all tools before its first call.
    listed = {"GATEWAY_LIST_MODE": "search"} if len(catalogue.entries) > _MANY_TOOLS else {}
    return {
        **listed,
        "GATEWAY_SCHEMAS": str(settings.schemas.absolute()),
        "GATEWAY_PACKAGE": settings.package,
        "GATEWAY_HANDLER_PACKAGES": ",".join(settings.handler_packages),
        "GATEWAY_SEED": str(settings.seed),
    }


def _stale(settings: Settings) -> str | None:
    """Why the package does not match the contracts; None if it does."""
    try:
        report = compare_generated(settings)
    except ContractRefused as error:
        number = len(error.findings)
        return f"error: {amount(number, 'finding')} in {settings.schemas}\nfix: see `gateway lint`"
    finding, fix = parted(stale_finding(settings, report))
    return f"error: {finding}\nfix: {fix}" if report.is_stale else None


def _print(reports: list[ToolReport]) -> None:
    print_table(("operation", *TRANSPORTS, "varies"), map(_row, reports))
    for report in reports:
        for failure in report.failures:
            click.echo(plain(f"error: {report.operation}: {failure}"))
    good = sum(report.is_verified for report in reports)
    calls = sum(sum(report.verified.values()) for report in reports)
    click.echo(
        f"{good} of {amount(len(reports), 'tool')} verified over {len(TRANSPORTS)} transports,"
        f" {amount(calls, 'call')}"
    )


def _row(report: ToolReport) -> tuple[str | Text, ...]:
    counts = (
        Text(f"{number}/{report.examples}", "green" if number == report.examples else "red")
        for number in report.verified.values()
    )
    return report.operation, *counts, ", ".join(report.varying)
