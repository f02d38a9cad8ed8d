"""A token endpoint over HTTP."""

import ssl

from gateway.backends.oauth.replies import MAX_TOKEN_REPLY_BYTES
from gateway.contract.upstream import Reply
from gateway.encoding.bodies import FORM
from gateway.errors import InvalidReply, UpstreamUnavailable

_HEADERS = {
    "Content-Type": FORM,
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "contract-gateway",
}


class HttpTokenWire:
    """Posts forms to `url`. Redirects are not followed, and proxies are not used."""

    def __init__(self, url: str, authorization: str | None = None) -> None:
        """`authorization` is the client's, if it is not in the form (RFC 6749 §2.3.1)."""
        self._url = url
        self._headers = _HEADERS | ({"Authorization": authorization} if authorization else {})
        self._trust: ssl.SSLContext | None = None

    async def post(self, form: bytes) -> Reply:
        """See `TokenWire.post`. The caller must limit the time."""
        import httpx  # noqa: PLC0415 - takes a tenth of a second, and only token endpoints need it

        try:
            return await self._post(form)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
            # Without its cause: an error of httpx contains the request, and thus the secrets.
            raise UpstreamUnavailable(
                f"The upstream's token endpoint cannot be reached ({type(error).__name__}).",
                is_sent=False,
            ) from None

    async def _post(self, form: bytes) -> Reply:
        import httpx  # noqa: PLC0415 - as in `post`

        # One context for all posts: to read the system's certificates takes tens of milliseconds.
        self._trust = self._trust or ssl.create_default_context()
        client = httpx.AsyncClient(
            verify=self._trust,
            timeout=None,  # noqa: S113 - the token source limits the time
            follow_redirects=False,
            trust_env=False,
        )
        async with (
            client,
            client.stream("POST", self._url, content=form, headers=self._headers) as response,
        ):
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_TOKEN_REPLY_BYTES:
                    raise InvalidReply("The reply of the upstream's token endpoint is too large.")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Reply(status=response.status_code, headers=headers, body=bytes(body))
