"""Options that name a gateway elsewhere: its URL and its key.

This imports nothing of the server, so that the bridge starts fast.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import click

from gateway.errors import ConfigurationError
from gateway.settings import Settings

_Command = TypeVar("_Command", bound=Callable[..., Any])

key_file_option: Final = click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="File with the key for --url.  [default: GATEWAY_KEY or GATEWAY_KEY_FILE]",
)


def remote_options(command: _Command) -> _Command:
    """`--url` and `--key-file`. The key is not an option: other users can read command lines."""
    url = click.option("--url", help="URL of a remote gateway to use instead of this process.")
    return url(key_file_option(command))


def refuse_mixed(url: str | None, key_file: Path | None, local: Mapping[str, str | None]) -> None:
    """Raise `click.UsageError` for an option that has no effect with --url, or without it.

    `local` has the options that have an effect only in this process.
    """
    if url is None and key_file is not None:
        raise click.UsageError("--key-file requires --url")
    for name, value in local.items():
        if url is not None and value is not None:
            raise click.UsageError(
                f"{name} and --url exclude each other: the key identifies the agent"
            )


def remote_key(settings: Settings, key_file: Path | None) -> str | None:
    """The key for a remote gateway, or None. Raises `ConfigurationError`."""
    if key_file is None:
        return settings.key.reveal() if settings.key else None
    try:
        key = key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError("--key-file cannot be read; name a readable text file") from None
    if not key or not key.isascii() or not key.isprintable():
        raise ConfigurationError("--key-file contains no key; it must contain only the key")
    return key


def checked_url(url: str) -> str:
    """`url` without a trailing slash. Raises `ConfigurationError` if it is not an HTTP URL."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ConfigurationError("--url is not a URL; write it like https://gateway.example.com")
    return url.rstrip("/")
