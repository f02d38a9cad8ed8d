"""Publishes an event when the gateway serves a changed contract."""

from typing import Final
from uuid import NAMESPACE_URL, uuid5

from gateway.contract.event import CONTRACT_CHANGED
from gateway.store.protocols import EventLog
from gateway.store.records import NewEvent

_SOURCE: Final = "/contract"
_SUBJECT: Final = "contract"


async def announce_contract(log: EventLog, digest: str) -> None:
    """Publish that the contract has changed, unless the last such event is about the same one.

    `digest` is the SHA-256 of the published OpenAPI document. It contains every tool, webhook and
    event. Raises `StoreError`.
    """
    last = await log.announced()
    position, previous = (0, None) if last is None else (last.position, str(last.data["contract"]))
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
