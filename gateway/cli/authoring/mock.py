"""`gateway mock`.

Reads an OpenAPI document without a project, for its mock.
"""

import asyncio
import socket
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click
import uvloop

from gateway.authoring.openapi.importing import GivenDocument, connector_name, given_document
from gateway.authoring.openapi.lowering.connector import lower_connector
from gateway.authoring.openapi.lowering.records import ImportFile, ImportReport
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import DocumentRefused, read_source
from gateway.backends.mock.application import MockApplication, MockOptions, open_mock
from gateway.backends.mock.backend import asgi_app
from gateway.backends.mock.faults import NotAFault, ScenarioStep, check_steps, parse_step
from gateway.backends.mock.webhooks import Listener, MockSender
from gateway.catalogue import Catalogue
from gateway.cli.authoring.findings import print_findings
from gateway.cli.options import settings_of, settings_options
from gateway.cli.output import announce
from gateway.cli.problems import FINDINGS, OK, plain_lines
from gateway.cli.project import known_upstream, open_project
from gateway.clock import SystemClock
from gateway.contract.imported import ImportedConnector
from gateway.contract.upstream import Upstream
from gateway.errors import ConfigurationError, ContractError
from gateway.settings import Settings
from gateway.settings.sources import backend_name
from gateway.settings.webhooks import secrets_name
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.listen import bind, serve_http, url_of
from gateway.transports.connections.queue import UNLIMITED

_UNNAMED: Final = "document"
_MAX_LISTED: Final = 20


def read_connector(path: Path) -> ImportedConnector:
    """The operations of the document at `path`. Those that cannot be read are listed on stderr.

    Raises `ConfigurationError` if there is no such document, and `DocumentRefused`.
    """
    if not path.exists():
        raise ConfigurationError(f"there is no file {path}; name an OpenAPI document or its folder")
    given = given_document(read_source(path), path.resolve().name)
    wishes = ImportFile(document=given.name, sha256=given.sha256, source=given.origin)
    outcome = lower_connector(normalise(given.source), _name(given), wishes)
    if not outcome.connector.operations:
        raise ConfigurationError(f"{path} has no operations that can be mocked")
    _warn(outcome.report)
    return outcome.connector


def _name(given: GivenDocument) -> str:
    try:
        return connector_name(given, None)
    except ContractError:
        return _UNNAMED


def _warn(report: ImportReport) -> None:
    for each in report.refused[:_MAX_LISTED]:
        text = f"not mocked: {each.operation}: {each.finding.message}"
        click.echo(plain_lines(text), err=True)
    more = len(report.refused) - _MAX_LISTED
    if more > 0:
        click.echo(f"not mocked: {more} more operations", err=True)


def _read_steps(
    _context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[ScenarioStep, ...]:
    try:
        return tuple(parse_step(text) for text in texts)
    except NotAFault as error:
        raise click.BadParameter(str(error)) from None


def _check_steps(steps: tuple[ScenarioStep, ...], mocked: Upstream | ImportedConnector) -> None:
    """Raise `BadParameter` for a fault that could never happen."""
    if isinstance(mocked, Upstream):
        names, limit = {each.id for each in mocked.operations}, mocked.rate
    else:
        of_document = mocked.callable_operations
        names = {name for each in of_document for name in (each.id, each.tool)}
        limit = None
    try:
        check_steps(steps, names, limit.remaining if limit else None)
    except NotAFault as error:
        raise click.BadParameter(str(error), param_hint="'--fault'") from None


def _read_url(_context: click.Context, _parameter: click.Parameter, url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    if not is_web:
        raise click.BadParameter("must be a URL such as http://127.0.0.1:8700/webhooks/avinode")
    return url


@click.command(epilog="Example: gateway mock avinode --port 9100 --fault 'createRfq 2 status=503'")
@click.argument("upstream")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port; 0 selects any free port.  [default: 0]",
)
@click.option(
    "--fault",
    "scenario",
    callback=_read_steps,
    multiple=True,
    metavar="'OPERATION CALLS FAULT'",
    help="Fail the next CALLS calls of an operation (`*`: any), such as `* 3 status=503` or "
    "`readRfq 1 latency=2s`. Can be repeated. See also the header Mock-Fault.",
)
@click.option(
    "--webhooks-to",
    "listener_url",
    callback=_read_url,
    metavar="URL",
    help="Send each change to this URL, signed with the secret of the upstream's webhook, such as "
    "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS, until it is accepted.",
)
@click.option(
    "--state",
    "state_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the state in this file across restarts.  [default: in memory]",
)
@settings_options("package", "seed", "mock_speed", "mock_time", "mock_latency_seconds")
def command(
    *,
    upstream: str,
    host: str,
    port: int,
    scenario: tuple[ScenarioStep, ...],
    listener_url: str | None,
    state_file: Path | None,
    **flags: Any,
) -> int:
    """Serve the mock of UPSTREAM over HTTP, for the live backend.

    UPSTREAM is the name of an upstream, or an OpenAPI document such as openapi.json, which needs no
    project. Prints `ready URL` when it can serve. The mock accepts any credentials that are not
    empty, and only access tokens that it has issued.
    """
    settings = settings_of(flags)
    try:
        mocked, listener = _mocked(settings, upstream, listener_url)
    except DocumentRefused as refused:
        print_findings(refused.findings, Path(upstream).parent, "text")
        return FINDINGS
    _check_steps(scenario, mocked)
    bound = bind(host, port)
    options = MockOptions(
        seed=str(settings.seed),
        speed=settings.mock_speed,
        latency_seconds=settings.mock_latency_seconds,
        base_url=url_of(bound),
    )
    clock = SystemClock()
    application = open_mock(
        mocked,
        clock,
        file=state_file,
        start=settings.mock_time,
        options=options,
        scenario=scenario,
    )
    sender = MockSender(application, listener, clock) if listener else None
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(application, bound, sender))
    return OK


async def _serve(
    application: MockApplication, bound: socket.socket, sender: MockSender | None
) -> None:
    ready = partial(announce, url_of(bound))
    async with asyncio.TaskGroup() as tasks:
        sending = None if sender is None else tasks.create_task(sender.run())
        # A vendor's paths may look like calls. They are not refused: the mock has no such errors.
        limits = ConnectionLimits(queue=UNLIMITED)
        await serve_http(asgi_app(application), bound, ready, limits=limits)
        if sending is not None:
            sending.cancel()


def _listener(catalogue: Catalogue, settings: Settings, provider: str, url: str) -> Listener:
    """The receiver, with the first profile that has a secret. Raises `ConfigurationError`."""
    contract = catalogue.webhooks.get(provider)
    if contract is None:
        raise ConfigurationError(f"{provider} sends no webhooks; remove --webhooks-to")
    source = contract.source
    found = settings.for_webhook(source)
    if found.problem is not None:
        raise ConfigurationError(found.problem)
    for profile in source.profiles:
        if profile.name in found.secrets:
            secret = found.secrets[profile.name][0].reveal()
            return Listener(url=url, source=source, profile=profile, secret=secret)
    name = secrets_name(provider, source.profiles[0].name).variable
    raise ConfigurationError(f"{provider} cannot sign; set {name} to the listener's secret")


def _mocked(
    settings: Settings, name: str, listener_url: str | None
) -> tuple[Upstream | ImportedConnector, Listener | None]:
    """What is mocked, and the receiver of its webhooks.

    A name with a dot or a slash is a document. Raises `ConfigurationError` and `DocumentRefused`.
    """
    if Path(name).name != name or "." in name:
        if listener_url is not None:
            raise ConfigurationError("a document's mock sends no webhooks; remove --webhooks-to")
        return read_connector(Path(name)), None
    catalogue = open_project(settings)
    mocked = _upstream(catalogue, name)
    listener = None
    if listener_url is not None:
        listener = _listener(catalogue, settings, name, listener_url)
    imported = catalogue.imported.get(name)
    return mocked if imported is None else imported.whole(), listener


def _upstream(catalogue: Catalogue, name: str) -> Upstream:
    """The upstream with this name. Raises `ConfigurationError`."""
    upstream = catalogue.upstreams[known_upstream(catalogue, name)]
    if upstream.has_workspace and upstream.mock is None:
        raise ConfigurationError(
            f"{name} has no mock over HTTP, because tables of the gateway replace it; "
            f"serve with {backend_name(name).variable}=mock or workspace"
        )
    return upstream
