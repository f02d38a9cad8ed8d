"""Which pages of other origins browsers let call the gateway."""

from litestar.config.cors import CORSConfig

from gateway.transports.http.edge import EdgeRules


def cors_of(rules: EdgeRules) -> CORSConfig | None:
    """The CORS rules: pages of the listed origins may call. None if no origin is listed."""
    if not rules.hosts.origins:
        return None
    return CORSConfig(
        allow_origins=list(rules.hosts.origins),
        allow_methods=["GET", "POST"],
        allow_headers=[
            "accept",
            "authorization",
            "content-type",
            "gateway-max-attempts",
            "gateway-timeout",
            "idempotency-key",
            "last-event-id",
            "mcp-method",
            "mcp-name",
            "mcp-protocol-version",
            "mcp-session-id",
            "traceparent",
            "tracestate",
            "x-request-id",
        ],
        expose_headers=[
            "gateway-backend",
            "gateway-mocked",
            "gateway-left-out",
            "idempotency-replayed",
            "location",
            "mcp-session-id",
            "ratelimit",
            "ratelimit-policy",
            "retry-after",
            "www-authenticate",
            "x-request-id",
        ],
    )
