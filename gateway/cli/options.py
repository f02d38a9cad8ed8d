"""Options that commands share, and the settings that they give."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import click

from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import Settings, find_toml, read_settings
from gateway.settings.declared import SETTINGS, Setting

_Command = TypeVar("_Command", bound=Callable[..., Any])

OPENING: Final = ("data", "package", "log_level")
"""The settings for commands that open the gateway in this process."""
FLAGS: Final = tuple(key for key, setting in SETTINGS.items() if not setting.is_secret)
"""The settings that can be given on the command line: all except secrets."""

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
    toml_path = flags.get("config") or find_toml(os.environ)
    given = {key: flags[key] for key in FLAGS if flags.get(key) not in (None, ())}
    settings = read_settings(os.environ, toml_path, given)
    _make_importable(settings.package, toml_path.parent if toml_path else Path())
    return settings


def work_policy() -> WorkPolicy:
    """The work policy from the program that runs this command."""
    return click.get_current_context().find_object(WorkPolicy) or WORK_POLICY


def _make_importable(package: str, project: Path) -> None:
    """Put the project's own generated package before an installed one on the import path.

    Only in a folder with such a package, so that other folders do not shadow modules.
    """
    folder = project.absolute()
    if (folder / package.partition(".")[0]).is_dir() and str(folder) not in sys.path[:1]:
        sys.path.insert(0, str(folder))


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
