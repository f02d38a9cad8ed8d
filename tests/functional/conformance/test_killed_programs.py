"""A program that is killed on the way: what it was about to do is done by the next one, once."""

import asyncio
import os
import signal
import sys

import pytest

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.events.endpoints import EndpointRegistry
from gateway.store.records import NewEvent, Page
from gateway.store.sql.engine import open_store
from tests.delivering import HERE, QUICK, delivering
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.postgres import PreparedDatabases
from tests.receivers import is_signed, receiver
from tests.unit.events.shelf import KEYRING
from tests.work import message, put

QUOTE = "gateway.quote.received.v1"
EVENT = NewEvent(id="e-1", type=QUOTE, subject="s", source="/webhooks/a", data={})
OPENING = "import asyncio; from gateway.store.sql.engine import open_store"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared_url(request, tmp_path):
    """An empty database that several programs can open."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/gateway.db"
        return
    databases = PreparedDatabases()
    yield databases.url("fresh")
    databases.close()


@pytest.mark.parametrize(("point", "sent_before"), [("before_send", 0), ("after_send", 1)])
async def test_a_killed_worker_loses_no_delivery_and_repeats_it_under_its_id(
    tmp_path, point, sent_before
):
    url = f"sqlite:///{tmp_path}/gateway.db"
    from_here = {"GATEWAY_FAILPOINT": f"events.{point}", "GATEWAY_FAILPOINT_LOG": f"{tmp_path}/log"}
    store = await open_store(url)
    sender = Outbound(HERE.refusal)
    book = EndpointRegistry(store.endpoints, KEYRING, sender, SystemClock(), {QUOTE: {}})
    async with receiver() as (port, got):
        new = await book.add(f"http://127.0.0.1:{port}/")
        await store.events.append([EVENT])
        await sender.close()
        await store.close()
        program = (sys.executable, "-m", "tests.delivering", url)
        killed = await asyncio.create_subprocess_exec(
            *program, str(PATIENCE_SECONDS), env=os.environ | from_here
        )
        assert await asyncio.wait_for(killed.wait(), PATIENCE_SECONDS) == -signal.SIGKILL
        assert (tmp_path / "log").read_text() == f"events.{point}\n"
        assert len(got) == sent_before
        store = await open_store(url)
        async with delivering(store, policy=QUICK):

            async def _delivered():
                [each] = await store.endpoints.deliveries(new.endpoint.id, Page())
                return each.job.state == "completed" or None

            await eventually(_delivered)
        await store.close()
    assert len(got) == sent_before + 1
    assert len({each.headers["webhook-id"] for each in got}) == 1
    assert all(is_signed(each, new.secret) for each in got)


async def test_a_migration_that_is_killed_before_its_end_has_not_begun(shared_url) -> None:
    """R2: the process dies with everything done but the commit."""
    program = f"{OPENING}; asyncio.run(open_store({shared_url!r}))"
    environment = {**os.environ, "GATEWAY_FAILPOINT": "migration.before_commit"}
    python = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    assert await python.wait() == -9

    store = await open_store(shared_url)

    assert len(await put(store, message(1))) == 1
    await store.close()
