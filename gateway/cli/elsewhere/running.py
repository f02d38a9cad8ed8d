"""The gateway that a command asks: that of --url, or the one that serves this project's data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
from msgspec import Struct

from gateway.app.processes.record import running_processes
from gateway.auth.keys import BOOTSTRAP_FILE
from gateway.cli.elsewhere.options import checked_url, key_file_option, remote_key
from gateway.cli.options import settings_of, settings_options
from gateway.errors import ConfigurationError
from gateway.settings import Settings

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
