"""The servers of one upstream. An imported document may name others for some operations."""

from gateway.backends.http.certificate import ClientCertificate
from gateway.backends.http.replies import ReplyLimits
from gateway.backends.http.wire import HttpWire
from gateway.backends.wire import WireRequest
from gateway.contract.upstream import Reply, Upstream


class HttpServers:
    """Sends each request to its own server, or to the upstream's.

    If the operator has set another base URL than the contract's, all requests go there: a test
    against a copy must not reach the vendor.
    """

    def __init__(
        self,
        upstream: Upstream,
        base_url: str,
        replies: ReplyLimits,
        certificate: ClientCertificate | None = None,
    ) -> None:
        """`certificate` is presented to each server that requests one."""
        self._name = upstream.name
        self._replies = replies
        self._has_others = base_url == (upstream.base_url or "").rstrip("/")
        self._certificate = certificate
        self._own = self._wire(base_url)
        self._others: dict[str, HttpWire] = {}

    async def exchange(self, request: WireRequest) -> Reply:
        """See `Wire.exchange`."""
        return await self._of(request.server).exchange(request)

    async def close(self) -> None:
        """Close all connections."""
        for each in (self._own, *self._others.values()):
            await each.close()

    def _of(self, server: str | None) -> HttpWire:
        if server is None or not self._has_others:
            return self._own
        if server not in self._others:
            self._others[server] = self._wire(server)
        return self._others[server]

    def _wire(self, base_url: str) -> HttpWire:
        return HttpWire(self._name, base_url, self._replies, self._certificate)
