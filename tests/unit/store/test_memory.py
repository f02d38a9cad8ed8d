"""What is particular to the store in memory."""

from datetime import UTC, datetime

from gateway.store.base import AuditRecord
from gateway.store.memory import MAX_RECORDS, MemoryAudit


def record(number: int) -> AuditRecord:
    return AuditRecord(
        id=f"{number:08}",
        at=datetime(2026, 11, 20, tzinfo=UTC),
        request_id="r",
        transport="local",
        operation="example.greet",
        subject=None,
        agent=None,
        outcome="ok",
        stage=None,
        status=200,
        backend=None,
        duration_ms=0.0,
        arguments=None,
    )


async def test_the_oldest_records_are_forgotten_before_memory_fills() -> None:
    audit = MemoryAudit()

    await audit.append([record(number) for number in range(MAX_RECORDS + 2)])

    kept = await audit.latest(MAX_RECORDS + 2)
    assert (len(kept), kept[0].id, kept[-1].id) == (
        MAX_RECORDS,
        f"{MAX_RECORDS + 1:08}",
        "00000002",
    )
