"""The gateway that a command asks, here or elsewhere, and one call of it over REST."""

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import click
import httpx2
import msgspec
from msgspec import Struct, field

from gateway.amounts import amount
from gateway.app.processes.record import running_processes
from gateway.auth.keys import BOOTSTRAP_FILE
from gateway.cli.options import (
    checked_url,
    key_file_option,
    remote_key,
    settings_of,
    settings_options,
)
from gateway.cli.output import print_json
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import named
from gateway.contract.values import jsontext
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.transports.bridge.remote import client_options
from gateway.transports.http.problem_kinds import ADVICE

# The gateway that a command asks: that of --url, or the one that serves this project's data.

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ANY: dict[str | None, str] = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - it is compared


class RunningTarget(Struct, frozen=True):
    """A running gateway, and the key that it is shown."""

    url: str
    key: str | None


def running_options(command: _Command) -> _Command:
    """`--url`, `--key-file` and the data folder in which a running gateway is looked for."""
    url = click.option(
        "--url", help="URL of the gateway.  [default: the one that serves the data folder]"
    )
    return url(key_file_option(settings_options("data")(command)))


def target_of(flags: dict[str, Any]) -> RunningTarget:
    """The gateway of these options, which are taken out of `flags`.

    A gateway on this machine is shown the administrator's key of its data folder, unless another
    key is set. Raises `ConfigurationError` if no gateway is named and none runs.
    """
    url, key_file = flags.pop("url"), flags.pop("key_file")
    settings = settings_of(flags)
    key = remote_key(settings, key_file)
    if url is not None:
        return RunningTarget(checked_url(url), key)
    return RunningTarget(_url_here(settings), key or _own_key(settings.data))


def _url_here(settings: Settings) -> str:
    here = [each for each in running_processes(settings.data) if each.is_here]
    if not here:
        raise ConfigurationError(
            f"no gateway serves {settings.data} on this machine; name one with --url, or its folder"
            " with --data"
        )
    parts = urlsplit(here[0].url)
    host = _ANY.get(parts.hostname)
    return here[0].url if host is None else f"{parts.scheme}://{host}:{parts.port}"


def _own_key(data: Path) -> str | None:
    try:
        return (data / BOOTSTRAP_FILE).read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


# A remote gateway: one call over REST.

JSON_HEADERS: Final = {"content-type": "application/json", "accept": "application/json"}
_TIMEOUT: Final = httpx2.Timeout(10.0, read=300.0)
_JOB_PATH: Final = re.compile(r"/v1/jobs/([0-9a-f-]{1,64})")


class RemoteAnswer(Struct, frozen=True, kw_only=True):
    """The outcome of a call: a result or a problem, as JSON text."""

    is_result: bool
    text: bytes
    job_id: str | None = None
    """The job that the call became. Then `text` is that job."""
    mocked: str = ""
    """The upstreams for which a mock answered while another one was live."""
    left_out: int = 0
    """How many rows the result lacks."""


class _Mcp(Struct):
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


class _Operation(Struct):
    mcp: _Mcp | None = field(name="x-mcp", default=None)
    """None if the operation is not a tool, for example a webhook."""


class _PathItem(Struct):
    post: _Operation | None = None
    get: dict[str, Any] | None = None
    """Not of a tool, for example a job."""

    def __post_init__(self) -> None:
        if self.post is None and self.get is None:
            raise ValueError("a path without an operation")


class _Document(Struct):
    """The names of tools in a gateway's OpenAPI document."""

    paths: dict[str, _PathItem]


def ask_remote(
    url: str, key: str | None, operation: str, arguments: bytes, idempotency_key: str | None = None
) -> RemoteAnswer:
    """Call `operation`, an operation id or an MCP name, at the gateway at `url`.

    Raises `ConfigurationError` if no gateway responds at `url`, and `UnknownOperation` if its
    document has no such MCP name.
    """
    base = checked_url(url)
    repeatable = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
    with remote_client(base, key) as client:
        if "." in operation:
            connector, _, tool = (_quoted(part) for part in operation.partition("."))
            route = f"/v1/{connector}/{tool}"
        else:
            route = named(_routes(ask_once(client, base, "GET", "/openapi.json")), operation)
        return ask_once(client, base, "POST", route, arguments, repeatable)


def remote_client(url: str, key: str | None) -> httpx2.Client:
    """A client of the gateway at `url` that shows `key`. Raises `ConfigurationError`."""
    client = httpx2.Client(**client_options(checked_url(url), key), timeout=_TIMEOUT)
    client.headers.update(JSON_HEADERS)
    return client


def print_answer(answer: RemoteAnswer) -> int:
    """Print the result; or print the problem, with a summary on standard error.

    What the gateway says beside a result goes there too. Returns the exit code.
    """
    value = jsontext.decode(answer.text)
    print_json(value)
    if answer.mocked:
        click.echo(plain(f"note: made up: a mock answered for {answer.mocked}"), err=True)
    if answer.left_out:
        rows = amount(answer.left_out, "row")
        click.echo(f"note: the result lacks {rows} of the upstream's reply", err=True)
    if answer.is_result:
        return OK
    click.echo(plain(f"error: {value.get('code')}: {value.get('detail')}"), err=True)
    if advice := ADVICE.get(str(value.get("type"))):
        click.echo(f"fix: {advice}", err=True)
    return FINDINGS


def _quoted(part: str) -> str:
    return quote(part, safe="", errors="surrogateescape")


def ask_once(
    client: httpx2.Client,
    base: str,
    method: str,
    path: str,
    content: bytes | None = None,
    headers: Mapping[str, str] = {},
) -> RemoteAnswer:
    """The response. Raises `ConfigurationError` if it is not that of a gateway."""
    try:
        reply = client.request(method, f"{base}{path}", content=content, headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise no_answer(base, error) from None
    return answer_of(base, reply)


def answer_of(base: str, reply: httpx2.Response) -> RemoteAnswer:
    """The response that was read. Raises `ConfigurationError` if it is not that of a gateway."""
    try:
        is_gateway = isinstance(jsontext.decode(reply.content), dict)
    except jsontext.NotJson:
        is_gateway = False
    if not is_gateway:
        raise no_gateway(base)
    is_job = reply.status_code == HTTPStatus.ACCEPTED
    job = _JOB_PATH.fullmatch(reply.headers.get("location", "")) if is_job else None
    job_id = None if job is None else job[1]
    left_out = reply.headers.get("gateway-left-out", "")[:9]
    return RemoteAnswer(
        is_result=reply.is_success,
        text=reply.content,
        job_id=job_id,
        mocked=reply.headers.get("gateway-mocked", ""),
        left_out=int(left_out) if left_out.isascii() and left_out.isdigit() else 0,
    )


def no_answer(base: str, error: Exception) -> ConfigurationError:
    """The error that nothing answers at `base`."""
    reason = type(error).__name__
    return ConfigurationError(
        f"{base} did not answer ({reason}); start the gateway there, or correct --url"
    )


def no_gateway(base: str) -> ConfigurationError:
    """The error that `base` is not a gateway."""
    return ConfigurationError(f"{base} did not answer as a gateway; correct --url")


def _routes(document: RemoteAnswer) -> dict[str, str]:
    """The routes by MCP name and alias, from a gateway's OpenAPI document."""
    try:
        paths = msgspec.json.decode(document.text, type=_Document).paths
    except msgspec.ValidationError:
        raise ConfigurationError(
            "--url has no OpenAPI document of a gateway; call the tool by its operation id"
        ) from None
    tools = ((path, item.post.mcp) for path, item in paths.items() if item.post is not None)
    return {name: path for path, mcp in tools if mcp is not None for name in mcp.names}
