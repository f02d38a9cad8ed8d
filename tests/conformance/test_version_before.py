"""A database of the version before is upgraded by a start, with what is in it."""

from functools import partial
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from gateway.app import Gateway
from gateway.settings import read_settings
from gateway.store.migrations.upgrade import migration_config
from gateway.store.sql.engine import open_store
from tests.work import job, message, put

KEY = "key-of-the-version-before-0123456789"


def newest() -> tuple[str, str]:
    """The newest revision, and the one before it."""
    script = ScriptDirectory.from_config(migration_config())
    head = script.get_current_head()
    assert head is not None
    before = script.get_revision(head).down_revision
    assert isinstance(before, str)
    return head, before


def back(revision: str, connection: Connection) -> None:
    command.downgrade(migration_config(connection), revision)


async def test_what_it_holds_is_there_after_a_start(shared_url: str, tmp_path: Path) -> None:
    settings = read_settings(
        {"GATEWAY_BOOTSTRAP_KEY": KEY}, None, {"data": tmp_path, "database_url": shared_url}
    )
    async with Gateway.open(settings) as gateway:
        await gateway.call("example.greet", {"name": "Ada"})
        keys = await gateway.parts.keys.list()
    store = await open_store(shared_url)
    [webhook] = await put(store, message())
    async with store.database.engines.writer.begin() as connection:
        await connection.run_sync(partial(back, newest()[1]))
    await store.close()

    async with Gateway.open(settings) as gateway:
        assert await gateway.call("example.greet", {"name": "Ada"}) == {"greeting": "Hello, Ada!"}
        parts = gateway.parts
        assert await parts.keys.list() == keys
        assert (await job(parts.store, webhook)).state == "pending"
        await parts.audit.flush()
        calls = [each.operation for each in await parts.store.audit.latest(10)]
    assert calls.count("example.greet") == 2
