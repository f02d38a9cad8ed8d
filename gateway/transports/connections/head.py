"""Reads the head of an HTTP/1.1 request by RFC 9112, where uvicorn differs from it."""

import re
from typing import Final

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.errors import MalformedRequest

_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's connection, which also ignores protocol upgrades and accepts absolute targets."""

    def on_headers_complete(self) -> None:
        """Pass the request on. Raises a `CallerError`; the parser's error has it as context."""
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise MalformedRequest("This gateway is not a proxy.")
            return
        self.check_request()
        if not self.url.startswith(b"/"):
            self._take_authority()
        super().on_headers_complete()
        # Trailer fields after the body (RFC 9112 §7.1.2) must not be taken for headers.
        self.headers = []
        self.note_request()

    def note_request(self) -> None:
        """Called when a request was passed on and its body begins."""

    def check_request(self) -> None:
        """Called when a head is complete. Raises a `CallerError` to refuse the request."""

    def _should_upgrade(self) -> bool:
        """True, so that uvicorn leaves a request for another protocol to `feed`."""
        return True

    def feed(self, data: bytes) -> None:
        """Parse `data`. A request to change the protocol is ignored (RFC 9110 §7.8).

        The parser stops before the body of such a request. So a new parser gets the request without
        its Upgrade header.
        """
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
                head = self._head_without_upgrade()
                self.parser = HttpRequestParser(self)
                # As uvicorn does: bytes after the last request do not change its answer.
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                self.parser.feed_data(head)
            else:
                return

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)
        fields = [b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade"]
        return b"".join([line, *fields, b"\r\n"])

    def _take_authority(self) -> None:
        """Replace Host by the authority of an absolute target (RFC 9112 §3.2.2)."""
        target = _ABSOLUTE.fullmatch(self.url)
        if target is None:
            raise MalformedRequest("The request target must be a path.")
        authority, path = target.groups()
        self.url = path if path.startswith(b"/") else b"/" + path
        self.headers[:] = [
            (name, authority if name == b"host" else value) for name, value in self.headers
        ]
