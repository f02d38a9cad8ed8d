"""All settings as one frozen record, read from the three sources, or all their errors."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.bounds.addresses import Network
from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.settings.bounds import LimitFields
from gateway.settings.declared import (
    SETTINGS,
    Setting,
    SettingRow,
    own_rows,
    refuse_shared,
    upstream_rows,
    webhook_rows,
)
from gateway.settings.sources import (
    EVERY_SETTING,
    NOT_DECLARED,
    PREFIX,
    TOML_VARIABLE,
    Secret,
    SettingsSource,
    Sources,
    SourceValue,
    read_all,
)
from gateway.settings.upstreams import UpstreamSettings, is_public, log_secrets, read_upstream
from gateway.settings.webhooks import (
    SourceSettings,
    read_networks,
    read_source,
)

# All settings as one frozen record.

_NO_SOURCES: Final = Sources(variables={}, toml={}, toml_path=None, flags={})


class Settings(LimitFields, frozen=True, kw_only=True):
    """All settings, and the sources of the settings that contracts declare."""

    sources: Sources = _NO_SOURCES
    origins: Mapping[str, str] = {}
    """The origin of each setting that does not have its default."""

    def for_upstream(self, upstream: Upstream) -> UpstreamSettings:
        """The settings of `upstream`. Never raises: errors are in its `problem`."""
        return read_upstream(
            self.sources,
            upstream,
            allow_plain_http=self.allow_plain_http,
            is_exposed=self.environment == "production" or is_public(self.host, self.allowed_hosts),
        )

    def for_upstreams(self, upstreams: Iterable[Upstream]) -> dict[str, UpstreamSettings]:
        """The settings of each upstream, by name.

        Raises `ConfigurationError` if `gateway.toml` names an upstream that does not exist.
        """
        upstreams = tuple(upstreams)
        refuse_shared(upstreams)
        found = {upstream.name: self.for_upstream(upstream) for upstream in upstreams}
        self.sources.refuse_unknown(("upstreams",), found, "an upstream", NOT_DECLARED)
        return found

    def for_webhook(self, source: WebhookSource) -> SourceSettings:
        """The settings of `source`. Never raises: errors are in its `problem`."""
        return read_source(self.sources, source)

    def for_webhooks(self, webhooks: Iterable[WebhookSource]) -> dict[str, SourceSettings]:
        """The settings of each source, by provider.

        Raises `ConfigurationError` if `gateway.toml` names a source that does not exist.
        """
        found = {source.provider: self.for_webhook(source) for source in webhooks}
        self.sources.refuse_unknown(("webhooks",), found, "a source of webhooks", NOT_DECLARED)
        return found

    def proxies(self) -> tuple[Network, ...]:
        """The networks of `trusted_proxies`. Raises `ConfigurationError`."""
        origin = self.origins.get("trusted_proxies", "trusted_proxies")
        return read_networks(self.trusted_proxies, origin)

    def endpoint_networks(self) -> tuple[Network, ...]:
        """The networks of `endpoints_allow`. Raises `ConfigurationError`."""
        origin = self.origins.get("endpoints_allow", "endpoints_allow")
        return read_networks(self.endpoints_allow, origin)

    def describe(
        self, upstreams: Iterable[Upstream] = (), webhooks: Iterable[WebhookSource] = ()
    ) -> list[SettingRow]:
        """All settings with their current values and origins. Secrets are masked."""
        rows = list(own_rows(self, self.origins))
        for upstream in upstreams:
            rows.extend(upstream_rows(upstream, self.for_upstream(upstream)))
        for source in webhooks:
            rows.extend(webhook_rows(source, self.for_webhook(source)))
        return rows

    def secrets(
        self, upstreams: Iterable[Upstream] = (), webhooks: Iterable[WebhookSource] = ()
    ) -> tuple[str, ...]:
        """The texts that logs must not contain."""
        credentials = (s for u in upstreams for s in self.for_upstream(u).credentials.values())
        known = (*self._own_secrets(), *credentials)
        of_webhooks = (text for source in webhooks for text in self._webhook_secrets(source))
        return (*(text for secret in known for text in log_secrets(secret)), *of_webhooks)

    def _webhook_secrets(self, source: WebhookSource) -> Iterator[str]:
        """The secrets of `source`, in every form in which a request may contain them."""
        found = self.for_webhook(source)
        for profile in source.profiles:
            for secret in found.secrets.get(profile.name, ()):
                yield from profile.authentication.spellings(secret.reveal())
        for secrets in found.challenge_secrets.values():
            yield from (secret.reveal() for secret in secrets)

    def _own_secrets(self) -> Iterator[Secret]:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if name == "secrets_key" and value is not None:
                parts = value.reveal().split(",")
                yield from (Secret(each.strip()) for each in parts if each.strip())
            elif isinstance(value, Secret):
                yield value


# Reads the three sources into one `Settings`, or reports all their errors.

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
