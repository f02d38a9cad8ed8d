"""The gateway's HTTP faces, each made of the same parts."""

from importlib.metadata import version
from typing import Final

from litestar.handlers import HTTPRouteHandler

from gateway.app.readiness import readiness_of
from gateway.assembly import Parts
from gateway.auth.principal import Identification
from gateway.catalogue import open_routes
from gateway.settings import Settings
from gateway.transports.asgi import App
from gateway.transports.edge import EdgeRules
from gateway.transports.following import Followers
from gateway.transports.hosts import HostRules
from gateway.transports.operator_endpoints import endpoint_routes
from gateway.transports.operator_events import event_routes
from gateway.transports.operator_requests import OperatorDesk
from gateway.transports.operator_webhooks import WorkParts, work_routes
from gateway.transports.site import SiteParts, build_site

VERSION: Final = version("contract-gateway")


def site_of(parts: Parts, settings: Settings) -> App:
    """Everything that is served over HTTP. Raises `ContractError` for damaged routes."""
    return build_site(
        SiteParts(
            invoke=parts.pipeline.invoke,
            identification=parts.identification,
            catalogue=parts.catalogue,
            policy=parts.policy,
            routes=open_routes(settings.package),
            check_readiness=lambda: readiness_of(parts),
            rules=EdgeRules(
                hosts=HostRules(settings.allowed_hosts, settings.allowed_origins),
                max_body_bytes=settings.max_body_bytes,
                body_deadline_seconds=settings.body_deadline_seconds,
            ),
            version=VERSION,
            followers=followers_of(parts, parts.identification),
            webhooks=parts.webhook_door,
            operator=operator_routes(parts, parts.identification),
        )
    )


def followers_of(parts: Parts, identification: Identification) -> Followers:
    """Who may follow the events, of those that `identification` knows."""
    return Followers(parts.work.feed, identification, parts.policy, parts.audit)


def operator_routes(parts: Parts, identification: Identification) -> list[HTTPRouteHandler]:
    """What operators see and do, for callers that `identification` knows."""
    store, work = parts.store, parts.work
    desk = OperatorDesk(identification, parts.policy, parts.audit)
    seen = WorkParts(store.inbox, store.queue, work.quarantine, work.wake)
    return [
        *work_routes(desk, seen),
        *endpoint_routes(desk, work.book, store.endpoints),
        *event_routes(desk, store.events),
    ]
