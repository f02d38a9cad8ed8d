"""Checks Host and Origin against allow-lists (protects from DNS rebinding and CSRF)."""

from collections.abc import Iterable
from itertools import product
from typing import Final

_LOOPBACK: Final = frozenset({b"localhost", b"127.0.0.1", b"[::1]"})
_OF_OPERATORS: Final = ("/operator/", "/metrics")
_PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})


class HostRules:
    """The allow-lists for Host and Origin.

    A host is listed as `name` (any port) or as `name:port`, an IPv6 address in brackets. An origin
    is listed in full: `https://ui.example.com`. The gateway's own pages may always call it.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._hosts = frozenset(host.lower().removesuffix(":*").encode() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/").encode() for origin in origins)

    def admits_host(self, host: bytes) -> bool:
        """Whether the Host header `host` names this gateway."""
        host = host.lower()
        return host in self._hosts or _name_in(host) in self._hosts

    def admits_origin(self, origin: bytes, host: bytes) -> bool:
        """Whether pages from `origin` may call: it is listed, or has the host and port `host`."""
        origin = origin.lower()
        if origin in self._origins:
            return True
        scheme, _, authority = origin.partition(b"://")
        return scheme in {b"http", b"https"} and authority == host.lower()

    @property
    def origins(self) -> tuple[str, ...]:
        """The listed origins."""
        return tuple(sorted(origin.decode() for origin in self._origins))

    def host_patterns(self) -> list[str]:
        """The hosts in the form of the MCP SDK's security settings."""
        names = sorted(host.decode() for host in self._hosts)
        return [*names, *(f"{name}:*" for name in names)]

    def origin_patterns(self) -> list[str]:
        """The origins in the form of the MCP SDK's security settings."""
        own = product(("http", "https"), self.host_patterns())
        return [*self.origins, *(f"{scheme}://{host}" for scheme, host in own)]


def is_of_operator(path: str, host: bytes, address: str) -> bool:
    """Whether the Host header names this machine, for a path that operators and probes use.

    `address`: that at which the connection arrived. An orchestrator probes it, whatever the names
    of the gateway are. No page of another host can make a browser send such a header.
    """
    if path not in _PROBES and not path.startswith(_OF_OPERATORS):
        return False
    host = host.lower()
    name = _name_in(host) or host
    own = f"[{address}]" if ":" in address else address
    return name in _LOOPBACK or (bool(own) and name == own.encode())


def _name_in(host: bytes) -> bytes:
    """The name in the header `host` that has a port. Empty if it has none."""
    name, colon, port = host.rpartition(b":")
    return name if colon and port.isdigit() and len(port) <= 5 else b""
