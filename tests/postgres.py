"""A PostgreSQL server for tests: what GATEWAY_TEST_POSTGRES names, a local one, or Docker's."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest
from msgspec import Struct

from tests.containers import postgres_url
from tests.eventually import PATIENCE_SECONDS

VARIABLE: Final = "GATEWAY_TEST_POSTGRES"
LOCAL: Final = "postgresql://postgres@127.0.0.1:5432/postgres"
_ADVICE: Final = (
    f"set {VARIABLE} to the URL of a server, start one on 127.0.0.1:5432 that trusts the user "
    "postgres, or start Docker"
)

_ALONE = """
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend';
"""
_WITHOUT_TABLES = """
    do $$ declare own text; begin
        for own in select nspname from pg_namespace where nspname !~ '^pg_|^information_schema$'
        loop execute format('drop schema %I cascade', own); end loop;
        execute format('alter database %I reset all', current_database());
    end $$;
    create schema public;
"""
_WITHOUT_ROWS = """
    do $$ declare own record; has_rows boolean; begin
        for own in select format('%I', tablename) as name from pg_tables
            where schemaname = 'public' and tablename <> all('{kept}')
        loop
            execute format('select exists (select from %s)', own.name) into has_rows;
            if has_rows then execute format('delete from %s', own.name); end if;
        end loop;
        for own in select format('public.%I', sequencename) as name, start_value from pg_sequences
            where schemaname = 'public' and last_value is not null
        loop perform setval(own.name::regclass, own.start_value, false); end loop;
    end $$;
"""
_WITH_ROWS = """
    select tablename from pg_tables where schemaname = 'public'
    and query_to_xml(format('select from public.%I limit 1', tablename), true, false, '')::text
        like '%<row%'
"""
_SHAPE = """
    select md5(concat_ws(E'\\n',
        (select string_agg(concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid), ','
            order by c.relname, a.attname)
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
            left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
            where n.nspname !~ '^pg_|^information_schema$'),
        (select count(*) from pg_namespace),
        (select count(*) from pg_proc where pronamespace = 'public'::regnamespace),
        (select count(*) from pg_event_trigger),
        (select count(*) from pg_trigger),
        (select count(*) from pg_constraint),
        (select string_agg(s.setconfig::text, ',') from pg_db_role_setting s
            join pg_database d on d.oid = s.setdatabase where d.datname = current_database()),
        (select string_agg(tablename || query_to_xml(format('select * from public.%I', tablename),
            true, false, '')::text, ',' order by tablename)
            from pg_tables where schemaname = 'public' and tablename = any($1::text[]))
    ))
"""


def server_url() -> str:
    """A server on which databases may be made. Skips the test where there is none.

    The test fails if the variable names a server that cannot be used.
    """
    url, problem = _server()
    if url is not None:
        return url
    if os.environ.get(VARIABLE):
        pytest.fail(f"{VARIABLE}: {problem}; {_ADVICE}", pytrace=False)
    pytest.skip(f"no PostgreSQL ({problem}): {_ADVICE}")


@cache
def _server() -> tuple[str | None, str]:
    """A server, or None and one line that says why there is none."""
    named = os.environ.get(VARIABLE)
    problem = asyncio.run(_problem_of(named or LOCAL))
    if problem is None:
        return named or LOCAL, ""
    return (None if named else postgres_url()), problem


async def create_database(server: str) -> str:
    """The URL of its own database, to be dropped by `drop_database`."""
    name = f"gateway_test_{uuid4().hex[:12]}"
    await run(server, f'create database "{name}"')
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


async def drop_database(server: str, url: str) -> None:
    """Drop it, also while clients are connected."""
    await run(server, f'drop database "{urlsplit(url).path[1:]}" with (force)')


async def empty_database(url: str) -> None:
    """Make it as `create_database` returned it, also while clients are connected.

    Several times as fast as another database, for which the server writes a thousand files.
    """
    await run(url, _ALONE + _WITHOUT_TABLES)


async def run(url: str, script: str) -> None:
    """Run one or more statements."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(script)
    finally:
        await connection.close()


class _Prepared(Struct, frozen=True):
    url: str
    kept: list[str]
    """The tables that had rows before any test."""
    shape: str


class PreparedDatabases:
    """Databases by what was made in them. Each is made once, and has no rows when it is asked for.

    Deleting rows takes some milliseconds. Migrations take fifty times as long, and so does a copy
    of a database, for which the server waits for the disk.
    """

    def __init__(self) -> None:
        self._made: dict[str, _Prepared] = {}

    def url(self, kind: str, prepare: Callable[[str], Awaitable[None]] | None = None) -> str:
        """The database of this kind. `prepare` makes its tables, and again after a test that
        changed them. Without it, the database has no tables."""
        return asyncio.run(self._url(server_url(), kind, prepare))

    def close(self) -> None:
        """Drop them all."""
        for each in self._made.values():
            asyncio.run(drop_database(server_url(), each.url))
        self._made.clear()

    async def _url(
        self, server: str, kind: str, prepare: Callable[[str], Awaitable[None]] | None
    ) -> str:
        known = self._made.get(kind)
        if known and prepare and await _without_rows(known):
            return known.url
        url = known.url if known else await create_database(server)
        # Dropped at the end, also if preparing it fails.
        self._made[kind] = _Prepared(url, [], "")
        if known:
            await empty_database(url)
        if prepare:
            await prepare(url)
            self._made[kind] = await _as_prepared(url)
        return url


async def _without_rows(known: _Prepared) -> bool:
    """Remove what tests wrote. False if a test changed the tables too."""
    connection = await asyncpg.connect(known.url)
    kept = "{" + ",".join(known.kept) + "}"
    try:
        await connection.execute(_ALONE)
        if await connection.fetchval(_SHAPE, known.kept) != known.shape:
            return False
        await connection.execute(_WITHOUT_ROWS.replace("{kept}", kept))
    finally:
        await connection.close()
    return True


async def _as_prepared(url: str) -> _Prepared:
    connection = await asyncpg.connect(url)
    try:
        kept = [row["tablename"] for row in await connection.fetch(_WITH_ROWS)]
        return _Prepared(url, kept, await connection.fetchval(_SHAPE, kept))
    finally:
        await connection.close()


async def _problem_of(url: str) -> str | None:
    """Why databases cannot be made at `url`, in one line without a password; None if they can."""
    place = f"the server at {urlsplit(url).netloc.rpartition('@')[2]}"
    try:
        connection = await asyncpg.connect(url, timeout=PATIENCE_SECONDS)
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        return f"{place} refuses: {reason}"
    try:
        may = "select rolcreatedb or rolsuper from pg_roles where rolname = current_user"
        if await connection.fetchval(may):
            return None
        return f"{place} does not let this user create databases"
    finally:
        await connection.close()
