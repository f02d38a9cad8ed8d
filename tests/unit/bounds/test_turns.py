"""Work in small parts, one in each pass of the event loop."""

import asyncio
from functools import partial

from gateway.bounds.shares import LoopTurns


async def test_one_part_is_done_in_each_pass_of_the_loop():
    turns, done = LoopTurns(), []
    for part in range(3):
        turns.wait("one", partial(done.append, part))
    seen = []
    for _ in range(3):
        await asyncio.sleep(0)
        seen.append(len(done))
    assert seen == [1, 2, 3]


async def test_owners_take_turns_however_much_each_has_to_do():
    turns, done = LoopTurns(), []
    for part in range(3):
        turns.wait("much", partial(done.append, f"much {part}"))
    turns.wait("little", partial(done.append, "little"))
    for _ in range(4):
        await asyncio.sleep(0)
    assert done == ["much 0", "little", "much 1", "much 2"]


async def test_work_may_wait_for_another_turn():
    turns, done = LoopTurns(), []

    def again():
        done.append("again")
        if len(done) < 4:
            turns.wait("one", again)

    turns.wait("one", again)
    turns.wait("two", partial(done.append, "two"))
    for _ in range(4):
        await asyncio.sleep(0)
    assert done == ["again", "two", "again", "again"]


async def test_who_waits_again_a_little_later_loses_no_turn():
    turns, done = LoopTurns(), []

    async def work(owner):
        for _ in range(3):
            await turns.turn(owner)
            done.append(owner)

    await asyncio.gather(work("much"), work("much"), work("little"))
    assert "".join(owner[0] for owner in done) == "mlmlmlmmm"


async def test_who_is_cancelled_loses_the_turn():
    turns = LoopTurns()
    waits = asyncio.create_task(turns.turn("one"))
    await asyncio.sleep(0)
    waits.cancel()
    await turns.turn("one")
    assert waits.cancelled()
