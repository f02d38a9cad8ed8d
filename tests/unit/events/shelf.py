"""Endpoints and deliveries in memory, for tests of what is done with them."""

from datetime import timedelta
from types import MappingProxyType
from uuid import uuid4

from msgspec.structs import replace

from gateway.events.secrets import Keyring
from gateway.signatures.registry import DELIVERIES
from gateway.store.records import Claim, Delivery, Endpoint, Job, StoredEvent
from tests.clocks import NOW

KEYRING = Keyring([b"k" * 32])


class Shelf:
    """See `gateway.store.protocols.Endpoints`."""

    def __init__(self):
        self.endpoints = {}
        self.carried = {}

    async def add(self, endpoint):
        self.endpoints[endpoint.id] = endpoint

    async def find(self, endpoint_id):
        return self.endpoints.get(endpoint_id)

    async def all(self):
        return list(self.endpoints.values())

    async def change(self, endpoint_id, values, expected=MappingProxyType({})):
        found = self.endpoints.get(endpoint_id)
        if found is None or any(getattr(found, name) != expected[name] for name in expected):
            return False
        self.endpoints[endpoint_id] = replace(self.endpoints[endpoint_id], **values)
        return True

    async def remove(self, endpoint_id):
        return self.endpoints.pop(endpoint_id, None) is not None

    async def delivery(self, delivery_id):
        return self.carried.get(delivery_id)

    def hold(self, url, **members):
        """An endpoint at `url`, and its secret."""
        endpoint_id, secret = str(uuid4()), DELIVERIES.new_secret()
        values = {
            "id": endpoint_id,
            "url": url,
            "description": "",
            "event_types": (),
            "secret": KEYRING.seal(secret, endpoint_id),
            "previous_secret": None,
            "previous_until": None,
            "state": "active",
            "disabled_because": None,
            "failing_since": None,
            "created_at": NOW,
            "updated_at": NOW,
        }
        self.endpoints[endpoint_id] = Endpoint(**(values | members))
        return self.endpoints[endpoint_id], secret

    def claim(self, endpoint, event=None, *, attempts=1, at=NOW):
        """A claim on the delivery of `event` to `endpoint`."""
        job = a_job(endpoint.id, attempts, at)
        self.carried[job.subject] = Delivery(
            id=job.subject, endpoint_id=endpoint.id, event=event or an_event(), job=job
        )
        return Claim(job=job, worker="w")


def an_event(**members):
    values = {
        "position": 7,
        "id": str(uuid4()),
        "type": "gateway.quote.received.v1",
        "subject": "quote-1",
        "source": "/webhooks/avinode",
        "time": NOW,
        "data": {"quote_id": "quote-1", "price": "1234.50", "note": "Zürich ✈"},
        "webhook_id": None,
    }
    return StoredEvent(**(values | members))


def a_job(lane, attempts, at):
    return Job(
        id=str(uuid4()),
        kind="delivery",
        subject=str(uuid4()),
        lane=lane,
        state="processing",
        attempts=attempts,
        max_attempts=10,
        run_at=at,
        lease_until=at + timedelta(seconds=30),
        claim_seq=attempts,
        claimed_by="w",
        error=None,
        replay_of=None,
        actor=None,
        created_at=at,
        updated_at=at,
    )
