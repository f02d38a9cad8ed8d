"""`gateway doctor`."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any, Final

import click
import httpx2
import msgspec
from msgspec import UNSET, Struct

from gateway.amounts import amount
from gateway.app import Gateway
from gateway.app.calling import local_call
from gateway.auth.keys import ADMINISTRATOR, BOOTSTRAP_FILE
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.project.staging import read_pins
from gateway.backends.mock.documents import made_arguments
from gateway.catalogue import Catalogue, Entry
from gateway.cli.authoring.generate import compare_generated, stale_finding
from gateway.cli.local import NO_ADMINISTRATOR, open_apart
from gateway.cli.options import FLAGS, json_option, project_folder, settings_of, settings_options
from gateway.cli.output import print_json
from gateway.cli.problems import FINDINGS, OK, Diagnosis, note, parted, plain, refused, sound, wrong
from gateway.cli.project import check_contracts, open_project
from gateway.clock import SystemClock
from gateway.contract.operation import Effect
from gateway.contract.refusals import with_sentence
from gateway.contract.rows.entity import shapes_of
from gateway.contract.rows.rows import Shape
from gateway.contract.slots import filling_all
from gateway.contract.upstream import Upstream
from gateway.contract.values.hidden import visible_text
from gateway.contract.webhook import WebhookSource
from gateway.errors import (
    AddressInUse,
    GatewayError,
    OperatorError,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.installed import install_command, missing_libraries
from gateway.settings import Settings, SourceSettings, each_wrong, unknown_variables
from gateway.settings.webhooks import challenge_name
from gateway.signatures.scheme import MIN_KEY_BYTES
from gateway.store.sql.engine import check_file, has_tables, open_store
from gateway.store.sql.sqlite import sqlite_caveat
from gateway.store.sql.store import SqlStore
from gateway.transports.connections.listen import bind
from gateway.workspace import Workspace

_NOT_FOUND: Final = 404
_MOST_TRIED: Final = 20
"""How many imported reads are looked at for arguments that can be made."""


class Trial(Struct, frozen=True):
    """One call."""

    entry: Entry
    arguments: dict[str, Any]
    is_made: bool = False
    """Whether the arguments are made, and may name nothing."""


def connect(settings: Settings, catalogue: Catalogue) -> Iterator[Diagnosis]:
    """Call each live upstream with an example of a read-only tool.

    Imported documents have no examples: their arguments are made, so an upstream that refuses them
    as its document describes has answered. The gateway's state is kept in memory, and neither its
    database nor its data folder is used.
    """
    chosen = _chosen(settings, catalogue)
    for name, trial in chosen.items():
        if trial is None:
            yield note(f"connect {name}", "not called: it has no read-only tool")
    planned = {name: trial for name, trial in chosen.items() if trial is not None}
    if not planned:
        if not chosen:
            yield note("connect", "no upstream is live")
        return
    try:
        yield from asyncio.run(_call_each(settings, catalogue, planned))
    except OperatorError as error:
        yield refused("connect", error)


def _chosen(settings: Settings, catalogue: Catalogue) -> dict[str, Trial | None]:
    """The call to make, or None, by live upstream."""
    found = {each.name: settings.for_upstream(each) for each in catalogue.upstreams.values()}
    live = [name for name, each in found.items() if each.backend == "live" and not each.problem]
    reads = [each for each in catalogue.entries if each.operation.effect is Effect.READ]
    return {
        name: _trial(catalogue, [e for e in reads if e.operation.upstream == name]) for name in live
    }


def _trial(catalogue: Catalogue, reads: Collection[Entry]) -> Trial | None:
    """A call with the first example, or of the imported reads that need the fewest arguments."""
    for entry in reads:
        for arguments in catalogue.examples(entry).values() if not entry.operation.asks else ():
            return Trial(entry, arguments)
    imported = [each for each in reads if each.operation.is_imported]
    imported.sort(key=lambda each: len(each.listing.input_schema.get("required", ())))
    for entry in imported[:_MOST_TRIED]:
        for arguments in made_arguments(entry):
            return Trial(entry, arguments, is_made=True)
    return None


async def _call_each(
    settings: Settings, catalogue: Catalogue, planned: dict[str, Trial]
) -> list[Diagnosis]:
    tools = {trial.entry.id for trial in planned.values()}
    async with open_apart(settings, catalogue, tools) as gateway:
        return [await _call(gateway, name, trial) for name, trial in planned.items()]


async def _call(gateway: Gateway, name: str, trial: Trial) -> Diagnosis:
    part, tool = f"connect {name}", trial.entry.id
    pipeline = gateway.local_pipeline(ADMINISTRATOR)
    try:
        result = await pipeline.invoke(local_call(tool, trial.arguments))
    except UpstreamRefusedCredentials as error:
        fix = f"renew the credentials of {name}; `gateway config` names their settings"
        return wrong(part, f"{tool}: {_said(error)}", fix)
    except UpstreamNotSetUp as error:
        return wrong(part, f"{tool}: {_said(error)}", f"do what it says, for {name}")
    except (UpstreamTimeout, UpstreamUnavailable) as error:
        fix = f"check the URL of {name} in `gateway config`, and the network"
        return wrong(part, f"{tool}: {_said(error)}", fix)
    except GatewayError as error:
        return _refused_call(part, trial, error)
    if result.fallbacks:
        fix = f"check the URL of {name} in `gateway config`, and the network"
        return wrong(part, f"{tool} answered without it: {' '.join(result.fallbacks)}", fix)
    return sound(part, f"{tool} answered")


def _refused_call(part: str, trial: Trial, error: GatewayError) -> Diagnosis:
    """What a refusal tells. Only that the arguments name nothing shows that the API is there."""
    tool = trial.entry.id
    if isinstance(error, ToolFailed) and error.status == _NOT_FOUND and not trial.is_made:
        return sound(part, f"{tool} answered: {error.reason}")
    if trial.is_made and isinstance(error, ToolFailed | UpstreamRejected):
        answer = error.answer
        if answer is not None and answer.is_declared:
            return sound(part, f"{tool} answered: {_said(error)}")
        if answer is not None and answer.body is not UNSET:
            finding = f"{tool}: {_said(error)} The document describes no such answer"
            return note(part, finding, "see whether it is the answer of the API")
        return wrong(part, f"{tool}: {_said(error)}", "check the URL: this is no answer of an API")
    arguments = quote(msgspec.json.encode(trial.arguments).decode())
    fix = f"try `gateway call {tool} --json {arguments}`"
    return wrong(part, f"{tool}: {_said(error)}", fix)


def _said(error: GatewayError) -> str:
    """The error, and what the upstream says about it."""
    return visible_text(with_sentence(error.detail, error.answer))[0]


_TICK_SECONDS: Final = 5.0
_MEGABYTE: Final = 1_000_000

Report = Callable[[str], None]
"""A function that receives a line about the progress."""


async def examine_database(settings: Settings, report: Report) -> tuple[str, int]:
    """The location of the database, without password, and the number of keys in it.

    Changes nothing. Reads the whole SQLite file, and reports its progress every five seconds.
    Raises `StoreError` for a database that cannot be opened or read, and for a corrupt file.
    """
    store = await open_store(settings.database, settings.package, is_upgraded=False)
    try:
        async with _reporting(store, report):
            await check_file(store)
        # Without tables there are no keys yet. The next start creates both.
        return store.label, len(await store.keys.list()) if await has_tables(store) else 0
    finally:
        await store.close()


@asynccontextmanager
async def _reporting(store: SqlStore, report: Report) -> AsyncIterator[None]:
    file = store.database.engines.file
    size = f" of {file.path.stat().st_size // _MEGABYTE} MB" if file is not None else ""

    async def tick() -> None:
        seconds = 0.0
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            seconds += _TICK_SECONDS
            report(f"reading {store.label}{size}: {seconds:.0f} s so far")

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()


def examine_sources(settings: Settings, catalogue: Catalogue) -> Iterator[Diagnosis]:
    """Which profiles are open, and what is wrong or weak in their settings."""
    try:
        settings.for_webhooks(catalogue.sources)
        settings.proxies()
    except OperatorError as error:
        yield refused("webhooks", error)
    for source in catalogue.sources:
        found = settings.for_webhook(source)
        part = f"webhooks of {source.provider}"
        if found.problem is not None:
            yield wrong(part, *parted(found.problem))
        elif found.secrets:
            yield sound(part, f"open: {', '.join(found.secrets)}")
            yield from _short_secrets(part, source, found)
            yield from _refused_questions(part, source, found)
        else:
            yield note(part, "no secret is set", "see `gateway config` for the setting of each")


def _short_secrets(part: str, source: WebhookSource, found: SourceSettings) -> Iterator[Diagnosis]:
    for profile in source.profiles:
        keys = [
            profile.authentication.key_of(secret.reveal())
            for secret in found.secrets.get(profile.name, ())
        ]
        if any(len(key) < MIN_KEY_BYTES for key in keys):
            what = f"a secret of {profile.name} has fewer than {MIN_KEY_BYTES} bytes"
            yield note(part, what, "use a longer one, if the sender lets you choose it")


def _refused_questions(
    part: str, source: WebhookSource, found: SourceSettings
) -> Iterator[Diagnosis]:
    for profile in source.profiles:
        asks = profile.challenge is not None and profile.challenge.secret is not None
        if asks and profile.name in found.secrets and profile.name not in found.challenge_secrets:
            variable = challenge_name(source.provider, profile.name).variable
            what = f"{profile.name} has no secret for the question whether the address is yours"
            yield note(part, what, f"set {variable}, the text that it presents")


def empty_slots(upstream: Upstream, given: Collection[str]) -> Iterator[Diagnosis]:
    """A note for each set of alternatives of which none is filled by the credentials `given`."""
    filled = {slot.name for slot in upstream.slots if slot.way_of(given)}
    refused: dict[tuple[tuple[str, ...], ...], int] = {}
    for operation in upstream.operations:
        if operation.slots and not any(filled.issuperset(names) for names in operation.slots):
            refused[operation.slots] = refused.get(operation.slots, 0) + 1
    for alternatives, count in refused.items():
        tools = "1 tool has" if count == 1 else f"{count} tools have"
        finding = f"{tools} no credentials, and cannot be called"
        yield note(f"upstream {upstream.name}", finding, f"set {_fix(upstream, alternatives)}")


def _fix(upstream: Upstream, alternatives: Collection[tuple[str, ...]]) -> str:
    slots = {slot.name: slot for slot in upstream.slots}
    choices = ([slots[name] for name in names if name in slots] for names in alternatives)
    return ", or ".join(filling_all(upstream.name, each) for each in choices)


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


_COLOURS: Final = {"ok": "green", "note": "yellow", "error": "red"}


@click.command(epilog="Example: gateway doctor --config /etc/gateway.toml")
@settings_options(*FLAGS)
@click.option(
    "--connect", is_flag=True, help="Call each live upstream once, with a read-only tool."
)
@json_option
def command(*, connect: bool, as_json: bool, **flags: Any) -> int:
    """Report what is misconfigured and how to fix it. Exit code 1 if there is an error.

    Checks everything that `gateway serve` needs, and starts nothing. Only --connect calls other
    systems.
    """
    diagnoses = list(examine(flags, os.environ, is_connecting=connect))
    if as_json:
        print_json(diagnoses)
    else:
        for diagnosis in diagnoses:
            _print(diagnosis)
    return FINDINGS if any(each.verdict == "error" for each in diagnoses) else OK


def _print(diagnosis: Diagnosis) -> None:
    verdict = click.style(f"{diagnosis.verdict:6}", fg=_COLOURS[diagnosis.verdict])
    click.echo(f"{verdict} {plain(f'{diagnosis.part}: {diagnosis.finding}')}")
    if diagnosis.fix:
        click.echo(plain(f"       fix: {diagnosis.fix}"))
