"""Options that commands share, the settings that they give, and gateways elsewhere."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

import click
from msgspec.structs import replace

from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ConfigurationError
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.library import library_folder
from gateway.settings import Settings, find_toml, read_settings
from gateway.settings.declared import SETTINGS, Setting

# Options that commands share, and the settings that they give.

_Command = TypeVar("_Command", bound=Callable[..., Any])

OPENING: Final = ("data", "package", "log_level")
"""The settings for commands that open the gateway in this process."""
FLAGS: Final = tuple(key for key, setting in SETTINGS.items() if not setting.is_secret)
"""The settings that can be given on the command line: all except secrets."""

DEMO_DATA: Final = Path(".gateway-demo")
"""The data of `gateway demo`. Commands that are given it open the gateway of a demonstration."""
STATE_VARIABLES: Final = ("GATEWAY_DATABASE_URL", "GATEWAY_WORKSPACE_URL", "GATEWAY_REDIS_URL")
"""The variables of a project's state. A demonstration must not change that."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def settings_options(*keys: str) -> Callable[[_Command], _Command]:
    """Options for these settings and for `gateway.toml`; `settings_of` reads them."""

    def decorate(command: _Command) -> _Command:
        for key in reversed(keys):
            command = _option(SETTINGS[key])(command)
        return _config_option(command)

    return decorate


def settings_of(flags: dict[str, Any]) -> Settings:
    """The settings under these options. Raises `ConfigurationError`."""
    data = flags.get("data")
    if data is not None and data.name == DEMO_DATA.name and "schemas" not in flags:
        return demo_settings(flags)
    return settings_from(flags, os.environ, flags.get("config") or find_toml(os.environ))


def demo_settings(flags: dict[str, Any]) -> Settings:
    """The settings of a demonstration: it serves the library, and takes part in no other state.

    Raises `ConfigurationError`.
    """
    library = {
        "schemas": library_folder() / "schemas",
        "package": "generated",
        "handler_packages": HANDLER_PACKAGES,
    }
    environ = {
        name: text for name, text in os.environ.items() if not name.startswith(STATE_VARIABLES)
    }
    data = flags["data"] or DEMO_DATA
    return settings_from({**flags, **library, "data": data}, environ, flags["config"])


def settings_from(
    flags: dict[str, Any], environ: Mapping[str, str], toml_path: Path | None
) -> Settings:
    """The settings of exactly these sources. Raises `ConfigurationError`."""
    given = {key: flags[key] for key in FLAGS if flags.get(key) not in (None, ())}
    settings = _at_project(read_settings(environ, toml_path, given), toml_path)
    _make_importable(settings)
    return settings


def project_folder(settings: Settings) -> Path:
    """The folder that contains the schemas folder. Its path is relative if that one's is."""
    schemas = settings.schemas
    return schemas.parent if schemas.name not in {"", ".."} else schemas.resolve().parent


def work_policy() -> WorkPolicy:
    """The work policy from the program that runs this command."""
    return click.get_current_context().find_object(WorkPolicy) or WORK_POLICY


def _at_project(settings: Settings, toml_path: Path | None) -> Settings:
    """`settings`, with the schemas folder beside the settings file if none is here or set."""
    if toml_path is None or "schemas" in settings.origins or settings.schemas.is_dir():
        return settings
    beside = toml_path.parent / settings.schemas
    return replace(settings, schemas=beside) if beside.is_dir() else settings


def _make_importable(settings: Settings) -> None:
    """Put the project's own packages before installed ones on the import path.

    Only in a project, so that the modules of other folders do not hide installed ones.
    """
    folder = str(project_folder(settings).absolute())
    if settings.schemas.is_dir() and folder not in sys.path[:1]:
        sys.path.insert(0, folder)


_config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings file.  [default: GATEWAY_CONFIG, else gateway.toml]",
)


def _option(setting: Setting) -> Callable[[_Command], _Command]:
    default = setting.default_text
    shown = f"{setting.description}{f'  [default: {default}]' if default else ''}"
    kind = get_args(setting.type)[0]
    return click.option(
        f"--{setting.key.replace('_', '-')}",
        setting.key,
        type=_click_type(kind),
        multiple=get_origin(kind) is tuple,
        help=shown,
    )


def _click_type(kind: Any) -> Any:
    """The click type of a setting. Ranges are checked later, for all sources together."""
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    return kind if kind in {bool, int, float} else str


# Groups of commands whose help shows the complete first sentence of each command.


class WholeGroup(click.Group):
    """A group that wraps the lines of its command list. click would truncate them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with the first sentence of its help."""
        names = self.list_commands(ctx)
        found = [(name, self.get_command(ctx, name)) for name in names]
        rows = [(name, _sentence(each)) for name, each in found if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _sentence(command: click.Command) -> str:
    # Longer than any help text, so that only the end of the sentence cuts it.
    return command.get_short_help_str(limit=10_000)


# Options that name a gateway elsewhere: its URL and its key.
#
# This imports nothing of the server, so that the bridge starts fast.

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
