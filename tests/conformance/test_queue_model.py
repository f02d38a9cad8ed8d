"""R15, R16: whatever happens in whatever order, the queue is what its rules say."""

import asyncio
import random
from datetime import timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from gateway.store.records import Changes, Claim, Failure, NewEvent, Page
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock
from tests.conformance.queue_model import MAX_ATTEMPTS, ModelJob, QueueModel
from tests.work import NOTHING, finish, message, timed

WRONG = Failure(error="wrong")
seconds = st.sampled_from([0.0, 1.0, 29.0, 31.0, 200.0])


class Queueing(RuleBasedStateMachine):
    """Workers that claim, finish, fail, die and come back, on a clock of the test's."""

    claims = Bundle("claims")
    jobs = Bundle("jobs")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.model = QueueModel()
        self.store: SqlStore = self.run(timed("memory:", self.clock))
        self.sent = 0
        self.effects: list[str] = []

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()

    @initialize(target=jobs)
    def begin(self) -> Any:
        return self.receive(3)

    @rule(target=jobs, number=st.integers(1, 4))
    def receive(self, number: int) -> Any:
        messages = [message(self.sent + n, provider="ab"[n % 2]) for n in range(number)]
        self.sent += number
        ids = [each.webhook_id for each in self.run(self.store.inbox.receive(messages))]
        for job_id in ids:
            self.model.jobs[job_id] = ModelJob(subject=job_id, run_at=self.clock.now())
        return multiple(*ids)

    @rule(number=st.integers(0, 3))
    def receive_again(self, number: int) -> None:
        messages = [message(n, provider="ab"[n % 2]) for n in range(min(number, 1))]
        outcomes = {each.outcome for each in self.run(self.store.inbox.receive(messages))}
        assert outcomes <= {"duplicate"}

    @rule(passed=seconds)
    def wait(self, passed: float) -> None:
        self.clock.advance(passed)

    @rule(target=claims, limit=st.integers(1, 4))
    def claim(self, limit: int) -> Any:
        due = self.model.due(self.clock.now())
        claims = self.run(self.store.queue.claim("w", ["webhook"], limit, 30))
        assert len(claims) == min(limit, len(due))
        for each in claims:
            assert each.job.id in due
            due.remove(each.job.id)
            self.model.claim(each.job.id, self.clock.now(), 30)
        return multiple(*claims)

    @rule(claim=claims)
    def finish(self, claim: Claim) -> None:
        effect = f"{claim.job.id} {claim.job.claim_seq}"
        event = NewEvent(id=effect, type="t", subject="s", source="x", data={})
        is_held = self.model.leave(claim, "completed", self.clock.now(), "completed")
        done = self.run(finish(self.store, claim, Changes(events=(event,))))
        assert done is is_held
        self.effects += [effect] if is_held else []

    @rule(claim=claims, retry=st.none() | seconds)
    def fail(self, claim: Claim, retry: float | None) -> None:
        is_dead = retry is None or claim.job.attempts >= MAX_ATTEMPTS
        state = "dead_letter" if is_dead else "retryable"
        outcome = "dead_letter" if is_dead else "failed"
        run_at = self.clock.now() + timedelta(seconds=0 if is_dead else retry or 0)
        expected = self.model.leave(claim, state, run_at, outcome)
        assert self.run(self.store.queue.fail(claim, WRONG, retry, NOTHING)) is expected

    @rule(claim=consumes(claims))
    def release(self, claim: Claim) -> None:
        expected = self.model.release(claim, self.clock.now())
        assert self.run(self.store.queue.release([claim])) == expected

    @rule(claim=claims)
    def extend(self, claim: Claim) -> None:
        is_held = self.model.holds(claim)
        if is_held:
            job = self.model.jobs[claim.job.id]
            job.lease_until = self.clock.now() + timedelta(seconds=30)
        kept = self.run(self.store.queue.extend([claim], 30))
        assert kept == ({claim.job.id} if is_held else frozenset())

    @rule(backoff=seconds)
    def sweep(self, backoff: float) -> None:
        expected = self.model.sweep(self.clock.now(), backoff)
        assert self.run(self.store.queue.sweep(500, backoff, lambda _: NOTHING)) == expected

    @rule(target=jobs, job_id=jobs, is_forced=st.booleans())
    def redrive(self, job_id: str, is_forced: bool) -> Any:
        expected = self.model.may_repeat(job_id, is_forced=is_forced)
        repeated = self.run(self.store.queue.redrive(job_id, "ana", force=is_forced))
        assert (repeated is not None) is expected
        if repeated is None:
            return multiple()
        subject = self.model.jobs[job_id].subject
        self.model.jobs[repeated.id] = ModelJob(subject=subject, run_at=self.clock.now())
        return repeated.id

    @rule(job_id=jobs)
    def cancel(self, job_id: str) -> None:
        job = self.model.jobs[job_id]
        expected = job.state in {"pending", "retryable"}
        assert self.run(self.store.queue.cancel(job_id, "ana")) is expected
        if expected:
            job.state = "cancelled"

    @invariant()
    def the_store_is_what_the_model_is(self) -> None:
        found = {each.id: each for each in self.run(self.store.queue.jobs(Page(limit=1000)))}
        assert found.keys() == self.model.jobs.keys()
        for job_id, expected in self.model.jobs.items():
            job = found[job_id]
            assert (job.state, job.attempts, job.claim_seq, job.lease_until) == (
                expected.state,
                expected.attempts,
                expected.claim_seq,
                expected.lease_until,
            )
            assert job.attempts <= job.max_attempts
            if job.state in {"pending", "retryable"}:
                assert job.run_at == expected.run_at

    @invariant()
    def each_effect_is_there_once(self) -> None:
        self.run(self.store.events.sequence(1000))
        published = [each.id for each in self.run(self.store.events.after(0, 1000))]
        assert sorted(published) == sorted(self.effects)


TestQueueing = Queueing.TestCase
TestQueueing.settings = settings(max_examples=5, stateful_step_count=25)


async def test_the_same_script_ends_alike_everywhere(store_url, clock) -> None:
    """R15: each step's answer, and what is there at the end, whatever lies beneath."""
    answers = await _play(store_url, clock)

    assert answers == await _play("memory:", ManualClock())
    assert len({str(answer) for answer in answers}) > 20


async def _play(url: str, clock: ManualClock) -> list[Any]:
    script = Script(await timed(url, clock), clock)
    answers = await script.play(120)
    await script.store.close()
    return answers


class Script:
    """The same steps each time; jobs are identified by the messages that they are about."""

    def __init__(self, store: SqlStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.chance = random.Random(4)  # noqa: S311 - to be the same each time
        self.held: list[Claim] = []
        self.names: dict[str, str] = {}

    async def play(self, steps: int) -> list[Any]:
        kinds = (self.receive, self.receive, self.claim, self.finish, self.fail, self.sweep)
        answers: list[Any] = []
        for _ in range(steps):
            self.clock.advance(self.chance.choice([0.001, 1, 12]))
            answers.append(await self.chance.choice([*kinds, self.redrive])())
        jobs = await self.store.queue.jobs(Page(limit=1000))
        ends = [(self.names[j.subject], j.state, j.attempts, j.claim_seq) for j in jobs]
        return [*answers, sorted(ends)]

    async def receive(self) -> Any:
        sent = message(self.chance.randrange(60), self.chance.choice([b"1", b"2"]))
        [receipt] = await self.store.inbox.receive([sent])
        self.names.setdefault(receipt.webhook_id, sent.message_id)
        return receipt.outcome, self.names[receipt.webhook_id]

    async def claim(self) -> Any:
        claims = await self.store.queue.claim("w", ["webhook"], self.chance.randrange(1, 4), 20)
        self.held += claims
        return [(self.names[each.job.subject], each.job.claim_seq) for each in claims]

    async def finish(self) -> Any:
        if not self.held:
            return None
        claim = self.held.pop(self.chance.randrange(len(self.held)))
        return await finish(self.store, claim, NOTHING)

    async def fail(self) -> Any:
        if not self.held:
            return None
        claim, retry = self.chance.choice(self.held), self.chance.choice([None, 5, 5])
        return await self.store.queue.fail(claim, WRONG, retry, NOTHING)

    async def sweep(self) -> Any:
        return await self.store.queue.sweep(10, 3, lambda _: NOTHING)

    async def redrive(self) -> Any:
        jobs = await self.store.queue.jobs(Page(limit=100), state="dead_letter")
        ids = sorted((self.names[each.subject], each.id) for each in jobs)[:1]
        redriven = [await self.store.queue.redrive(job_id, "ana") for _, job_id in ids]
        return [each is not None for each in redriven]
