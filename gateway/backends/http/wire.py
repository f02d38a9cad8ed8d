"""Sends encoded requests to one base URL, over kept HTTP/1.1 connections."""

import logging
import re
from collections.abc import Coroutine
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urljoin

from msgspec.structs import replace
from yarl import URL

from gateway.backends.http.connection import CertificateRefused, ClientCertificate
from gateway.backends.http.pool import ConnectionPool, NotConnected, NotTrusted
from gateway.backends.http.replies import ConnectionBroken, ReplyLimits
from gateway.backends.wire import WireRequest
from gateway.contract.outbound import header_refusal
from gateway.contract.upstream import Reply
from gateway.errors import InternalError, UpstreamRefusedCredentials, UpstreamUnavailable

_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
"""Methods that need no `Content-Length` when there is no body (RFC 9110 §8.6)."""
_LINES: Final = re.compile(r"(?:[\t -~]+\r\n)+")
_TARGET: Final = re.compile(r"/[!\"$-~]*")
"""Printable ASCII without space and `#`."""
_log: Final = logging.getLogger(__name__)


class HttpWire:
    """HTTP/1.1 connections to one base URL."""

    def __init__(
        self,
        upstream_name: str,
        base_url: str,
        replies: ReplyLimits,
        certificate: ClientCertificate | None = None,
    ) -> None:
        """`certificate` is presented to a server that requests one."""
        self._certificate = certificate
        self._name = upstream_name
        base = URL(base_url.rstrip("/"))
        self._origin = str(base.origin())
        self._prefix = base.raw_path.rstrip("/")
        self._host = str(base.host_port_subcomponent)
        self._pool = ConnectionPool(
            str(base.raw_host),
            int(base.port or 0),
            is_encrypted=base.scheme == "https",
            replies=replies,
            trust=certificate.context() if certificate else None,
        )

    async def exchange(self, request: WireRequest) -> Reply:
        """See `Wire.exchange`. Errors and log lines never hold the target: it may hold a secret."""
        try:
            reply = await self.send(request)
        except NotTrusted as error:
            _log.warning("%s: the certificate: %s", self._name, error)
            raise UpstreamUnavailable(
                "The upstream's certificate cannot be trusted.", is_sent=False
            ) from None
        except NotConnected as error:
            _log.warning("%s: no connection: %s", self._name, error)
            raise UpstreamUnavailable("The upstream cannot be reached.", is_sent=False) from None
        except CertificateRefused as error:
            _log.warning("%s: the client certificate: %s", self._name, error)
            given = self._certificate
            what = f"refused the certificate of {given.setting}" if given else "requires one"
            raise UpstreamRefusedCredentials(
                f"The upstream's server checks client certificates, and {what}."
            ) from None
        except ConnectionBroken as error:
            _log.warning("%s: the connection broke: %s", self._name, error)
            raise UpstreamUnavailable("The connection to the upstream broke.") from None
        return self._addressed(reply, request.target) if request.admits_redirect else reply

    def send(self, request: WireRequest) -> Coroutine[Any, Any, Reply]:
        """The reply as it came. Raises the errors of `ConnectionPool.exchange`."""
        return self._pool.exchange(
            request_message(request, self._host, self._prefix),
            is_head=request.method == "HEAD",
            watch=request.watch,
            departure=request.departure,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    def _addressed(self, reply: Reply, target: str) -> Reply:
        """`reply` with an absolute `Location` (RFC 9110 §10.2.2), if it has a sound one."""
        location = reply.headers.get("location")
        if not location:
            return reply
        with suppress(ValueError):
            location = urljoin(f"{self._origin}{self._prefix}{target}", location)
        return replace(reply, headers={**reply.headers, "location": location})


def request_message(
    request: WireRequest, host: str, prefix: str = "", *, coding: str = "gzip"
) -> bytes:
    """The request as it is sent (RFC 9112 §3). `host` is the field, with the port.

    `prefix` is the path of the base URL, and `coding` what the body of the reply may have.
    """
    lines = [f"{request.method} {prefix}{request.target} HTTP/1.1\r\n", f"Host: {host}\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in request.headers]
    body = request.body
    if body is not None or request.method not in _BODILESS:
        lines.append(f"Content-Length: {len(body or b'')}\r\n")
    lines.append(f"Accept-Encoding: {coding}\r\n")
    head = "".join(lines)
    # The last line of defence: nothing that was encoded above may lead away from the base,
    # begin another line, or change where the request ends.
    is_one_line_each = head.count("\n") == len(lines) and _LINES.fullmatch(head)
    names = tuple([name for name, _ in request.headers])
    if not is_one_line_each or not _TARGET.fullmatch(request.target) or not _may_be_sent(names):
        raise InternalError(f"a request to {host} would not stay one request to its base")
    return b"%b\r\n%b" % (head.encode("ascii"), body or b"")


@lru_cache(maxsize=1024)
def _may_be_sent(names: tuple[str, ...]) -> bool:
    """Whether a request may have headers with these names: most requests have the same."""
    # Cookies frame nothing. Contracts may not set them, but imported documents declare some.
    return not any(map(header_refusal, {name.lower() for name in names} - {"cookie"}))
