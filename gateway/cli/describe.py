"""`gateway describe card`, `server-json` and `bundle`."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from gateway.app import VERSION
from gateway.catalogue import Catalogue
from gateway.cli.options import WholeGroup, settings_of, settings_options
from gateway.cli.output import print_json
from gateway.cli.problems import FINDINGS, OK
from gateway.cli.project import known_connector, open_project
from gateway.errors import ConfigurationError
from gateway.publication.servers import (
    SUFFIX,
    PublishedBundle,
    PublishedServer,
    Wheel,
    bundle,
    published_server,
    server_card,
    server_json,
)
from gateway.transports.mcp.protocol import VERSIONS

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_EXISTING: Final = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group(
    cls=WholeGroup,
    name="describe",
    epilog="Example: gateway describe server-json --public-url https://gateway.example.com",
)
def command() -> None:
    """Describe an MCP server of the gateway to registries, hosts and clients.

    What they say comes from the contracts: `info`, `tags` and `x-server` of openapi.yaml.
    """


def _shared(function: _Command) -> _Command:
    """The options of all three commands."""
    for decorate in (
        settings_options("public_url", "package"),
        click.option("--check", is_flag=True, help="Write nothing; exit 1 if --out differs."),
        click.option("--connector", help="Describe the server of one connector.  [default: all]"),
    ):
        function = decorate(function)
    return function


@command.command("card", epilog="Example: gateway describe card --connector gmail")
@click.option("--out", type=_FILE, help="Write it to this file, not to standard output.")
@_shared
def card(*, connector: str | None, out: Path | None, check: bool, **flags: Any) -> int:
    """Print the server card, which the gateway serves at /mcp/server-card too."""
    _, published = _published(connector, flags)
    return _write_json(server_card(published, VERSIONS), out, check=check)


@command.command(
    "server-json",
    epilog="Example: gateway describe server-json --public-url https://gateway.example.com",
)
@click.option("--bundle", "packed", type=_EXISTING, help="A bundle that is offered too.")
@click.option("--bundle-url", help="Where --bundle can be downloaded.")
@click.option("--out", type=_FILE, help="Write it to this file, not to standard output.")
@_shared
def registry(
    *,
    connector: str | None,
    packed: Path | None,
    bundle_url: str | None,
    out: Path | None,
    check: bool,
    **flags: Any,
) -> int:
    """Print the entry for the MCP registry (server.json, schema of 2025-12-11)."""
    if (packed is None) != (bundle_url is None):
        raise click.UsageError("--bundle and --bundle-url are given together")
    catalogue, published = _published(connector, flags)
    offered = None
    if packed is not None and bundle_url is not None:
        digest = hashlib.sha256(packed.read_bytes()).hexdigest()
        offered = PublishedBundle(url=bundle_url, sha256=digest)
    entry = server_json(published, catalogue.servers.namespace, offered)
    return _write_json(entry, out, check=check)


@command.command("bundle", epilog="Example: gateway describe bundle --out gateway.mcpb")
@click.option("--wheel", type=_EXISTING, help="Wheel of the gateway to pack; else uv fetches it.")
@click.option("--out", type=_FILE, help="The file.  [default: <name>-<version>.mcpb]")
@_shared
def packed_bundle(
    *, connector: str | None, wheel: Path | None, out: Path | None, check: bool, **flags: Any
) -> int:
    """Write an MCP bundle (MCPB), with which hosts install the bridge to the gateway.

    It holds no key: the host asks for one. It needs uv on the machine of the host.
    """
    _, published = _published(connector, flags)
    content = None if wheel is None else Wheel(wheel.name, wheel.read_bytes())
    file = out or Path(f"{published.server.name}-{published.version}{SUFFIX}")
    return _write(bundle(published, content), file, check=check)


def _published(connector: str | None, flags: dict[str, Any]) -> tuple[Catalogue, PublishedServer]:
    settings = settings_of(flags)
    catalogue = open_project(settings)
    if connector is not None:
        known_connector(catalogue, connector)
    return catalogue, published_server(catalogue.servers, connector, VERSION, settings.public_url)


def _write_json(value: dict[str, Any], out: Path | None, *, check: bool) -> int:
    if out is None:
        if check:
            raise click.UsageError("--check needs --out, the file that it compares")
        print_json(value)
        return OK
    text = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    return _write(text, out, check=check)


def _write(content: bytes, file: Path, *, check: bool) -> int:
    try:
        found = file.read_bytes() if file.exists() else None
        if check:
            if found == content:
                return OK
            click.echo(f"stale: {file}", err=True)
            return FINDINGS
        if found != content:
            file.write_bytes(content)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be used: {error.strerror}") from error
    click.echo(f"{file}: {len(content)} bytes", err=True)
    return OK
