"""Publishes an event when the gateway serves a changed contract."""

from typing import Final
from uuid import NAMESPACE_URL, uuid5

from gateway.contract.event import CONTRACT_CHANGED
from gateway.store.protocols import EventLog
from gateway.store.records import NewEvent

_SOURCE: Final = "/contract"
_SUBJECT: Final = "contract"
_PAGE: Final = 500


async def announce_contract(log: EventLog, digest: str) -> None:
    """Publish that the contract has changed, unless the last such event is about the same one.

    `digest` is the SHA-256 of the published OpenAPI document. It contains every tool, webhook and
    event. Raises `StoreError`.
    """
    position, previous = await _last_announced(log)
    if previous == digest:
        return
    announced = (
        {"contract": digest} if previous is None else {"contract": digest, "previous": previous}
    )
    event = NewEvent(
        # Of processes that start at once, all name the same change, and the first one publishes it.
        id=str(uuid5(NAMESPACE_URL, f"{CONTRACT_CHANGED}/{position}/{previous}/{digest}")),
        type=CONTRACT_CHANGED,
        subject=_SUBJECT,
        source=_SOURCE,
        data=announced,
    )
    await log.append([event])


async def _last_announced(log: EventLog) -> tuple[int, str | None]:
    """The position and the digest of the last such event; 0 and None if there is none."""
    position, digest = 0, None
    while found := await log.after(position, _PAGE, [CONTRACT_CHANGED]):
        position, digest = found[-1].position, str(found[-1].data["contract"])
    return position, digest
