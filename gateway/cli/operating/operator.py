"""The operator's client for commands: REST, to this process or to a remote gateway."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

import click
import httpx2

from gateway.app import Gateway
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.options import (
    OPENING,
    checked_url,
    json_option,
    refuse_mixed,
    remote_key,
    remote_options,
    settings_of,
    settings_options,
    work_policy,
)
from gateway.cli.problems import Refused
from gateway.cli.remote import JSON_HEADERS
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.values import jsontext
from gateway.errors import ConfigurationError
from gateway.transports.bridge.remote import client_options
from gateway.transports.http.problem_kinds import ADVICE

# Values of options: times and JSON objects.

_AGO: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class _Moment(click.ParamType[str, str]):
    """A time, or a duration before now."""

    name = "moment"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The time in RFC 3339. Raises `click.BadParameter` for anything else."""
        try:
            return rfc3339(_moment(value))
        except (ValueError, OverflowError):
            # Also for a time outside the range of `datetime`.
            self.fail("write it as 15m, 2h, 7d or 2026-11-20T12:00:00Z", param, ctx)


def _moment(text: str) -> datetime:
    if ago := _AGO.fullmatch(text):
        return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _JsonObject(click.ParamType[dict[str, Any], str]):
    """A JSON object, or - for one on standard input. With `is_file`, a file takes its place."""

    name = "json"

    def __init__(self, *, is_file: bool = False) -> None:
        self._is_file = is_file

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        """The object. Raises `click.BadParameter` for anything else."""
        try:
            # The raw bytes: the strict decoder checks that they are UTF-8.
            raw = (
                sys.stdin.buffer.read()
                if value == "-"
                else Path(value).read_bytes()
                if self._is_file
                else value.encode(errors="surrogateescape")
            )
        except OSError as error:
            self.fail(f"{value} cannot be read: {error.strerror}", param, ctx)
        try:
            found = jsontext.decode(raw)
        except jsontext.NotJson as error:
            self.fail(str(error), param, ctx)
        if not isinstance(found, dict):
            self.fail("write a JSON object", param, ctx)
        return found


MOMENT: Final = _Moment()
JSON_OBJECT: Final = _JsonObject()
JSON_FILE: Final = _JsonObject(is_file=True)


# The operator's client for commands: REST, to this process or to a remote gateway.

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Result = TypeVar("_Result")
_HERE: Final = "http://localhost"
_TIMEOUT: Final = httpx2.Timeout(10.0, read=60.0)


class OperatorClient:
    """A client for one gateway, with the operator's key."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] = {}, body: Any = None
    ) -> Any:
        """The JSON response. Raises `Refused`, and `ConfigurationError` if no gateway responds.

        Raises `click.UsageError` for arguments that a request cannot contain.
        """
        params = {name: str(value) for name, value in query.items() if value is not None}
        try:
            content = None if body is None else jsontext.encode(body)
            reply = await self._client.request(method, path, params=params, content=content)
        except UnicodeEncodeError:
            raise click.UsageError("the options contain text that is not UTF-8") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ConfigurationError(
                f"{self._client.base_url} did not answer ({type(error).__name__}); start the "
                "gateway there, or correct --url"
            ) from None
        try:
            value = jsontext.decode(reply.content) if reply.content else None
        except jsontext.NotJson:
            raise ConfigurationError(
                f"{self._client.base_url} did not answer as a gateway; correct --url"
            ) from None
        if not reply.is_success:
            problem = value if isinstance(value, dict) else {}
            raise Refused(problem, ADVICE.get(str(problem.get("type")), ""))
        return value

    async def pages(
        self, path: str, query: Mapping[str, Any], limit: int | None
    ) -> AsyncIterator[dict[str, Any]]:
        """The items of every page, up to `limit` of them."""
        after: str | None = None
        left = limit
        while left is None or left > 0:
            size = 200 if left is None else min(left, 200)
            page = await self.ask("GET", path, query={**query, "limit": size, "after": after})
            for item in page["items"]:
                yield item
            after = page["next"]
            if after is None:
                return
            left = None if left is None else left - len(page["items"])


class _Id(click.ParamType[str, str]):
    """The id of a resource of the gateway: one segment of its path."""

    name = "id"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The same text. Raises `click.BadParameter` for a text that would be another path."""
        if not value.isprintable() or not value.strip(". ") or "/" in value:
            self.fail("this is not an id; see the list command for ids", param, ctx)
        return value


ID: Final = _Id()


def segment(text: str) -> str:
    """`text` as one segment of a path."""
    return quote(text, safe="")


def operator_options(command: _Command) -> _Command:
    """`--url`, `--key-file`, `--json` and the settings of a gateway in this process."""
    return remote_options(settings_options(*OPENING)(json_option(command)))


def run_operator(
    flags: Mapping[str, Any], ask: Callable[[OperatorClient], Coroutine[Any, Any, _Result]]
) -> _Result:
    """Run `ask` with the gateway of --url or, without --url, with one on the local database."""
    options = dict(flags)
    url, key_file = options.pop("url"), options.pop("key_file")
    refuse_mixed(url, key_file, {})
    return asyncio.run(_run(options, url, key_file, ask))


async def _run(
    flags: dict[str, Any],
    url: str | None,
    key_file: Path | None,
    ask: Callable[[OperatorClient], Coroutine[Any, Any, _Result]],
) -> _Result:
    settings = settings_of(flags)
    if url is None:
        catalogue = start_logs(settings, is_quiet=True)
        gateway = Gateway.open(settings)
        gateway.set_work_policy(work_policy())
        gateway.set_catalogue(catalogue)
        async with gateway:
            report_new_key(gateway.parts.new_key, settings)
            app: Any = gateway.operator_app()
            async with _client(_HERE, None, httpx2.ASGITransport(app)) as client:
                return await ask(OperatorClient(client))
    async with _client(checked_url(url), remote_key(settings, key_file), None) as client:
        return await ask(OperatorClient(client))


@asynccontextmanager
async def _client(
    base: str, key: str | None, transport: httpx2.AsyncBaseTransport | None
) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        **client_options(base, key), base_url=base, timeout=_TIMEOUT, transport=transport
    ) as client:
        client.headers.update(JSON_HEADERS)
        yield client
