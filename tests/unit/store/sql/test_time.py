"""The store's time goes on when the machine's clock is set back."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from gateway.ids import uuid7
from gateway.store.records import Changes, Failure
from gateway.store.sql.database import LATEST, StoreTime
from gateway.store.sql.engine import open_store
from tests.clocks import NOW, ManualClock
from tests.conformance.every_statement import record
from tests.work import claim, message, put

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def set_back(clock: ManualClock, by: timedelta) -> None:
    """Only what it shows: another clock shows how much time passes."""
    clock.moment -= by


def test_a_step_back_is_bridged_and_reported(clock) -> None:
    time = StoreTime(clock)
    assert time.problem is None
    clock.advance(10)
    before = time.now()

    set_back(clock, HOUR)
    clock.advance(20)

    assert time.now() == before + timedelta(seconds=20)
    assert time.problem == "The clock of this machine is 3600 s behind the database: set it."


def test_the_clock_is_followed_again_when_it_has_caught_up(clock) -> None:
    time = StoreTime(clock)
    time.now()
    set_back(clock, HOUR)
    time.now()

    clock.moment += 2 * HOUR

    assert time.now() == clock.moment
    assert time.problem is None


def test_the_correction_of_a_clock_that_was_far_ahead_is_followed_and_logged(clock, caplog) -> None:
    """It is no problem any more: the clock is right now."""
    time = StoreTime(clock)
    clock.moment += timedelta(days=3650)
    time.now()

    clock.moment = NOW

    assert time.now() == NOW
    assert time.problem is None
    assert "3650 days behind the database" in caplog.text
    assert time.is_corrected


def test_a_start_does_not_go_on_from_a_time_that_is_far_ahead(clock) -> None:
    time = StoreTime(clock)
    time.begin_after(NOW + timedelta(days=200))
    assert (time.now(), time.problem, time.is_corrected) == (NOW, None, True)


def test_a_start_goes_on_from_what_is_stored(clock) -> None:
    time = StoreTime(clock)
    time.begin_after(None)
    time.begin_after(NOW - HOUR)
    assert (time.now(), time.problem) == (NOW, None)

    time.begin_after(NOW + HOUR)

    assert time.now() == NOW + HOUR
    assert "is 3600 s behind the database" in time.problem


async def test_leases_end_in_time_after_a_crash_and_a_clock_that_was_set_back(
    tmp_path, clock
) -> None:
    url = f"sqlite:///{tmp_path}/gateway.db"
    store = await open_store(url, clock=clock)
    await put(store, message(1), message(2))
    clock.advance(60)
    [claimed] = await claim(store)
    await store.close()
    set_back(clock, HOUR)

    again = await open_store(url, clock=clock)

    assert "behind the database" in again.problem
    assert len(await claim(again, 5)) == 1, "what waits is due, as it was before"
    clock.advance(31)
    assert (await again.queue.sweep(10, 0.0, lambda _job: Changes()))[0] == 2
    assert claimed.job.id in {each.job.id for each in await claim(again, 5)}
    await again.close()


async def test_a_call_that_began_after_the_clock_was_set_back_is_not_cut_off(
    tmp_path, clock
) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db", clock=clock)
    set_back(clock, HOUR)
    begun = replace(record("PENDING"), id=uuid7(clock.now()))
    await store.audit.append([begun])

    assert await store.audit.cut_off(900, 10) == []
    clock.advance(901)
    assert await store.audit.cut_off(900, 10) == [begun.id]
    await store.close()


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_work_goes_on_after_a_clock_that_was_far_ahead(tmp_path, clock, is_restarted) -> None:
    url = f"sqlite:///{tmp_path}/gateway.db"
    clock.moment += timedelta(days=200)
    store = await open_store(url, clock=clock)
    ids = await put(store, *map(message, range(3)))
    failed, held = await claim(store, 2)
    await store.queue.fail(failed, Failure(error="x"), 60, Changes())

    clock.moment = NOW
    if is_restarted:
        await store.close()
        store = await open_store(url, clock=clock)
    await store.queue.sweep(10, 0.0, lambda _job: Changes())
    due = await claim(store, 5)
    clock.advance(61)
    await store.queue.sweep(10, 0.0, lambda _job: Changes())
    due += await claim(store, 5)

    assert sorted(each.job.id for each in due[:2]) == sorted({*ids} - {held.job.id})
    assert {each.job.id for each in due} == {*ids}
    await store.close()


async def test_a_retry_that_the_right_clock_put_off_stays_put_off(tmp_path, clock) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db", clock=clock)
    await put(store, message(1))
    [failed] = await claim(store)
    await store.queue.fail(failed, Failure(error="x"), 7200, Changes())
    clock.moment += timedelta(days=200)
    await put(store, message(2))

    clock.moment = NOW + HOUR
    await store.queue.sweep(10, 0.0, lambda _job: Changes())

    assert failed.job.id not in {each.job.id for each in await claim(store, 5)}
    await store.close()


async def test_the_latest_time_is_found_without_reading_a_table(tmp_path, clock) -> None:
    """A start must not take longer the more is stored."""
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db", clock=clock)
    plans = []

    async def _explain(connection) -> None:
        for query in LATEST:
            shown = query.compile(connection.sync_engine, compile_kwargs={"literal_binds": True})
            rows = await connection.execute(text(f"EXPLAIN QUERY PLAN {shown}"))
            plans.extend(row[3] for row in rows)

    await store.database.read(_explain)

    assert len(plans) >= 4
    assert all("USING" in plan for plan in plans), plans
    await store.close()
