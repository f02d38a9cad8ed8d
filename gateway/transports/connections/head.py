"""The head of an HTTP/1.1 request as RFC 9112 asks for it, where uvicorn reads it otherwise."""

import re
from typing import Final

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.errors import MalformedRequest

_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's connection: other protocols are not taken up, absolute targets are understood."""

    def on_headers_complete(self) -> None:
        """Hand the request on. Raises a `CallerError`, which the parser passes on as context."""
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise MalformedRequest("This gateway is not a proxy.")
            return
        self.check_request()
        if not self.url.startswith(b"/"):
            self._take_authority()
        super().on_headers_complete()
        # What follows the body (RFC 9112 §7.1.2) must not pass for what stood before it.
        self.headers = []
        self.note_request()

    def note_request(self) -> None:
        """Take note of a request that is handed on, and whose body begins."""

    def check_request(self) -> None:
        """Look at a request whose head is complete. Raises a `CallerError` to refuse it."""

    def _should_upgrade(self) -> bool:
        """Whether to leave a request alone that asks for another protocol: `feed` reads it."""
        return True

    def feed(self, data: bytes) -> None:
        """Have `data` parsed; a request to change the protocol is ignored (RFC 9110 §7.8).

        The parser stops before the body of such a request, so the request is given, without its
        Upgrade header, to a new parser.
        """
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
                head = self._head_without_upgrade()
                self.parser = HttpRequestParser(self)
                # As uvicorn does: the answer to a last request stands, whatever follows it.
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
        """Let the authority of an absolute target stand for Host, as RFC 9112 §3.2.2 asks for."""
        target = _ABSOLUTE.fullmatch(self.url)
        if target is None:
            raise MalformedRequest("The request target must be a path.")
        authority, path = target.groups()
        self.url = path if path.startswith(b"/") else b"/" + path
        self.headers[:] = [
            (name, authority if name == b"host" else value) for name, value in self.headers
        ]
