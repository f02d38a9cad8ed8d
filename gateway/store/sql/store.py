"""The store in a database: all aggregates over one set of connections."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final
from uuid import uuid4

from sqlalchemy import (
    Table,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import WorkPolicy
from gateway.store.sql.audit import SqlAudit, SqlKeys
from gateway.store.sql.database import Database
from gateway.store.sql.endpoints import SqlEndpoints
from gateway.store.sql.engines import failures
from gateway.store.sql.entities import SqlEntities
from gateway.store.sql.events import SqlEventLog
from gateway.store.sql.queue import SqlQueue, Target
from gateway.store.sql.statements import insert_into
from gateway.store.sql.subscriptions import SqlSubscriptions
from gateway.store.sql.tasks import SqlKeyedCalls, SqlTasks
from gateway.store.sql.usage import SqlUsage
from gateway.store.sql.webhooks import SqlInbox
from gateway.store.tables import STORE_NAMES

MAX_RECORDS: Final = 100_000
"""How many audit records a database in memory keeps. The oldest are removed."""
_OWN: Final = "store"


class SqlStore:
    """A `Store` in a database. Made by `open_store`."""

    def __init__(
        self,
        database: Database,
        tables: Mapping[str, Table],
        policy: WorkPolicy,
        prepare: Callable[[], Awaitable[None]],
    ) -> None:
        self.database = database
        self.tables = tables
        """The tables of the entities, by kind."""
        self._prepare = prepare
        self._name: str | None = None
        self.audit = SqlAudit(database, None if database.is_persistent else MAX_RECORDS)
        self.keys = SqlKeys(database)
        self.keyed_calls = SqlKeyedCalls(database)
        self.usage = SqlUsage(database)
        self.inbox = SqlInbox(database, policy)
        self.tasks = SqlTasks(database, policy)
        self.queue = SqlQueue(database, Target(tables, policy))
        self.events = SqlEventLog(database, policy)
        self.endpoints = SqlEndpoints(database)
        self.subscriptions = SqlSubscriptions(database)
        self.entities = SqlEntities(database, tables)

    @property
    def label(self) -> str:
        """The name of the database in messages. It never contains a password."""
        return self.database.engines.label

    async def upgrade(self) -> None:
        """Migrate the tables to the current revision. Raises `StoreError`."""
        async with failures(self.label):
            await self._prepare()
        await self.database.begin()

    async def name(self) -> str:
        """A name that no other store has: it is made once, and stays. Raises `StoreError`."""
        if self._name is None:

            async def find(connection: AsyncConnection, _: datetime) -> str:
                made = insert_into(connection.dialect.name, STORE_NAMES).values(
                    kind=_OWN, name=uuid4().hex
                )
                await connection.execute(made.on_conflict_do_nothing())
                query = select(STORE_NAMES.c.name).where(STORE_NAMES.c.kind == _OWN)
                return str((await connection.execute(query)).scalar_one())

            self._name = await self.database.write(find)
        return self._name

    @property
    def problem(self) -> str | None:
        return self.database.problem

    @property
    def is_damaged(self) -> bool:
        return self.database.is_damaged

    def forget_statements(self) -> None:
        self.database.forget_statements()

    async def close(self) -> None:
        """Wait for running requests, and close all connections."""
        await self.usage.close()
        await self.database.close()
