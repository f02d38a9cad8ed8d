"""The checks of `gateway doctor`, part by part."""

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click
import httpx2

from gateway.amounts import amount
from gateway.auth.keys import ADMINISTRATOR, BOOTSTRAP_FILE
from gateway.catalogue import Catalogue
from gateway.cli.doctor.connecting import connect
from gateway.cli.doctor.database import examine_database
from gateway.cli.doctor.diagnosis import Diagnosis, note, parted, refused, sound, wrong
from gateway.cli.doctor.slots import empty_slots
from gateway.cli.doctor.sources import examine_sources
from gateway.cli.freshness import compare_generated, stale_finding
from gateway.cli.local import NO_ADMINISTRATOR
from gateway.cli.options import project_folder, settings_of
from gateway.cli.plain import plain
from gateway.cli.project import check_contracts, open_project
from gateway.clock import SystemClock
from gateway.codegen.libraries import missing_libraries
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.views import shapes_of
from gateway.contract.upstream import Upstream
from gateway.contracts.finding import ContractRefused
from gateway.errors import AddressInUse, OperatorError
from gateway.installed import install_command
from gateway.project.pins import read_pins
from gateway.settings import Settings, each_wrong, unknown_variables
from gateway.store.sql.sqlite.file import sqlite_caveat
from gateway.transports.connections.listen import bind
from gateway.workspace.database import Workspace

_UNTRIED: Final = "the credentials were not tested; --connect tests them"
_PROBE_SECONDS: Final = 2.0
_OWNER: Final = "change its owner or permissions"
_ALIVE: Final = b'{"status":"alive"}'
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


def examine(
    flags: dict[str, Any], environ: Mapping[str, str], *, is_connecting: bool = False
) -> Iterator[Diagnosis]:
    """Every diagnosis, in order of dependency. With `is_connecting`, live upstreams are called."""
    yield sound("python", sys.version.split()[0])
    try:
        settings = settings_of(flags)
    except OperatorError as error:
        yield from (wrong("settings", *parted(each)) for each in each_wrong(error))
        return
    source = settings.sources.toml_path
    yield sound("settings", f"{len(settings.origins)} set; file: {source or 'none'}")
    try:
        check_contracts(settings)
    except OperatorError as error:
        yield refused("project", error)
        return
    for examine_part in _PARTS:
        yield from examine_part(settings)
    yield from _catalogue(settings, environ, is_connecting=is_connecting)


def _catalogue(
    settings: Settings, environ: Mapping[str, str], *, is_connecting: bool
) -> Iterator[Diagnosis]:
    try:
        catalogue = open_project(settings)
    except OperatorError as error:
        yield refused("catalogue", error)
        return
    yield sound(
        "catalogue", f"{amount(len(catalogue.entries), 'tool')} in package {settings.package}"
    )
    if ADMINISTRATOR not in catalogue.grants:
        yield wrong("policies", *parted(NO_ADMINISTRATOR))
    yield from _upstreams(settings, catalogue, is_connecting=is_connecting)
    yield from _mixtures(settings, catalogue)
    yield from examine_sources(settings, catalogue)
    unknown = unknown_variables(environ, catalogue.upstreams.values(), catalogue.sources)
    for name, fix in unknown.items():
        yield note("environment", f"nothing reads {name}", fix)
    if is_connecting:
        yield from connect(settings, catalogue)


def _upstreams(
    settings: Settings, catalogue: Catalogue, *, is_connecting: bool
) -> Iterator[Diagnosis]:
    try:
        settings.for_upstreams(catalogue.upstreams.values())
    except OperatorError as error:
        yield refused("upstreams", error)
    for upstream in catalogue.upstreams.values():
        found = settings.for_upstream(upstream)
        part = f"upstream {upstream.name}"
        if found.problems:
            yield from (wrong(part, *parted(each)) for each in found.problems)
        elif found.backend == "live":
            is_untried = bool(found.credentials) and not is_connecting
            finding = f"live at {found.base_url}, because {found.reason}"
            yield sound(part, f"{finding}; {_UNTRIED}" if is_untried else finding)
            yield from empty_slots(upstream, found.credentials)
        else:
            yield note(part, f"{found.backend}, because {found.reason}")
            if found.backend == "workspace":
                yield _workspace(settings, shapes_of(upstream.tables, catalogue.entities), upstream)


def _workspace(settings: Settings, shapes: Mapping[str, Shape], upstream: Upstream) -> Diagnosis:
    """Open it like `gateway serve`, but do not create a missing file."""
    part = f"workspace of {upstream.name}"
    path = Path(settings.workspace.partition(":///")[2])
    if settings.workspace.startswith("sqlite") and not path.is_file():
        return note(part, f"{path} will be created by the first call")
    try:
        return sound(part, f"{asyncio.run(_check(settings, shapes))} opens")
    except OperatorError as error:
        return refused(part, error)


async def _check(settings: Settings, shapes: Mapping[str, Shape]) -> str:
    workspace = Workspace(settings.workspace, shapes.values(), SystemClock())
    try:
        return await workspace.check()
    finally:
        await workspace.close()


def _mixtures(settings: Settings, catalogue: Catalogue) -> Iterator[Diagnosis]:
    """Tools whose results would mix live data with mock data."""
    upstreams = catalogue.upstreams
    backends = {name: settings.for_upstream(each).backend for name, each in upstreams.items()}
    for operation_id, mocked in catalogue.mixing(backends):
        finding = f"mixes live data with data of the mock of {' and '.join(mocked)}"
        fix = " ".join(f"GATEWAY_BACKEND_{name.upper()}=live" for name in mocked)
        yield note(f"tool {operation_id}", f"{finding}; each answer says so", fix)


def _contracts(settings: Settings) -> Iterator[Diagnosis]:
    """Whether the generated package matches the contracts, where it can be generated."""
    if missing := missing_libraries():
        finding = f"not compared with the generated code: {' and '.join(missing)} are not installed"
        yield note("contracts", finding, f"run `{install_command('author')}`")
        return
    try:
        report = compare_generated(settings)
    except ContractRefused as error:
        number = len(error.findings)
        yield wrong("contracts", f"findings in {settings.schemas}: {number}", "see `gateway lint`")
        return
    except OperatorError as error:
        yield refused("contracts", error)
        return
    if report.is_stale:
        yield wrong("contracts", *parted(stale_finding(settings, report)))
    else:
        yield sound(
            "contracts",
            f"{amount(report.files, 'generated file')} for {amount(report.tools, 'tool')}",
        )


def _library(settings: Settings) -> Iterator[Diagnosis]:
    """Whether the added connectors are from this version, whose handlers they use."""
    try:
        pins = read_pins(project_folder(settings))
    except OperatorError as error:
        yield refused("library", error)
        return
    installed = version("contract-gateway")
    for name, pinned in pins.connectors.items():
        if pinned != installed:
            finding = f"{name} is from version {pinned}, and its handlers are those of {installed}"
            yield note("library", finding, f"gateway add {name}")


def _data(settings: Settings) -> Iterator[Diagnosis]:
    folder = settings.data
    if not folder.exists():
        yield note("data", f"{folder} will be created by `gateway serve`")
        return
    if not folder.is_dir():
        yield wrong("data", f"{folder} is not a folder", "name another one with --data")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        fix = f"{_OWNER}, or name another folder with --data"
        yield wrong("data", f"{folder} cannot be read and written by this user", fix)
        return
    yield sound("data", str(folder))
    key = folder / BOOTSTRAP_FILE
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        fix = f"chmod 600 {key}, and revoke the key if others may have read it"
        yield wrong("data", f"others may read {key}", fix)


def _store(settings: Settings) -> Iterator[Diagnosis]:
    """Open the database for reading, without creating a missing file."""
    path = Path(settings.database.partition(":///")[2])
    is_file = settings.database.startswith("sqlite")
    caveat = sqlite_caveat() if is_file else None
    if caveat is not None:
        yield note("store", *parted(caveat))
    if is_file and not path.is_file():
        return
    if is_file and not _is_writable(path):
        finding = f"{path} cannot be read and written by this user"
        yield wrong("store", finding, f"{_OWNER}, and those of its folder")
        return
    try:
        place, number = asyncio.run(examine_database(settings, _report))
    except OperatorError as error:
        yield refused("store", error)
    else:
        yield sound("store", f"{place} opens; keys in it: {number}")


def _is_writable(path: Path) -> bool:
    """Whether SQLite can change the file, and create files next to it."""
    mode = os.R_OK | os.W_OK
    return os.access(path, mode) and os.access(path.parent, mode | os.X_OK)


def _report(line: str) -> None:
    click.echo(plain(line), err=True)


def _address(settings: Settings) -> Iterator[Diagnosis]:
    if settings.host in EVERYWHERE and "allowed_hosts" not in settings.origins:
        finding = (
            f"{settings.host} listens on all interfaces, but only this machine's names are allowed"
        )
        yield wrong("address", finding, "list the names that callers use in allowed_hosts")
    try:
        bind(settings.host, settings.port).close()
    except AddressInUse as error:
        if _is_gateway(settings):
            yield note("address", f"a gateway already serves at {settings.host}:{settings.port}")
        else:
            yield note("address", *parted(error.detail))
    except OperatorError as error:
        yield note("address", *parted(error.detail))
    else:
        yield sound("address", f"{settings.host}:{settings.port} is free")


def _is_gateway(settings: Settings) -> bool:
    """Whether a gateway listens at the configured address. The probe needs no key."""
    host = "127.0.0.1" if settings.host in EVERYWHERE else settings.host
    shown = f"[{host}]" if ":" in host else host
    try:
        with httpx2.Client(timeout=_PROBE_SECONDS, trust_env=False) as client:
            reply = client.get(f"http://{shown}:{settings.port}/healthz")
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return False
    return reply.status_code == 200 and reply.content == _ALIVE


_PARTS: Final[tuple[Callable[[Settings], Iterator[Diagnosis]], ...]] = (
    _address,
    _data,
    _store,
    _contracts,
    _library,
)
