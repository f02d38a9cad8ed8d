"""Builds the HTTP interface of the gateway from its components."""

from functools import partial
from importlib.metadata import version
from typing import Final, Self

from litestar import Router
from litestar.di import Provide

from gateway.app.composition import Components
from gateway.app.readiness import readiness_of
from gateway.app.readings import GatewayReadings
from gateway.auth.principal import Identification
from gateway.bounds.addresses import Networks
from gateway.bounds.rates import Rate
from gateway.observability.metrics import GatewayMetrics
from gateway.settings import Settings
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.events import Followers
from gateway.transports.health import CheckReadiness
from gateway.transports.http.asgi import App
from gateway.transports.http.edge import EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.senders import Peers
from gateway.transports.http_app import HttpAppParts, build_http_app
from gateway.transports.mcp.caller import OfferedAccess
from gateway.transports.operator.endpoints import EndpointController
from gateway.transports.operator.guard import OperatorGuard, OperatorParts
from gateway.transports.operator.readings import ReadingController
from gateway.transports.operator.webhooks import JobController, WebhookController

VERSION: Final = version("contract-gateway")


def http_app_of(parts: Components, settings: Settings, probe: CheckReadiness) -> App:
    """The ASGI application with all routes."""
    return build_http_app(
        HttpAppParts(
            invoke=parts.work.long.of(parts.pipeline).invoke,
            jobs=parts.work.long.owned,
            identification=parts.identification,
            catalogue=parts.catalogue,
            policy=parts.policy,
            views=parts.views,
            check_readiness=probe,
            rules=EdgeRules(
                hosts=HostRules(settings.allowed_hosts, settings.allowed_origins),
                peers=_peers(settings),
                max_body_bytes=settings.max_body_bytes,
                max_upload_bytes=settings.max_upload_bytes,
                body_deadline_seconds=settings.body_deadline_seconds,
                throttle=parts.identification.throttle,
            ),
            version=VERSION,
            are_documents_public=settings.public_documents,
            public_url=settings.public_url,
            followers=_http_followers(parts),
            offered=offered_of(parts, parts.identification),
            questions=parts.questions,
            webhooks=parts.webhook_endpoint,
            operator=operator_routes(parts, parts.identification, probe),
            has_aliases=settings.aliases,
        )
    )


def connection_limits(settings: Settings, metrics: GatewayMetrics) -> ConnectionLimits:
    """The limits of connections and bodies, for each host and in total.

    Connections, and refusals of calls that are too many, are counted in `metrics`.
    """
    connects = settings.max_connects_per_second
    return ConnectionLimits(
        max_connections=settings.max_connections,
        max_connections_of_one_host=settings.max_connections_per_address,
        opened_by_one_host=Rate(connects, connects),
        max_body_bytes=settings.max_bodies_bytes,
        max_unauthenticated_bytes=settings.max_unauthenticated_body_bytes,
        max_unauthenticated_bytes_of_one_host=max(
            settings.max_unauthenticated_body_bytes // 4, settings.max_webhook_bytes
        ),
        peers=_peers(settings),
        observe_overload=metrics.overload.inc,
        observe_connections=metrics.connections.set_function,
    )


def _peers(settings: Settings) -> Peers:
    return Peers(Networks(settings.proxies()), settings.proxy_header.encode())


def followers_of(parts: Components, identification: Identification) -> Followers:
    """The check of followers. `identification` authenticates them."""
    return Followers(parts.work.feed, identification, parts.policy, parts.audit)


def _http_followers(parts: Components) -> Followers:
    """The same, with what clients of MCP subscribe to in sessions that outlive a process."""
    own = parts.work.feed, parts.identification, parts.policy, parts.audit
    return Followers(*own, parts.store.subscriptions)


def offered_of(parts: Components, identification: Identification) -> OfferedAccess:
    """What MCP clients are offered beside tools. `identification` authenticates them."""
    return OfferedAccess(parts.catalogue, parts.policy, identification, parts.audit)


class _RegisteredOnce(Router):
    """Litestar registers a deep copy of a router, for those that are registered more than once."""

    def __deepcopy__(self, _copied: object) -> Self:
        return self


def operator_routes(
    parts: Components, identification: Identification, probe: CheckReadiness | None = None
) -> Router:
    """The routes for operators. `identification` authenticates them."""
    store, work = parts.store, parts.work
    provided = OperatorParts(
        guard=OperatorGuard(identification, parts.policy, parts.audit),
        inbox=store.inbox,
        queue=store.queue,
        quarantine=work.quarantine,
        wake=work.wake,
        registry=work.endpoint_registry,
        endpoints=store.endpoints,
        events=store.events,
        audit=store.audit,
        usage=parts.usage,
        catalogue=parts.catalogue,
        check_readiness=probe or partial(readiness_of, parts),
        metrics=parts.metrics,
        read_all=GatewayReadings(parts),
    )
    return _RegisteredOnce(
        "/",
        route_handlers=[EndpointController, JobController, ReadingController, WebhookController],
        dependencies={"parts": Provide(lambda: provided, sync_to_thread=False)},
    )
