"""Checks Host and Origin against allow-lists (protects from DNS rebinding and CSRF)."""

from collections.abc import Iterable
from itertools import product


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
        if host in self._hosts:
            return True
        name, colon, port = host.rpartition(b":")
        return bool(colon) and port.isdigit() and len(port) <= 5 and name in self._hosts

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
