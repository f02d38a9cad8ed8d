"""`gateway mock`."""

import asyncio
from functools import partial
from typing import Any

import click
import uvloop

from gateway.backends.faults import NotAFault, ScenarioStep, parse_step
from gateway.backends.upstream_app import UpstreamApplication
from gateway.backends.upstream_asgi import asgi_app
from gateway.catalogue import Catalogue, open_catalogue
from gateway.cli.known import known_upstream
from gateway.cli.options import settings_of, settings_options
from gateway.cli.output import announce
from gateway.clock import FastClock, SystemClock
from gateway.contract.upstream import Upstream
from gateway.errors import ConfigurationError
from gateway.settings.sources import backend_name
from gateway.transports.listen import bind, serve_http, url_of


def _read_steps(
    _context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[ScenarioStep, ...]:
    try:
        return tuple(parse_step(text) for text in texts)
    except NotAFault as error:
        raise click.BadParameter(str(error)) from None


@click.command(epilog="Example: gateway mock avinode --port 9100 --fault 'createRfq 2 status=503'")
@click.argument("upstream")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port; 0 takes any free one.  [default: 0]",
)
@click.option(
    "--fault",
    "scenario",
    callback=_read_steps,
    multiple=True,
    metavar="'OPERATION CALLS FAULT'",
    help="Fail that many calls of an operation (`*`: of any), such as `* 3 status=503` or "
    "`readRfq 1 latency=2s`. May be repeated; see also the header Mock-Fault.",
)
@settings_options("package", "seed", "mock_speed", "mock_time", "mock_latency_seconds")
def command(
    *, upstream: str, host: str, port: int, scenario: tuple[ScenarioStep, ...], **flags: Any
) -> None:
    """Serve the mock of UPSTREAM over HTTP, as the live backend would meet it.

    Prints `ready URL` when it can serve. The mock takes any credentials that are not empty, and
    only the access tokens that it has issued.
    """
    settings = settings_of(flags)
    application = UpstreamApplication(
        _mocked(open_catalogue(settings.package), upstream),
        FastClock(SystemClock(), settings.mock_speed, settings.mock_time),
        seed=str(settings.seed),
        latency_seconds=settings.mock_latency_seconds,
        scenario=scenario,
    )
    listener = bind(host, port)
    ready = partial(announce, url_of(listener))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_http(asgi_app(application), listener, ready))


def _mocked(catalogue: Catalogue, name: str) -> Upstream:
    """The upstream of this name. Raises `ConfigurationError`."""
    upstream = catalogue.upstreams[known_upstream(catalogue, name)]
    if upstream.has_workspace:
        raise ConfigurationError(
            f"{name} has no mock over HTTP, as tables of the gateway stand in for it; "
            f"serve with {backend_name(name).variable}=mock or workspace"
        )
    return upstream
