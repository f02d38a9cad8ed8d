"""What the operator says of one source of webhooks, read against what its contract asks for."""

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Final, TypeAlias

from msgspec import Struct

from gateway.contract.webhook import Profile, WebhookSource
from gateway.errors import ConfigurationError
from gateway.settings.secret import Secret
from gateway.settings.sources import EVERY_SETTING, Name, Sources, webhook_name
from gateway.signatures.secret_rules import InvalidSecret

Network: TypeAlias = IPv4Network | IPv6Network
_MAX_SECRETS: Final = 2
"""The one and, during a rotation, the next: each more would cost every forged message an HMAC."""
_ALLOW: Final = "allow"


class SourceSettings(Struct, frozen=True, kw_only=True):
    """Who may send as one source."""

    provider: str
    secrets: Mapping[str, tuple[Secret, ...]] = {}
    """By profile; one without secrets is closed."""
    networks: tuple[Network, ...] | None = None
    """Where messages may come from; None is everywhere, and none at all is nowhere."""
    settings: Mapping[str, str] = {}
    """What field maps read as `$settings.<name>`; texts that are empty are left out."""
    problem: str | None = None
    """What is misconfigured and how to fix it. The gateway does not serve with one."""
    origins: Mapping[str, str] = {}
    """Where each member that is given came from."""


def read_source(sources: Sources, source: WebhookSource) -> SourceSettings:
    """The settings of `source`. Never raises: what is wrong is its `problem`."""
    try:
        _refuse_unknown_keys(sources, source)
        secrets = {profile.name: _secrets(sources, source, profile) for profile in source.profiles}
        return SourceSettings(
            provider=source.provider,
            secrets={name: found for name, found in secrets.items() if found},
            networks=_networks(sources, source),
            settings=_values(sources, source),
            origins=dict(_origins(sources, source)),
        )
    except ConfigurationError as error:
        return SourceSettings(
            provider=source.provider,
            problem=error.detail,
            origins=dict(_origins(sources, source)),
        )


def secrets_name(provider: str, profile: str) -> Name:
    """The name of the setting that holds the live secrets of a profile."""
    return webhook_name(provider, f"{profile}_secrets")


def source_names(source: WebhookSource) -> dict[str, Name]:
    """Every setting of `source`, by the last part of its name."""
    keys = [f"{profile.name}_secrets" for profile in source.profiles]
    keys += [_ALLOW, *(setting.name for setting in source.settings)]
    return {key: webhook_name(source.provider, key) for key in keys}


def source_variables(source: WebhookSource) -> frozenset[str]:
    """Every variable that says something of `source`."""
    secret = [secrets_name(source.provider, profile.name) for profile in source.profiles]
    names = (*source_names(source).values(), *(name.of_file() for name in secret))
    return frozenset(name.variable for name in names)


def _secrets(sources: Sources, source: WebhookSource, profile: Profile) -> tuple[Secret, ...]:
    found = sources.find_secret(secrets_name(source.provider, profile.name))
    if found is None:
        return ()
    secret, origin = found
    texts = [text.strip() for text in secret.reveal().split(",")]
    if len(texts) > _MAX_SECRETS:
        raise ConfigurationError(
            f"{origin}: holds {len(texts)} secrets; keep the current one and, while the sender"
            " changes it, the next"
        )
    for text in texts:
        try:
            profile.proof.key_of(text)
        except InvalidSecret as error:
            raise ConfigurationError(
                f"{origin}: each secret {error}; a comma separates two, so none can hold one"
            ) from None
    return tuple(map(Secret, texts))


def read_networks(texts: Any, origin: str) -> tuple[Network, ...]:
    """The networks that `texts` name in CIDR notation. Raises `ConfigurationError`."""
    try:
        return tuple(ip_network(text) for text in texts)
    except (ValueError, TypeError):
        raise ConfigurationError(
            f"{origin}: must be networks such as 192.0.2.0/24, separated by commas; a network has"
            " no host bits"
        ) from None


def _networks(sources: Sources, source: WebhookSource) -> tuple[Network, ...] | None:
    given = sources.find(webhook_name(source.provider, _ALLOW))
    if given is None:
        return None
    value = given.value
    texts = [text.strip() for text in value.split(",")] if isinstance(value, str) else value
    return read_networks(texts, given.origin)


def _values(sources: Sources, source: WebhookSource) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting in source.settings:
        given = sources.find(webhook_name(source.provider, setting.name))
        value = setting.default if given is None else given.value
        if given is not None and (
            not isinstance(value, str) or (value and not re.fullmatch(setting.pattern, value))
        ):
            raise ConfigurationError(f"{given.origin}: must match {setting.pattern}")
        if value:
            values[setting.name] = value
    return values


def _refuse_unknown_keys(sources: Sources, source: WebhookSource) -> None:
    known = source_names(source)
    files = {f"{key}_file" for key in known if key.endswith("_secrets")}
    table = ("webhooks", source.provider)
    sources.refuse_unknown(table, known.keys() | files, "a setting", EVERY_SETTING)


def _origins(sources: Sources, source: WebhookSource) -> Iterator[tuple[str, str]]:
    for key, name in source_names(source).items():
        given = sources.find(name)
        if given is None and key.endswith("_secrets"):
            given = sources.find(name.of_file())
        if given is not None:
            yield key, given.origin
