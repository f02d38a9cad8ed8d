"""The URLs of an upstream and of its token endpoint. They are checked only here."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from gateway.contract.outbound import url_refusal
from gateway.contract.upstream import TokenRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings.sources import Sources, upstream_name

_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on
_PRIVATE: Final = frozenset({"localhost", "local", "internal", "lan", "home", "test", "arpa"})
"""Last labels of names that nobody on the internet can look up."""


def base_url(sources: Sources, upstream: Upstream, *, allow_plain_http: bool) -> tuple[str, str]:
    """The base URL without trailing slash, and its origin.

    Raises `ConfigurationError` if it is missing, or if it is not safe to send secrets to it.
    """
    name = upstream_name(upstream.name, "base_url")
    given = sources.find(name)
    if given is None and upstream.base_url is None:
        raise ConfigurationError(f"{upstream.title} needs {name.variable}; set its base URL")
    url, origin = (given.value, given.origin) if given else (upstream.base_url, "contract")
    checked = checked_url(url, origin, allow_plain_http=allow_plain_http).rstrip("/")
    return _with_path(checked, origin, upstream), origin


def _with_path(url: str, origin: str, upstream: Upstream) -> str:
    """`url` with the path that the vendor's API has at this host.

    Raises `ConfigurationError` for another path, at which the API cannot be.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    for name, path in upstream.base_paths.items():
        if host != name and not host.endswith(f".{name}"):
            continue
        if parts.path not in {"", path}:
            should = f"{parts.scheme}://{parts.netloc}{path}"
            raise ConfigurationError(f"{origin}: {upstream.title} has no API there; set {should}")
        return f"{parts.scheme}://{parts.netloc}{path}"
    return url


def token_url(
    sources: Sources, upstream: Upstream, rule: TokenRule, base: str, *, allow_plain_http: bool
) -> tuple[str, str]:
    """The URL of the token endpoint, and its origin. Raises `ConfigurationError`."""
    given = sources.find(upstream_name(upstream.name, "token_url"))
    if given is not None:
        return checked_url(
            given.value, given.origin, allow_plain_http=allow_plain_http
        ), given.origin
    url = f"{base}{rule.url}" if rule.url.startswith("/") else rule.url
    return checked_url(url, "contract", allow_plain_http=allow_plain_http), "contract"


def checked_url(url: object, origin: str, *, allow_plain_http: bool) -> str:
    """`url`. Raises `ConfigurationError`, which names `origin`, if it is not safe."""
    problem = _problem(url, allow_plain_http=allow_plain_http)
    if problem is not None:
        raise ConfigurationError(f"{origin}: {problem}")
    return str(url)


def is_public(host: str, allowed_hosts: Iterable[str]) -> bool:
    """Whether a gateway that listens at `host` is meant for the internet.

    That is a global address. Of all addresses, it depends on the names by which it may be called: a
    container listens there, whoever reaches it.
    """
    if host not in _EVERYWHERE:
        return _is_global(host)
    return any(map(_is_global, allowed_hosts))


def _is_global(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_global
    except ValueError:
        labels = host.lower().rstrip(".").split(".")
        return len(labels) > 1 and labels[-1] not in _PRIVATE


def _problem(url: object, *, allow_plain_http: bool) -> str | None:
    if not isinstance(url, str) or not url.isprintable() or not url.isascii() or " " in url:
        return "must be a URL such as https://api.example.com"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a URL; check host and port"
    if parts.scheme not in {"https", "http"} or not host:
        return "must start with https:// and name a host"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "must not contain credentials, a query or a fragment"
    return _unsafe(url, parts.scheme, host, allow_plain_http=allow_plain_http)


def _unsafe(url: str, scheme: str, host: str, *, allow_plain_http: bool) -> str | None:
    if why := url_refusal(url):
        return f"must be another address: {why}"
    if scheme == "http" and not allow_plain_http and not _is_loopback(host):
        return "must be https://, or set GATEWAY_ALLOW_PLAIN_HTTP=true"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
