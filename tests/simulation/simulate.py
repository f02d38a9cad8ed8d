"""One run of the simulation: callers, faults, reloads and a stop, and then what must hold."""

import asyncio
import gc
import random
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway.auth.keys import digest_of
from gateway.calls.call import Call, Commitment
from gateway.errors import StoreError
from gateway.job_policy import WORK_POLICY
from gateway.store.records import Changes, NewCall
from gateway.store.sql.queue import Target, apply_changes
from gateway.store.usage import Return
from gateway.transports.mcp.caller import Caller
from tests.simulation.callers import Wish, ask, listen
from tests.simulation.loop import Stuck
from tests.simulation.provider import Provider
from tests.simulation.world import CALCULATE, GREET, KEY, NOTIFY, WINDOW_CALLS, Answer, World

_CALM_SECONDS = 70.0
"""When everything has certainly ended: leases of jobs have, and all retries have been made."""
_SOON_SECONDS = 30.0
_RETURNED_SECONDS = 3.0
"""When all units that were taken ahead of calls have been given back."""
_LOOKS = 5
_TIMERS_SECONDS = 600.0
"""When timers of calls have left the event loop, also those that were cancelled."""
_TRIES = 4
_BUDGET = f"administrator/600s/{GREET}/"
_MEMORY = 0.2
"""The part of runs after which memory is looked at, which takes as long as a fifth of a run."""
_OF_A_CALL = (Call, Caller, Commitment)
_OF_A_LIBRARY = "_shutdown_watcher"
"""sse-starlette has one such task for each event loop, until the loop ends."""


class Outcome(Struct):
    """What a run shows. `trace`: the same for the same seed."""

    violations: list[str]
    trace: str


def make_template(folder: Path) -> Path:
    """A database with all tables, for runs: to make them takes longer than a run.

    It also loads what a process loads when it is first used, so that no run depends on that.
    """
    for path, is_used in ((folder / "empty", False), (folder / "used", True)):
        path.mkdir()
        _serve_once(path, is_used=is_used)
    return folder / "empty" / "gateway.db"


def _serve_once(folder: Path, *, is_used: bool) -> None:
    world = World(0, folder, None)

    async def serve() -> None:
        async with world.process():
            for transport in ("rest", "mcp", "session") if is_used else ():
                await ask(world, Wish(operation=GREET, name="first", transport=transport))
            if is_used:
                await listen(world, 1)

    with world.patched(), asyncio.Runner(loop_factory=lambda: world.loop) as runner:
        runner.run(serve())


def simulate(seed: int, folder: Path, template: Path) -> Outcome:
    """Run the seed, with its files in `folder`, which is empty."""
    random.seed(seed)
    world = World(seed, folder, template)
    with world.patched(), asyncio.Runner(loop_factory=lambda: world.loop) as runner:
        try:
            runner.run(_Run(world).whole())
        except Stuck as error:
            world.violations.append(f"stuck: {error}")
    trace = f"{world.loop.steps} {world.loop.time():.6f} {sorted(world.effects.made.items())}"
    return Outcome(world.violations + world.loop.problems, trace)


class _Run:
    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random
        self.wishes: list[Wish] = []
        self.own: list[Wish] = []
        self.provider: Provider | None = None
        self._asked = 0

    async def whole(self) -> None:
        """A process with callers and faults. If it ends early, then one that goes on."""
        world = self.world
        ending = self.random.choices(["calm", "stop", "kill"], [5, 3, 2])[0]
        async with world.process():
            callers = await self._begin()
            await self._disturbed(callers, None if ending == "calm" else 8.0 * self.random.random())
            if ending == "kill":
                world.kill()
            if ending == "calm":
                await self._look_at_what_is_left()
        if ending != "calm":
            world.set_calm(True)
            async with world.process():
                world.set_calm(False)
                await asyncio.wait(callers)
                await self._look_at_what_is_left()
        await world.ended()
        await self._refuse_tasks()
        self._judge()

    async def _begin(self) -> list["asyncio.Task[None]"]:
        chance, world = self.random.random, self.world
        keys = [KEY, *[await self._new_key() for _ in range(self.random.choice([0, 0, 6]))]]
        works = [
            self._call(number, self.random.choice(keys)) for number in range(int(1 + 5 * chance()))
        ]
        if chance() < 0.3:
            works.append(listen(world, self.random.randint(2, 6)))
        if chance() < 0.3:
            works.append(self._notify())
        if chance() < 0.3:
            self.provider = Provider(world)
            await self.provider.subscribe()
            works.append(self.provider.report(self.random.randint(1, 5)))
        world.set_calm(False)
        return [asyncio.create_task(each) for each in works]

    async def _new_key(self) -> str:
        keys = self.world.current.parts.keys
        return (await keys.create("administrator", "of a caller")).key

    async def _call(self, number: int, key: str) -> None:
        if self.random.random() < 0.15:
            await self._call_at_once(number, key)
        for turn in range(self.random.randint(1, 3)):
            operation = self.random.choice([GREET, GREET, CALCULATE, NOTIFY])
            is_keyed = operation != CALCULATE and self.random.random() < 0.6
            wish = Wish(
                operation=operation,
                name=f"caller-{number}-{turn}",
                is_keyed=is_keyed,
                transport=self.random.choice(["rest", "rest", "mcp", "session"]),
                key=key,
            )
            self.wishes.append(wish)
            await self._until_answered(wish)
            await asyncio.sleep(self.random.choice([0.0, 0.0, 0.3, 5.0]) * self.random.random())

    async def _call_at_once(self, number: int, key: str) -> None:
        """As a caller with many threads does when it starts."""
        operation, count = self.random.choice([(CALCULATE, 30), (GREET, 6)])
        wishes = [
            Wish(operation=operation, name=f"at-once-{number}-{n}", key=key) for n in range(count)
        ]
        self.wishes += wishes
        await asyncio.gather(*[ask(self.world, each) for each in wishes])

    async def _until_answered(self, wish: Wish) -> None:
        for _ in range(_TRIES):
            leave = self.random.choice([None, None, None, 0.05, 2.0])
            answer = await ask(self.world, wish, leave)
            if not wish.is_keyed or not (answer.status == 0 or _is_retryable(answer)):
                return
            await asyncio.sleep(self.random.choice([0.0, 1.0, 6.0]))

    async def _notify(self) -> None:
        """Calls that the gateway makes itself, as jobs: a message of a provider asks for them."""
        parts = self.world.current.parts
        wishes = [Wish(operation=GREET, name=f"own-{n}", is_keyed=True) for n in range(3)]
        self.own = wishes
        calls = tuple(
            NewCall(id=each.name, operation=GREET, arguments=each.arguments, lane=GREET)
            for each in wishes
        )

        async def add(connection: Any, now: datetime) -> None:
            target = Target({}, WORK_POLICY)
            await apply_changes(connection, target, [Changes(calls=calls)], now)

        with suppress(StoreError):
            await parts.store.database.write(add)
        parts.work.wake()

    async def _disturbed(self, callers: list["asyncio.Task[None]"], seconds: float | None) -> None:
        """Wait for the callers, and reload at any time."""
        reloading = asyncio.create_task(self._reload())
        await asyncio.wait(callers, timeout=seconds)
        reloading.cancel()
        await asyncio.wait([reloading])

    async def _reload(self) -> None:
        if self.random.random() < 0.5:
            return
        with suppress(asyncio.CancelledError):
            for _ in range(self.random.choice([1, 1, 2])):
                await asyncio.sleep(self.random.uniform(0.1, 6.0))
                await self.world.current.reload()

    async def _look_at_what_is_left(self) -> None:
        """Every job and key has its end, and every place and limit is free again."""
        self.world.set_calm(True)
        await asyncio.sleep(_CALM_SECONDS)
        for wish in self.wishes:
            await self._refuse_without_end(wish)
        await self._look_at_budget()
        probes = [Wish(operation=GREET, name=f"probe-{number}") for number in range(3)]
        for answer in await asyncio.gather(*[ask(self.world, each) for each in probes]):
            if answer.status != 200:
                self.world.violations.append(f"a place is not free: {answer.body}")
        if self.random.random() < 0.1:
            await self._be_busy()
        if self.provider is not None:
            await self.provider.refuse_lost()
        if self.random.random() < _MEMORY:
            await self._look_at_memory()

    async def _look_at_budget(self) -> None:
        """The calls that a limit has counted are those that were made.

        If the store loses answers, or the process dies or ends while the store is slow, more are
        counted.
        """
        world, used, made = self.world, 0, 0
        # A job of its own may call meanwhile, and hold units for the next call for a moment.
        for _ in range(_LOOKS):
            await asyncio.sleep(_RETURNED_SECONDS)
            readings = await world.current.parts.store.usage.readings(1000)
            used = sum(r.usage.used for r in readings if r.counter.text.startswith(_BUDGET))
            made = world.effects.begun
            if used == made:
                return
        if used < made:
            world.violations.append(f"{made} calls were made, and {used} counted")
        is_exact = not (world.store.failing or world.store.dead or world.log.is_stricter)
        if used > made and is_exact:
            world.violations.append(f"{used} calls were counted, and {made} made")

    async def _look_at_memory(self) -> None:
        """Neither calls that have ended nor contracts that were replaced are kept."""
        await asyncio.sleep(_TIMERS_SECONDS)
        gc.collect()
        for each in gc.get_objects():
            if type(each) in _OF_A_CALL:
                self.world.violations.append(f"{type(each).__name__} is kept")
        process = self.world.current
        served = {id(process.parts.catalogue), id(None)}
        if any(id(each()) not in served for each in process.served):
            self.world.violations.append("contracts that were replaced are kept")

    async def _refuse_without_end(self, wish: Wish) -> None:
        world = self.world
        for job in {a.headers["location"] for a in wish.answers if a.status == 202}:
            found = await world.request("GET", job, key=wish.key)
            if found.status != 200 or found.body["status"] in {"queued", "running"}:
                world.violations.append(f"{wish}: {job} has no end: {found.body}")
        if wish.is_keyed:
            again = await ask(world, wish)
            if again.status == 0 or again.code == "CALL_UNDER_WAY":
                world.violations.append(f"{wish}: its key has no end")

    async def _be_busy(self) -> None:
        """A caller that asks all the time, while another process holds the limit for a moment."""
        parts = self.world.current.parts
        operation = parts.catalogue.find(CALCULATE).operation
        [rule] = parts.pipeline.limits._rules_of(operation, "administrator", operation.effect)  # type: ignore[attr-defined]  # it counts
        [key] = [each for each in await parts.keys.list() if each.digest == digest_of(KEY)]
        demand, usage = rule.demand("administrator", key.id), parts.store.usage
        one = await usage.take([demand], "another process")
        left = WINDOW_CALLS - one.usages[0].used
        rest = await usage.take([replace(demand, units=left)], "another process")
        status = 0
        while status != 429:
            status = await self._status()
        for taken, units in ((one, 1), (rest, left)):
            restored = [Return(demand.counter, each.entry, units) for each in taken.taken]
            await usage.restore(restored)
        for _ in range(10):
            await asyncio.sleep(0.5)
            status = await self._status()
        if status != 200:
            self.world.violations.append("a caller is refused though the limit is free")

    async def _status(self) -> int:
        self._asked += 1
        wish = Wish(operation=CALCULATE, name=f"busy{self._asked}")
        return (await ask(self.world, wish)).status

    async def _refuse_tasks(self) -> None:
        """What a process had begun when it ended ends soon, and by itself."""
        await asyncio.sleep(_SOON_SECONDS)
        for each in asyncio.all_tasks() - {asyncio.current_task()}:
            if each.get_coro().__name__ == _OF_A_LIBRARY:  # type: ignore[union-attr]  # it has one
                continue
            self.world.violations.append(f"a task is left: {each.get_name()} {each.get_coro()}")

    def _greetings(self) -> list[Wish]:
        return [each for each in [*self.wishes, *self.own] if each.operation == GREET]

    def _judge(self) -> None:
        """No effect twice, no success without one, and none that was called safe to repeat."""
        world, made = self.world, self.world.effects.made
        for wish in [*self.wishes, *self.own]:
            count = made[wish.name]
            if count > 1:
                world.violations.append(f"{wish}: {count} effects")
            if wish.operation == CALCULATE:
                continue
            if count != 1 and any(each.status == 200 for each in wish.answers):
                world.violations.append(f"{wish}: a success without an effect")
            if count and not wish.is_keyed and any(map(_is_retryable, wish.answers)):
                world.violations.append(f"{wish}: made, and called safe to repeat")
        greeted = {each.name for each in self._greetings()}
        if world.effects.row != sum(
            count for name, count in made.items() if name in greeted or name.startswith("probe")
        ):
            world.violations.append("a change of the row is lost")


def _is_retryable(answer: Answer) -> bool:
    return isinstance(answer.body, dict) and bool(answer.body.get("retryable"))
