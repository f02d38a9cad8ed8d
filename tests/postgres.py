"""A PostgreSQL server for tests: what GATEWAY_TEST_POSTGRES names, Docker's, or a local one."""

import asyncio
import importlib
import os
import shutil
import subprocess
from functools import cache
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

VARIABLE = "GATEWAY_TEST_POSTGRES"
LOCAL = "postgresql://postgres@127.0.0.1:5432/postgres"
IMAGE = "postgres:17-alpine"

_EMPTYING = """
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend';
    do $$ declare own text; begin
        for own in select nspname from pg_namespace where nspname !~ '^pg_|^information_schema$'
        loop execute format('drop schema %I cascade', own); end loop;
        execute format('alter database %I reset all', current_database());
    end $$;
    create schema public;
"""


@cache
def server_url() -> str:
    """A server on which databases may be made. Skips the test where there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    contained = _container() if _docker_answers() else None
    if contained:
        return contained
    if asyncio.run(_answers(LOCAL)):
        return LOCAL
    pytest.skip(
        f"no PostgreSQL: set {VARIABLE} to the URL of a server, start Docker, or start a server on "
        "127.0.0.1:5432 that trusts the user postgres"
    )


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
    await run(url, _EMPTYING)


async def run(url: str, script: str) -> None:
    """Run one or more statements."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(script)
    finally:
        await connection.close()


def _docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=20)
    return asked.returncode == 0


def _container() -> str | None:
    """Removed by testcontainers when the tests end. None where the image is not to be had."""
    # Loaded only where Docker answers.
    containers = importlib.import_module("testcontainers.postgres")
    failed = importlib.import_module("docker.errors").DockerException
    try:
        return containers.PostgresContainer(IMAGE).start().get_connection_url(driver=None)
    except failed:
        return None


async def _answers(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=2)
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True
