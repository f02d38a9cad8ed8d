"""How commands and the bridge reach a gateway elsewhere: directly, or by the user's proxy."""

import ipaddress
import ssl
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import httpx2

from gateway.errors import ConfigurationError


def client_options(url: str, key: str | None) -> dict[str, Any]:
    """The options of each client of a gateway at `url`, which is shown `key`.

    A proxy of the environment sees neither the key nor messages: only https goes through it, in a
    tunnel. It is not used for addresses of this machine. Raises `ConfigurationError` if it is not a
    proxy for HTTP.
    """
    is_encrypted = urlsplit(url).scheme == "https"
    return {
        "headers": {} if key is None else {"authorization": f"Bearer {key}"},
        "proxy": _proxy_of(url) if is_encrypted else None,
        # A context that trusts nobody. To load the certificates takes time and 3 MB.
        "verify": httpx2.create_ssl_context()
        if is_encrypted
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        "trust_env": False,
    }


def _proxy_of(url: str) -> str | None:
    """The proxy that `HTTPS_PROXY` or `ALL_PROXY` names, unless `NO_PROXY` excepts the host."""
    host = urlsplit(url).hostname or ""
    proxies = getproxies_environment()
    proxy = proxies.get("https") or proxies.get("all")
    if not proxy or _is_local(host) or proxy_bypass(host):
        return None
    named = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(named).scheme not in {"http", "https"}:
        raise ConfigurationError(
            "HTTPS_PROXY or ALL_PROXY is not a proxy for HTTP; "
            "write it like http://proxy.example.com:3128, or except the gateway with NO_PROXY"
        )
    return named


def _is_local(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
