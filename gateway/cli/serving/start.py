"""What `gateway serve` says when it is ready: a screen for people, a log record for programs."""

import logging
import sys
from typing import Final

import click
from msgspec import Struct

from gateway.app import VERSION
from gateway.auth.keys import BOOTSTRAP_FILE
from gateway.catalogue import Catalogue
from gateway.cli.plain import plain
from gateway.settings import Settings

_log: Final = logging.getLogger(__name__)
_MOST_NAMED: Final = 8


class Start(Struct, frozen=True, kw_only=True):
    """What is served, without the catalogue itself: that ends with the first reload."""

    tools: int
    connectors: int
    mocks: tuple[str, ...]
    """The upstreams for which a mock answers."""


def start_of(settings: Settings, catalogue: Catalogue) -> Start:
    """What a gateway of these settings serves."""
    backends = {name: settings.for_upstream(each) for name, each in catalogue.upstreams.items()}
    return Start(
        tools=len(catalogue.entries),
        connectors=len({each.operation.connector for each in catalogue.entries}),
        mocks=tuple(sorted(n for n, found in backends.items() if found.backend == "mock")),
    )


def is_on_screen(settings: Settings) -> bool:
    """Whether a person reads standard error, and asked for no log records there."""
    return sys.stderr.isatty() and settings.log_format != "json"


def keep_for_start(settings: Settings) -> None:
    """On a screen, show nothing but warnings before the start, unless a level is set."""
    if is_on_screen(settings) and "log_level" not in settings.origins:
        logging.getLogger().setLevel(logging.WARNING)


def report_start(start: Start, settings: Settings, url: str) -> None:
    """Say what is served at `url`, and which upstreams are mocks."""
    if not is_on_screen(settings):
        _log.info(
            "serving %s",
            url,
            extra={"fields": {"tools": start.tools, "mocks": list(start.mocks)}},
        )
        return
    for line in _screen(start, settings, url):
        click.echo(plain(line), err=True)
    logging.getLogger().setLevel(settings.log_level.upper())


def _screen(start: Start, settings: Settings, url: str) -> list[str]:
    tools = "1 tool" if start.tools == 1 else f"{start.tools} tools"
    connectors = "1 connector" if start.connectors == 1 else f"{start.connectors} connectors"
    return [
        f"contract-gateway {VERSION} serves {tools} of {connectors}",
        f"  MCP    {url}/mcp",
        f"  REST   {url}/v1, described at {url}/docs",
        f"  key    {_key(settings)}",
        f"  mocks  {_mocks(start.mocks)}",
        "  stop   Ctrl-C",
    ]


def _key(settings: Settings) -> str:
    place = settings.data / BOOTSTRAP_FILE
    if settings.bootstrap_key is not None:
        return f"the administrator's is set by {settings.origins.get('bootstrap_key', 'a setting')}"
    if place.is_file():
        return f"the administrator's is in {place}"
    return "`gateway keys create AGENT` makes one"


def _mocks(names: tuple[str, ...]) -> str:
    if not names:
        return "none: every upstream is called"
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{shown}{more}; `gateway doctor` says why"
