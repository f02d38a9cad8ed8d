"""Reads the three sources into one `Settings`, or reports all their errors."""

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.errors import ConfigurationError
from gateway.settings.declared import SETTINGS, Setting
from gateway.settings.gathering import read_all
from gateway.settings.settings import Settings
from gateway.settings.sources import (
    EVERY_SETTING,
    PREFIX,
    TOML_VARIABLE,
    SettingsSource,
    Sources,
    SourceValue,
)

TOML_FILE: Final = Path("gateway.toml")
_SERVICE_LINKS: Final = ("tcp://", "udp://", "sctp://")
"""How the values begin that Kubernetes gives to `<SERVICE>_PORT` in each pod of a namespace."""
_TABLES: Final = ("upstreams", "webhooks")
"""The tables whose settings are declared by contracts."""


def find_toml(environ: Mapping[str, str]) -> Path | None:
    """The file that `GATEWAY_CONFIG` names, else `gateway.toml` in the working folder, or None."""
    named = environ.get(TOML_VARIABLE)
    if named:
        return Path(named)
    return TOML_FILE if TOML_FILE.exists() else None


def read_settings(
    environ: Mapping[str, str], toml_path: Path | None, flags: Mapping[str, Any]
) -> Settings:
    """Read all settings. Flags that are None or (), and empty variables, count as not set.

    Raises `ConfigurationError`, which lists each wrong setting with its origin, the finding and the
    fix, but never the value.
    """
    sources = Sources(
        variables={name: text for name, text in environ.items() if name.startswith(PREFIX)},
        toml=_read_toml(toml_path),
        toml_path=toml_path,
        flags=flags,
    )
    _refuse_unknown_keys(sources)
    read = read_all({key: partial(_read, each, sources) for key, each in SETTINGS.items()})
    given = {key: found for key, found in read.items() if found is not None}
    return Settings(
        sources=sources,
        origins={key: origin for key, (_, origin) in given.items()},
        **{key: value for key, (value, _) in given.items()},
    )


def _read(setting: Setting, sources: Sources) -> tuple[Any, str] | None:
    if not setting.is_secret:
        given = sources.find(setting.name)
        return None if given is None else (_convert(given, setting), given.origin)
    found = sources.find_secret(setting.name)
    if found and not setting.admits(found[0].reveal()):
        raise ConfigurationError(f"{found[1]}: must be {setting.rule}")
    return found


def _convert(given: SourceValue, setting: Setting) -> Any:
    value = given.value
    is_text = given.source is SettingsSource.VARIABLE
    if isinstance(setting.default, tuple) and given.source is not SettingsSource.TOML:
        texts = (value,) if is_text else value
        parts = (part.strip() for text in texts for part in text.split(","))
        value = [part for part in parts if part]
    try:
        return msgspec.convert(value, setting.type, strict=not is_text, dec_hook=_path)
    except msgspec.ValidationError:
        if is_text and setting.key == "port" and value.startswith(_SERVICE_LINKS):
            raise ConfigurationError(
                f"{given.origin}: must be {setting.rule}, but Kubernetes sets it to an address for"
                " a service named gateway; set `enableServiceLinks: false` in the pod, or give the"
                " service another name"
            ) from None
        default = f"; the default is {setting.default_text}" if setting.default_text else ""
        raise ConfigurationError(f"{given.origin}: must be {setting.rule}{default}") from None


def _path(kind: type, value: object) -> object:
    text = str(value) if isinstance(value, str | Path) else ""
    if kind is Path and text and "\0" not in text:
        return Path(text)
    raise msgspec.ValidationError


def _read_toml(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror}); name a readable file"
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: is not valid TOML: {error}") from None


def _refuse_unknown_keys(sources: Sources) -> None:
    known = {
        *SETTINGS,
        *(f"{key}_file" for key, setting in SETTINGS.items() if setting.is_secret),
        *_TABLES,
    }
    sources.refuse_unknown((), known, "a setting", EVERY_SETTING)
    for name in _TABLES:
        tables = sources.toml.get(name, {})
        if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
            raise ConfigurationError(
                f"{sources.toml_path}: {name} must hold tables; write [{name}.<name>]"
            )
