"""Group commit: what is acknowledged is durable, and no sender waits for another one's error."""

import asyncio
import logging
from unittest.mock import AsyncMock

import pytest

from gateway.errors import StoreError
from gateway.store.protocols import StoreRefused
from gateway.store.records import NewWebhook, Receipt
from gateway.webhooks.ingest import _BACKLOG, GroupCommit, Grouping, NotStored
from tests.eventually import PATIENCE_SECONDS
from tests.webhook_sources import ListInbox


class SlowInbox(ListInbox):
    """Stores when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()

    async def receive(self, group_commit):
        self.entered.set()
        await self.gate.wait()
        return await super().receive(group_commit)


def arrival(number: int, size: int = 2) -> NewWebhook:
    return NewWebhook(
        provider="acme",
        profile="signed",
        message_id=f"msg-{number}",
        event_type="thing_made",
        body=b"x" * size,
        headers={},
        contract="digest-1",
    )


async def put(group_commit: GroupCommit, message: NewWebhook) -> Receipt:
    [receipt] = await group_commit.put((message,))
    return receipt


async def test_a_receipt_is_the_stores_own() -> None:
    inbox = ListInbox()
    group_commit = GroupCommit(inbox)
    first, again = await put(group_commit, arrival(1)), await put(group_commit, arrival(1))
    assert (first.outcome, again.outcome) == ("stored", "duplicate")
    assert first.webhook_id == again.webhook_id


async def test_what_arrives_during_a_transaction_shares_the_next_one() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox)
    first = asyncio.create_task(put(group_commit, arrival(0)))
    await inbox.entered.wait()
    rest = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(1, 101)]
    await asyncio.sleep(0)
    inbox.gate.set()
    await asyncio.gather(first, *rest)
    assert inbox.batches == [1, 100]


async def test_a_message_that_comes_alone_is_stored_by_the_task_that_received_it() -> None:
    tasks = []

    class Observed(ListInbox):
        async def receive(self, group_commit):
            await asyncio.sleep(0)
            tasks.append(asyncio.current_task())
            return await super().receive(group_commit)

    group_commit = GroupCommit(Observed())
    await put(group_commit, arrival(1))
    await put(group_commit, arrival(2))
    assert tasks == [asyncio.current_task()] * 2


async def test_messages_are_stored_in_the_order_in_which_they_came() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox)
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(5)]
    await asyncio.sleep(0)
    inbox.gate.set()
    await asyncio.gather(*puts)
    assert [each.message_id for each in inbox.stored] == [f"msg-{n}" for n in range(5)]


async def test_a_sender_who_leaves_while_it_is_alone_holds_up_nobody() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox)
    lone = asyncio.create_task(put(group_commit, arrival(0)))
    await inbox.entered.wait()
    other = asyncio.create_task(put(group_commit, arrival(1)))
    await asyncio.sleep(0)
    lone.cancel()
    inbox.gate.set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await other).outcome == "stored"
        assert (await put(group_commit, arrival(2))).outcome == "stored"
    assert lone.cancelled()


async def test_a_transaction_holds_no_more_than_its_limits() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox, grouping=Grouping(batch=3, batch_bytes=100))
    sizes = [1, 1, 1, 1, 90, 90, 500, 1]
    puts = [
        asyncio.create_task(put(group_commit, arrival(n, size))) for n, size in enumerate(sizes)
    ]
    await asyncio.sleep(0)
    inbox.gate.set()
    await asyncio.gather(*puts)
    assert inbox.batches == [1, 3, 1, 1, 1, 1]


@pytest.mark.parametrize("grouping", [Grouping(backlog=2), Grouping(backlog_bytes=4)])
async def test_more_than_the_backlog_is_refused_at_once_and_the_others_are_stored(grouping) -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox, grouping=grouping)
    waiting = [asyncio.create_task(put(group_commit, arrival(0)))]
    await inbox.entered.wait()
    waiting += [asyncio.create_task(put(group_commit, arrival(n))) for n in (1, 2)]
    await asyncio.sleep(0)
    with pytest.raises(NotStored, match="Too many"):
        await put(group_commit, arrival(3))
    inbox.gate.set()
    assert {receipt.outcome for receipt in await asyncio.gather(*waiting)} == {"stored"}
    assert (await put(group_commit, arrival(3))).outcome == "stored"


async def test_what_is_not_known_to_be_durable_is_refused_to_each_with_an_error_of_its_own(
    caplog,
) -> None:
    inbox = ListInbox()
    inbox.fail()
    group_commit = GroupCommit(inbox)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            found = await asyncio.gather(
                *(put(group_commit, arrival(n)) for n in range(5)), return_exceptions=True
            )
            assert [type(error) for error in found] == [NotStored] * 5
            assert len({id(error) for error in found}) == 5
    assert [record.message for record in caplog.records] == [
        "webhooks are not being stored: the database is away"
    ]
    assert group_commit.problem == "the database is away"

    inbox.failure = None
    assert (await put(group_commit, arrival(1))).outcome == "stored"
    assert group_commit.problem is None


async def test_a_defect_of_the_store_leaves_nobody_waiting_and_the_next_ones_are_stored() -> None:
    inbox = ListInbox()
    inbox.failure = ZeroDivisionError("a defect")
    group_commit = GroupCommit(inbox)
    with pytest.raises(NotStored):
        await put(group_commit, arrival(1))
    inbox.failure = None
    assert (await put(group_commit, arrival(1))).outcome == "stored"


async def test_a_store_that_answers_for_fewer_than_it_was_given_is_not_believed() -> None:
    class Forgetful(ListInbox):
        async def receive(self, group_commit):
            return (await super().receive(group_commit))[1:]

    with pytest.raises(NotStored):
        await put(GroupCommit(Forgetful()), arrival(1))


async def test_a_sender_who_leaves_takes_nothing_with_it() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox)
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(3)]
    await inbox.entered.wait()
    puts[1].cancel()
    await asyncio.sleep(0)
    inbox.gate.set()
    found = await asyncio.gather(*puts, return_exceptions=True)
    assert isinstance(found[1], asyncio.CancelledError)
    assert [found[0].outcome, found[2].outcome] == ["stored", "stored"]
    assert len(inbox.stored) == 3


async def test_closing_stores_what_waits_and_takes_nothing_more() -> None:
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox)
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(3)]
    await inbox.entered.wait()
    closing = asyncio.create_task(group_commit.close())
    await asyncio.sleep(0)
    with pytest.raises(NotStored, match="stopping"):
        await put(group_commit, arrival(9))
    inbox.gate.set()
    await closing
    assert [receipt.outcome for receipt in await asyncio.gather(*puts)] == ["stored"] * 3


async def test_a_store_that_hangs_does_not_hold_up_the_end(monkeypatch) -> None:
    monkeypatch.setattr("gateway.webhooks.ingest._CLOSE_SECONDS", 0.05)
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox, grouping=Grouping(batch=1))
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(3)]
    await inbox.entered.wait()
    await group_commit.close()
    found = await asyncio.gather(*puts, return_exceptions=True)
    assert [str(error) for error in found] == [
        "The gateway is stopping: send the message again."
    ] * 3


async def test_the_worker_is_notified_after_each_transaction() -> None:
    reported: list[int] = []
    inbox = SlowInbox()
    group_commit = GroupCommit(inbox, on_stored=lambda: reported.append(len(inbox.stored)))
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(3)]
    await inbox.entered.wait()
    inbox.gate.set()
    await asyncio.gather(*puts)
    assert reported == [1, 3]
    inbox.fail()
    with pytest.raises(NotStored):
        await put(group_commit, arrival(4))
    assert reported == [1, 3]


class PartedInbox(ListInbox):
    """Refuses batches; `alone` says what becomes of a message by itself.

    The first comes alone, and the others while it is stored.
    """

    def __init__(self, alone) -> None:
        super().__init__()
        self.asked = 0
        self._alone = alone

    async def receive(self, group_commit):
        if len(group_commit) > 1:
            raise StoreRefused("one of them")
        self.asked += 1
        await asyncio.sleep(0)
        await self._alone(self.asked)
        return await super().receive(group_commit)


async def test_a_store_that_goes_away_while_a_batch_is_parted_is_asked_no_more() -> None:
    async def _alone(number) -> None:
        if number == 3:
            raise StoreError("the database is away")

    inbox = PartedInbox(_alone)
    group_commit = GroupCommit(inbox)
    group_commit.problem = "the database was away before"
    puts = (put(group_commit, arrival(n)) for n in range(50))
    found = await asyncio.gather(*puts, return_exceptions=True)
    assert [type(each) for each in found[2:]] == [NotStored] * 48
    assert [each.outcome for each in found[:2]] == ["stored"] * 2
    assert inbox.asked == 3
    assert group_commit.problem == "the database is away"


async def test_who_waits_for_a_part_of_a_batch_is_informed_when_the_gateway_stops(
    monkeypatch,
) -> None:
    monkeypatch.setattr("gateway.webhooks.ingest._CLOSE_SECONDS", 0.05)

    entered = asyncio.Event()

    async def _alone(number) -> None:
        if number > 1:
            entered.set()
            await asyncio.Event().wait()

    group_commit = GroupCommit(PartedInbox(_alone))
    puts = [asyncio.create_task(put(group_commit, arrival(n))) for n in range(3)]
    await entered.wait()
    await group_commit.close()
    async with asyncio.timeout(PATIENCE_SECONDS):
        found = await asyncio.gather(*puts, return_exceptions=True)
    told = [str(each) for each in found[1:]]
    assert told == ["The gateway is stopping: send the message again."] * 2


@pytest.mark.parametrize(
    "error",
    [None, StoreRefused("its text"), StoreError("away"), ValueError(), asyncio.CancelledError()],
)
async def test_the_backlog_is_empty_again_however_a_batch_ends(error, monkeypatch) -> None:
    inbox = ListInbox()
    if error is not None:
        monkeypatch.setattr(inbox, "receive", AsyncMock(side_effect=error))
    limits = Grouping(backlog_bytes=10)
    group_commit = GroupCommit(inbox, grouping=limits)
    for _ in range(3):
        # Were one of them still counted, there would be no room for the next.
        puts = [put(group_commit, arrival(n, size=4)) for n in range(2)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await asyncio.gather(*puts, return_exceptions=True)
        details = {each.detail for each in found if isinstance(each, NotStored)}
        assert len(details) == (0 if error is None else 1)
        assert details.isdisjoint({_BACKLOG})
