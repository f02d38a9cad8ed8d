"""Servers and security schemes of Swagger 2.0, as OpenAPI 3.1 has them."""

from typing import Any, Final

from gateway.openapi.reading.bundle import Bundle, Spot

_SCHEMES: Final = ("https", "http")
_FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_FLOW_MEMBERS: Final = ("authorizationUrl", "tokenUrl", "refreshUrl")


def server_urls(document: dict[str, Any], schemes: Any) -> list[str]:
    """Base URLs of `document`. `https` comes first, and is used if no scheme is named."""
    base = document.get("basePath")
    path = base.rstrip("/") if isinstance(base, str) else ""
    host = document.get("host")
    if not isinstance(host, str) or not host:
        return [path or "/"]
    named = schemes if isinstance(schemes, list) else []
    used = [scheme for scheme in _SCHEMES if scheme in named] or ["https"]
    return [f"{scheme}://{host}{path}" for scheme in used]


def security_scheme(bundle: Bundle, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
    """The OpenAPI 3.1 Security Scheme Object (Swagger 2.0, "Security Scheme Object")."""
    described = {"description": value["description"]} if "description" in value else {}
    kind = value.get("type")
    if kind == "basic":
        return {"type": "http", "scheme": "basic", **described}
    if kind == "apiKey":
        return {
            "type": "apiKey",
            **{name: value[name] for name in ("name", "in") if name in value},
            **described,
        }
    flow = _FLOWS.get(value["flow"]) if isinstance(value.get("flow"), str) else None
    if kind == "oauth2" and flow:
        scopes = value.get("scopes")
        made: dict[str, Any] = {name: value[name] for name in _FLOW_MEMBERS if name in value}
        made["scopes"] = scopes if isinstance(scopes, dict) else {}
        return {"type": "oauth2", "flows": {flow: made}, **described}
    message = f"the security scheme has the unknown type {str(kind)[:40]!r}, or an unknown flow"
    fix = "use `basic`, `apiKey`, or `oauth2` with a flow"
    return {"$ref": bundle.refuse(spot, "swagger/security", message, fix)}
