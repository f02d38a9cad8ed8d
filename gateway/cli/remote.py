"""A gateway elsewhere: its address, the key for it, and one call of it over REST."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import click
import httpx
from msgspec import Struct

from gateway.contract import jsontext
from gateway.errors import ConfigurationError
from gateway.settings import Settings

_Command = TypeVar("_Command", bound=Callable[..., Any])
_TIMEOUT: Final = httpx.Timeout(10.0, read=300.0)


class Answer(Struct, frozen=True, kw_only=True):
    """What came of a call: a result, or the problem instead; either as JSON text."""

    is_result: bool
    text: bytes


def remote_options(command: _Command) -> _Command:
    """`--url` and `--key-file`. The key itself is no option: others can read command lines."""
    key_file = click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        help="File that holds the key for --url.  [default: GATEWAY_KEY or GATEWAY_KEY_FILE]",
    )
    url = click.option("--url", help="Address of a remote gateway to use instead of this process.")
    return url(key_file(command))


def remote_key(settings: Settings, key_file: Path | None) -> str | None:
    """The key for a remote gateway, or None. Raises `ConfigurationError`."""
    if key_file is None:
        return settings.key.reveal() if settings.key else None
    try:
        key = key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError("--key-file cannot be read; name a readable text file") from None
    if not key or not key.isascii() or not key.isprintable():
        raise ConfigurationError("--key-file holds no key; it must hold the key alone")
    return key


def checked_url(url: str) -> str:
    """`url` without a trailing slash. Raises `ConfigurationError` when it is not one of HTTP."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ConfigurationError("--url is no address; write it like https://gateway.example.com")
    return url.rstrip("/")


def ask_remote(url: str, key: str | None, operation: str, arguments: bytes) -> Answer:
    """Call `operation` at the gateway at `url`.

    Raises `ConfigurationError` when nothing that could be a gateway answers there.
    """
    base = checked_url(url)
    headers = {"content-type": "application/json", "accept": "application/json"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    path = operation.replace(".", "/", 1)
    try:
        reply = httpx.post(
            f"{base}/v1/{path}", content=arguments, headers=headers, timeout=_TIMEOUT
        )
    except httpx.HTTPError as error:
        reason = type(error).__name__
        raise ConfigurationError(
            f"{base} did not answer ({reason}); start the gateway there, or correct --url"
        ) from None
    try:
        is_gateway = isinstance(jsontext.decode(reply.content), dict)
    except jsontext.NotJson:
        is_gateway = False
    if not is_gateway:
        raise ConfigurationError(f"{base} answered what no gateway answers; correct --url")
    return Answer(is_result=reply.is_success, text=reply.content)
