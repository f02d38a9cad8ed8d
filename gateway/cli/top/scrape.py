"""The metrics of a gateway at one time."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from math import isfinite
from types import TracebackType
from typing import Final, Self

import httpx2
from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families

from gateway.errors import ConfigurationError
from gateway.transports.bridge.remote import client_options

Labels = tuple[tuple[str, str], ...]
_TIMEOUT_SECONDS: Final = 10.0
_MAX_BYTES: Final = 32 * 2**20
_REFUSING: Final = {401, 403, 404}
"""404 is the answer to agents that may not see metrics."""


class GatewayAway(ConfigurationError):
    """The gateway does not answer now, and may answer later."""


class Scrape(Struct, frozen=True, kw_only=True):
    """The values by name and labels."""

    values: Mapping[str, Mapping[Labels, float]]
    at: float
    """The time, in seconds of a monotonic clock."""

    def sums(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """The values of one metric, added up over all labels but these."""
        found: dict[tuple[str, ...], float] = defaultdict(float)
        for given, value in self.values.get(name, {}).items():
            texts = dict(given)
            found[tuple(texts.get(label, "") for label in labels)] += value
        return found

    def total(self, name: str) -> float:
        """The values of one metric, added up."""
        return sum(self.values.get(name, {}).values())


def parsed(text: str, at: float) -> Scrape:
    """The scrape in the text format of Prometheus. Raises `ValueError` for other texts."""
    values: dict[str, dict[Labels, float]] = defaultdict(dict)
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                float(sample.labels.get("le", 0))
                if isfinite(sample.value):
                    values[sample.name][tuple(sorted(sample.labels.items()))] = sample.value
    except (LookupError, TypeError, AttributeError) as error:
        # The parser expects a text in its format, and fails in its own ways.
        raise ValueError("is not in the text format of Prometheus") from error
    return Scrape(values=values, at=at)


class MetricsReader:
    """Reads `/metrics` of one gateway. Use it as a context manager."""

    def __init__(
        self, url: str, key: str | None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """`url`: of the gateway, without a trailing slash. `key`: of an operator."""
        self._url = url
        self._client = httpx2.AsyncClient(
            **client_options(url, key), timeout=_TIMEOUT_SECONDS, transport=transport
        )
        self._client.headers["accept"] = "text/plain"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def scrape(self) -> Scrape:
        """The metrics now. Raises `GatewayAway` and `ConfigurationError`."""
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                text = await self._text()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            raise GatewayAway(
                f"{self._url} did not answer ({type(error).__name__}); start the gateway there, "
                "or correct --url"
            ) from None
        try:
            found = parsed(text, time.monotonic())
        except ValueError:
            found = None
        if found is None or "gateway_info" not in found.values:
            raise self._strange()
        return found

    async def _text(self) -> str:
        async with self._client.stream("GET", f"{self._url}/metrics") as reply:
            if reply.status_code in _REFUSING:
                raise ConfigurationError(
                    f"{self._url} refused to show its metrics ({reply.status_code}); give the key "
                    "of an agent with the grant gateway.operate with --key-file or GATEWAY_KEY"
                )
            if reply.status_code == httpx2.codes.TOO_MANY_REQUESTS or reply.is_server_error:
                raise GatewayAway(
                    f"{self._url} cannot show its metrics now ({reply.status_code}); try again"
                )
            if not reply.is_success:
                raise self._strange()
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise self._strange()
        return body.decode("utf-8", errors="replace")

    def _strange(self) -> ConfigurationError:
        return ConfigurationError(f"{self._url} did not answer as a gateway; correct --url")
