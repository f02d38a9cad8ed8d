"""`gateway keys create`, `list` and `revoke`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import click

from gateway.audit.facts import OperatorRequest, printable
from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.keys import ADMINISTRATOR, Keys, NewKey
from gateway.auth.principal import LOCAL_SUBJECT, Principal
from gateway.cli.options import OPENING, WholeGroup, json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, seen
from gateway.cli.problems import plain
from gateway.cli.project import check_project, open_project
from gateway.clock import SystemClock
from gateway.contract.fields.conversion import rfc3339
from gateway.errors import UnknownPath
from gateway.settings import Settings
from gateway.store.protocols import AgentKey
from gateway.store.sql.engine import open_store
from gateway.store.sql.sqlite import SQLITE_PREFIXES, sqlite_path
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import classify


def _readable(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("is not text in UTF-8") from None
    return text


@click.group(
    cls=WholeGroup,
    name="keys",
    epilog="Example: gateway keys create flight_search --label laptop",
)
def command() -> None:
    """Create, list and revoke the keys of agents."""


@command.command("create", epilog="Example: gateway keys create flight_search --label laptop")
@click.argument("agent")
@click.option("--label", default="", callback=_readable, help="Purpose of the key; shown in lists.")
@settings_options(*OPENING)
@json_option
def create(*, agent: str, label: str, as_json: bool, **flags: Any) -> None:
    """Create a key for AGENT and print it once. Only its digest is stored."""
    settings = settings_of(flags)
    with seen("key"):
        pass
    new = asyncio.run(_create(settings, agent, label))
    with seen("key", lambda: _revoked(settings, new)):
        if as_json:
            print_json({"id": new.record.id, "agent": agent, "label": label, "key": new.key})
            return
        click.echo(new.key)
    click.echo(f"{new.record.id} for {agent}. Keep the key: it is not shown again.", err=True)


@command.command("list", epilog="Example: gateway keys list --json")
@settings_options(*OPENING)
@json_option
def list_keys(*, as_json: bool, **flags: Any) -> None:
    """List all keys, including revoked ones. The secrets themselves are not stored."""
    keys = asyncio.run(_list(settings_of(flags)))
    if as_json:
        print_json([_described(key) for key in keys])
    else:
        columns = ("id", "agent", "label", "created_at", "revoked_at")
        print_table(
            columns, ([str(_described(key)[name] or "") for name in columns] for key in keys)
        )


@command.command("revoke", epilog="Example: gateway keys revoke key_0f9a8b7c6d5e")
@click.argument("key_id")
@settings_options(*OPENING)
def revoke(*, key_id: str, **flags: Any) -> None:
    """Revoke the key with this id. A running gateway refuses it within five seconds."""
    asyncio.run(_revoke(settings_of(flags), key_id))
    click.echo(f"{key_id} is revoked")


@asynccontextmanager
async def _open_keys(settings: Settings) -> AsyncIterator[tuple[Keys, AuditLog]]:
    agents = open_project(settings).grants
    clock = SystemClock()
    store = await open_store(settings.database, settings.package)
    audit = AuditLog(store.audit, clock, classify)
    try:
        yield Keys(store.keys, clock, agents), audit
    finally:
        await audit.close()
        await store.close()


@asynccontextmanager
async def _changing(
    settings: Settings, verb: str, facts: dict[str, str]
) -> AsyncIterator[tuple[Keys, OpenRecord]]:
    """The keys, for one change. The change is recorded before it, and its outcome after it."""
    request = OperatorRequest(request_id=new_request_id(), operation_id=f"operator.keys.{verb}")
    async with _open_keys(settings) as (keys, audit), audit.open(request) as record:
        record.principal = Principal(subject=LOCAL_SUBJECT, agent=ADMINISTRATOR)
        record.facts = facts
        await record.begin()
        yield keys, record


async def _create(settings: Settings, agent: str, label: str) -> NewKey:
    facts = {"agent": printable(agent), "label": printable(label)}
    async with _changing(settings, "create", facts) as (keys, record):
        new = await keys.create(agent, label)
        record.facts = {**facts, "key_id": new.record.id}
        return new


def _revoked(settings: Settings, new: NewKey) -> str:
    """Revoke a key that nobody has seen."""
    asyncio.run(_revoke(settings, new.record.id))
    return f"{new.record.id} is revoked"


async def _list(settings: Settings) -> list[AgentKey]:
    check_project(settings)
    if settings.database.startswith(SQLITE_PREFIXES):
        file = sqlite_path(settings.database)
        if not file.exists():
            note = f"note: there is no database {file} yet; name the data folder with --data"
            click.echo(plain(note), err=True)
            return []
    async with _open_keys(settings) as (keys, _):
        return await keys.list()


async def _revoke(settings: Settings, key_id: str) -> None:
    async with _changing(settings, "revoke", {"key_id": printable(key_id)}) as (keys, _):
        if not await keys.revoke(key_id):
            raise UnknownPath(f"no active key has the id {key_id}; see `gateway keys list`")


def _described(key: AgentKey) -> dict[str, str | None]:
    return {
        "id": key.id,
        "agent": key.agent,
        "label": key.label,
        "created_at": rfc3339(key.created_at),
        "revoked_at": rfc3339(key.revoked_at) if key.revoked_at else None,
    }
