"""Builds what identifies callers, and makes the first administrator's key."""

from gateway.audit.facts import OperatorRequest
from gateway.audit.log import AuditLog
from gateway.auth.authenticate import Authenticator
from gateway.auth.keys import ADMINISTRATOR, Keys, NewKey
from gateway.auth.principal import LOCAL_SUBJECT, Principal
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.settings import Secret, Settings
from gateway.store.sql.store import SqlStore
from gateway.transports.http.asgi import new_request_id


def open_authenticator(settings: Settings, clock: Clock, store: SqlStore) -> Authenticator:
    """The authenticator of callers, with the limits of clients without a key."""
    return Authenticator(store.keys, clock, _throttle(settings, clock))


def open_keys(
    clock: Clock, store: SqlStore, catalogue: Catalogue, authenticator: Authenticator
) -> Keys:
    """The keys of the agents in `catalogue`."""
    return Keys(store.keys, clock, catalogue.grants.keys(), authenticator.invalidate)


async def bootstrap(keys: Keys, audit: AuditLog, settings: Settings) -> NewKey | None:
    """The administrator's key if this start made one. Changes of keys are recorded."""
    before = {key.id: key for key in await keys.list()}
    new_key = await keys.bootstrap(_revealed(settings.bootstrap_key), settings.data)
    after = await keys.list()
    changed = {
        "created": [key.id for key in after if key.id not in before],
        "revoked": [key.id for key in after if key.revoked_at and key != before.get(key.id)],
    }
    if any(changed.values()):
        operation = "operator.keys.bootstrap"
        request = OperatorRequest(request_id=new_request_id(), operation_id=operation)
        async with audit.open(request) as record:
            record.principal = Principal(subject=LOCAL_SUBJECT, agent=ADMINISTRATOR)
            record.facts = changed
    return new_key


def _throttle(settings: Settings, clock: Clock) -> Throttle:
    one, every = (
        settings.unauthenticated_requests_per_second,
        settings.all_unauthenticated_requests_per_second,
    )
    limits = ThrottleLimits(of_one_host=Rate(one, 10 * one), in_all=Rate(every, 10 * every))
    return Throttle(clock, limits)


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
