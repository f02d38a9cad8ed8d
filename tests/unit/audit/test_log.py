"""Exactly one record of every call, whatever becomes of it."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from gateway.audit import AuditLog
from gateway.audit.log import NotBegun
from gateway.audit.writebehind import UNSTORABLE, BatchConfig
from gateway.auth.principal import Credentials, Principal
from gateway.calls.call import Arguments, Call
from gateway.catalogue import Entry
from gateway.contract.operation import Effect, Operation, PythonBinding
from gateway.contract.refusals import UpstreamAnswer
from gateway.contract.values.violation import Violation
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    InvalidReply,
    NotRecorded,
    StoreError,
    ToolFailed,
    Unauthenticated,
    UpstreamRejected,
    UpstreamTimeout,
)
from gateway.store.protocols import StoreRefused
from gateway.store.records import AuditRecord
from tests.eventually import PATIENCE_SECONDS
from tests.remembered import MemoryAudit
from tests.unit.tables import each_of

START = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
PROMPT = BatchConfig(flush_seconds=0.001)
NEVER = BatchConfig(flush_seconds=3600)


class SteppingClock:
    """Advances by a quarter of a second whenever it is looked at."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        self.seconds += 0.25
        return self.seconds


class FailingAudit(MemoryAudit):
    """Refuses the first appends, then works."""

    def __init__(self, failures: int, error: BaseException | None = None) -> None:
        super().__init__()
        self.failures = failures
        self.error = error or StoreError("the disk is full")
        self.batches: list[int] = []

    async def append(self, records: Sequence[AuditRecord]) -> None:
        self.batches.append(len(records))
        if self.failures:
            self.failures -= 1
            raise self.error
        await super().append(records)


async def answer(arguments, context):
    return {}


def entry(effect: Effect = Effect.READ, sensitive: tuple[str, ...] = ()) -> Entry:
    operation = Operation(
        id="a.b",
        connector="a",
        title="B",
        description="B.",
        effect=effect,
        timeout_seconds=1,
        errors=(),
        binding=PythonBinding(run=answer),
        sensitive=sensitive,
        route="/v1/a/b",
    )
    return Entry(operation, None, None, None, None)


def call(operation: str = "a.b") -> Call:
    return Call(
        operation_id=operation,
        credentials=Credentials(bearer="canary-secret-key"),
        arguments=b"{}",
        transport="rest",
        request_id="request-1",
    )


def classify(error: GatewayError) -> tuple[int, str]:
    return {UpstreamTimeout: (504, "TIMEOUT_ERROR"), ToolFailed: (409, "TOOL_EXECUTION_ERROR")}.get(
        type(error), (500, f"{type(error).__name__}")
    )


def audit_log(store: MemoryAudit, pace: BatchConfig = PROMPT) -> AuditLog:
    return AuditLog(store, SteppingClock(), classify, pace)


async def run(log: AuditLog, error: BaseException | None = None, **known) -> None:
    """One call that gets as far as `known` says and then ends with `error`."""
    async with log.open(call()) as record:
        for name, value in known.items():
            setattr(record, name, value)
        if error is not None:
            raise error


PRINCIPAL = Principal(subject="key_1", agent="flight_search")


async def test_a_call_that_succeeds_leaves_its_whole_account() -> None:
    store = MemoryAudit()
    log = audit_log(store)

    await run(
        log,
        principal=PRINCIPAL,
        entry=entry(),
        arguments=Arguments({"q": 1}, Effect.READ),
        backend="mock",
    )
    await log.close()

    [found] = await store.latest(9)
    assert found == AuditRecord(
        id=found.id,
        at=START,
        request_id="request-1",
        transport="rest",
        operation="a.b",
        subject="key_1",
        agent="flight_search",
        outcome="ok",
        stage=None,
        status=200,
        backend="mock",
        duration_ms=250.0,
        arguments={"q": 1},
    )


@each_of(
    ("error", "outcome", "stage", "status"),
    [
        (UpstreamTimeout(), "TIMEOUT_ERROR", "send", 504),
        (ToolFailed("rfp_not_found"), "TOOL_EXECUTION_ERROR", "tool", 409),
        (Unauthenticated(), "Unauthenticated", "authenticate", 500),
        (ValueError("canary"), "InternalError", "internal", 500),
        (asyncio.CancelledError(), "CANCELLED", None, 499),
        (KeyboardInterrupt(), "CANCELLED", None, 499),
    ],
)
@each_of("effect", Effect)
async def test_a_call_that_fails_leaves_one_record_and_its_error(
    error, outcome, stage, status, effect
) -> None:
    """Whatever the error is, it goes on its way unchanged."""
    store = MemoryAudit()
    log = audit_log(store)

    with pytest.raises(type(error)) as raised:
        await run(log, error, entry=entry(effect))
    await log.close()

    assert raised.value is error
    [found] = await store.latest(9)
    assert (found.outcome, found.stage, found.status) == (outcome, stage, status)
    assert "canary" not in repr(found)


async def test_a_call_of_something_unknown_is_recorded_by_the_callers_word_made_harmless() -> None:
    store = MemoryAudit()
    log = audit_log(store)

    async with log.open(call("a\n\0\x1b[31mé\ud800" + "x" * 10_000)):
        pass
    await log.close()

    [found] = await store.latest(9)
    assert found.operation.isprintable()
    assert found.operation.isascii()
    assert len(found.operation) <= 200
    assert (found.subject, found.agent, found.arguments) == (None, None, None)


async def test_sensitive_arguments_are_not_in_the_record() -> None:
    store = MemoryAudit()
    log = audit_log(store)
    secret = {"user": {"password": "canary", "name": "ann"}, "cards": [{"n": "canary"}, {"n": 2}]}

    await run(
        log,
        entry=entry(sensitive=("/user/password", "/cards/*/n", "/none")),
        arguments=Arguments(secret, Effect.READ),
    )
    await log.close()

    [found] = await store.latest(9)
    assert "canary" not in repr(found)
    assert found.arguments is not None
    assert found.arguments["user"] == {"password": "<redacted>", "name": "ann"}
    assert secret["user"]["password"] == "canary"


@pytest.mark.parametrize(
    ("sensitive", "detail"),
    [
        ((), 'The upstream answered 409. The upstream says: "ann is taken"'),
        (("/user/password",), "The upstream answered 409."),
    ],
)
async def test_a_record_says_what_the_upstream_said_unless_that_may_be_sensitive(
    sensitive, detail
) -> None:
    """What it says may repeat a part of a sensitive argument."""
    store = MemoryAudit()
    log = audit_log(store)
    error = UpstreamRejected("The upstream answered 409.")
    error.answer = UpstreamAnswer(status=409, body={"message": "ann is taken"})
    arguments = Arguments({"user": {"password": "secret", "name": "ann"}}, Effect.READ)

    with pytest.raises(UpstreamRejected):
        await run(log, error, entry=entry(sensitive=sensitive), arguments=arguments)
    await log.close()

    [found] = await store.latest(9)
    assert found.detail == detail


PLACE = Violation(pointer="/rows/3", keyword="type", detail="is no text")


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (InvalidReply("Bad.", violations=[PLACE]), "Bad. /rows/3: is no text."),
        (InvalidArguments([PLACE], "Bad."), "Bad."),
        (ToolFailed("gone", "x" * 501), "x" * 499 + "…"),
        (ValueError("canary"), None),
    ],
)
async def test_a_record_names_places_but_none_that_a_caller_chose(error, detail) -> None:
    store = MemoryAudit()
    log = audit_log(store)

    with pytest.raises(type(error)):
        await run(log, error, entry=entry())
    await log.close()

    [found] = await store.latest(9)
    assert found.detail == detail


async def test_a_record_of_a_write_is_durable_before_the_call_ends() -> None:
    """The batch would otherwise wait for an hour."""
    store = MemoryAudit()
    log = audit_log(store, NEVER)

    for effect in (Effect.WRITE, Effect.DESTROY):
        await run(log, entry=entry(effect))

    assert len(await store.latest(9)) == 2
    await log.close()


async def test_writes_at_the_same_time_share_a_transaction() -> None:
    store = FailingAudit(failures=0)
    log = audit_log(store, NEVER)

    await asyncio.gather(*(run(log, entry=entry(Effect.WRITE)) for _ in range(50)))

    assert store.batches == [50]
    await log.close()


async def test_records_of_reads_gather_until_the_batch_is_full() -> None:
    store = FailingAudit(failures=0)
    log = audit_log(store, BatchConfig(flush_seconds=3600, batch_records=10))

    for _ in range(10):
        await run(log, entry=entry())
    await log.flush()
    for _ in range(25):
        await run(log, entry=entry())
    await log.close()

    assert store.batches == [10, 10, 10, 5]
    assert len(await store.latest(99)) == 35


async def test_a_refused_batch_is_kept_tried_again_and_reported(caplog, monkeypatch) -> None:
    monkeypatch.setattr("gateway.audit.writebehind._RETRY_SECONDS", 0.001)
    store = FailingAudit(failures=2)
    log = audit_log(store)

    await run(log, entry=entry())
    await log.flush()

    assert log.failed == 2
    assert log.problem is None
    assert len(await store.latest(9)) == 1
    assert "audit records not stored yet: 1 (the disk is full)" in caplog.text
    await log.close()


class PickyAudit(MemoryAudit):
    """Refuses records that hold a certain text, as a database does that cannot store it."""

    async def append(self, records: Sequence[AuditRecord]) -> None:
        if any("unstorable" in repr(record) for record in records):
            raise StoreRefused("it does not fit")
        await super().append(records)


async def test_a_record_whose_arguments_are_refused_keeps_what_was_called(caplog) -> None:
    store = PickyAudit()
    log = audit_log(store)

    await run(log, entry=entry(), arguments=Arguments({"q": "unstorable"}, Effect.READ))
    await run(log, entry=entry())
    await log.close()

    kept, refused = await store.latest(9)
    assert (refused.operation, refused.request_id, refused.arguments) == ("a.b", "request-1", None)
    assert (kept.operation, kept.outcome) == ("a.b", "ok")
    assert "an audit record is stored without its arguments: it does not fit" in caplog.text
    assert "operation" not in caplog.text


async def test_a_record_that_is_refused_without_its_arguments_too_says_what_is_missing(
    caplog,
) -> None:
    store = PickyAudit()
    log = audit_log(store)

    async with log.open(call("unstorable"), "unstorable") as record:
        record.facts = {"q": 1}
    await log.close()

    [found] = await store.latest(9)
    assert (found.operation, found.request_id, found.arguments) == (UNSTORABLE, UNSTORABLE, None)
    assert (found.outcome, found.transport) == ("ok", "rest")
    said = "stored without its arguments, operation, request id and job: it does not"
    assert said in caplog.text


async def test_a_problem_is_visible_while_it_lasts_and_lost_records_are_counted(
    caplog, monkeypatch
) -> None:
    monkeypatch.setattr("gateway.audit.writebehind._RETRY_SECONDS", 0.001)
    monkeypatch.setattr("gateway.audit.writebehind._CLOSE_SECONDS", 0.01)
    log = audit_log(FailingAudit(failures=10**9))

    await run(log, entry=entry())
    await run(log, entry=entry())
    await log.close()

    assert log.problem == "the disk is full"
    assert "audit records lost: 2 (the disk is full)" in caplog.text


@pytest.fixture
def long_outage(time_leaps, monkeypatch) -> None:
    """The store is asked again long after the calls, on any machine."""
    monkeypatch.setattr("gateway.audit.log.WAIT_SECONDS", 0.02)
    monkeypatch.setattr("gateway.audit.writebehind._RETRY_SECONDS", 600)
    monkeypatch.setattr("gateway.audit.writebehind._CLOSE_SECONDS", 6000)


@pytest.mark.usefixtures("long_outage")
async def test_a_write_that_cannot_be_recorded_in_time_is_not_called_a_success() -> None:
    store = FailingAudit(failures=1)
    log = audit_log(store)

    with pytest.raises(NotRecorded, match="was made"):
        await run(log, entry=entry(Effect.WRITE))
    await log.close()

    assert len(await store.latest(9)) == 1


@pytest.mark.usefixtures("long_outage")
async def test_a_failed_write_keeps_its_own_error_when_it_cannot_be_recorded() -> None:
    log = audit_log(FailingAudit(failures=1))

    with pytest.raises(UpstreamTimeout):
        await run(log, UpstreamTimeout(), entry=entry(Effect.WRITE))
    await log.close()


@pytest.mark.usefixtures("time_leaps")
async def test_no_call_begins_that_could_not_be_recorded(monkeypatch) -> None:
    monkeypatch.setattr("gateway.audit.log.WAIT_SECONDS", 0.01)
    monkeypatch.setattr("gateway.audit.writebehind._CLOSE_SECONDS", 0.01)
    log = audit_log(FailingAudit(failures=10**9), BatchConfig(flush_seconds=0.001, queue_records=3))

    for _ in range(3):
        await run(log, entry=entry())

    with pytest.raises(NotBegun, match="could not be recorded") as refused:
        await run(log, AssertionError("the call has begun"), entry=entry())
    await log.close()

    assert refused.value.retry_after_seconds > 0


@pytest.mark.usefixtures("long_outage")
async def test_a_write_that_was_not_begun_leaves_one_record_after_the_outage() -> None:
    store = FailingAudit(failures=1)
    log = audit_log(store)

    for waiting in (1, 2):
        with pytest.raises(NotBegun):
            async with log.open(call()) as record:
                await record.begin()
        assert log.waiting == waiting, "its outcome takes the place of its begin"
    await log.close()

    assert [each.outcome for each in await store.latest(9)] == ["NotBegun", "NotBegun"]
    assert store.batches[1:] == [2]


async def test_a_full_queue_only_slows_calls_down_while_the_store_works() -> None:
    store = MemoryAudit()
    log = audit_log(store, BatchConfig(flush_seconds=3600, batch_records=100, queue_records=2))

    for _ in range(20):
        await run(log, entry=entry())
    await log.close()

    assert len(await store.latest(99)) == 20


async def test_a_cancelled_wait_for_durability_does_not_lose_the_record() -> None:
    store = MemoryAudit()
    log = audit_log(store, NEVER)
    task = asyncio.create_task(run(log, entry=entry(Effect.WRITE)))
    await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await log.close()

    assert [found.outcome for found in await store.latest(9)] == ["ok"]


async def test_a_record_whose_write_is_cancelled_inside_the_store_is_written_again(
    monkeypatch,
) -> None:
    monkeypatch.setattr("gateway.audit.writebehind._RETRY_SECONDS", 0.001)
    store = FailingAudit(1, asyncio.CancelledError())
    log = audit_log(store)

    async with asyncio.timeout(PATIENCE_SECONDS):
        await run(log, entry=entry(Effect.WRITE))
    await log.close()

    assert [found.outcome for found in await store.latest(9)] == ["ok"]


async def test_a_writer_that_dies_is_reported_and_the_next_record_starts_another(caplog) -> None:
    store = MemoryAudit()
    log = audit_log(store)
    working, store.append = store.append, broken

    await run(log, entry=entry())
    assert log._batcher._writer is not None
    await asyncio.wait([log._batcher._writer])
    store.append = working
    await run(log, entry=entry())
    await log.close()

    assert "the audit's writer died" in caplog.text
    assert len(await store.latest(9)) == 2


async def broken(records: Sequence[AuditRecord]) -> None:
    raise RuntimeError("a defect")
