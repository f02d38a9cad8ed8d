"""Reads the operator's settings for one source of webhooks, as its contract declares them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any, Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.bounds.addresses import Network
from gateway.contract.webhook import MAX_TENANT, TENANT_END, Profile, WebhookSource
from gateway.errors import ConfigurationError
from gateway.settings.sources import EVERY_SETTING, Name, Secret, Sources, webhook_name
from gateway.signatures.scheme import InvalidSecret

_MAX_SECRETS: Final = 10
"""Of a profile or a tenant: the current one, the next one during a rotation, or one for each
endpoint of the vendor. Each forged message costs a check with every secret."""
_MAX_TENANTS: Final = 1_000
_NO_COMMA: Final = "a comma separates secrets, so choose one without it, here and at the sender"
_WHOLE: Final = "copy the whole secret of the sender, or choose a new one, here and at the sender"
_ALLOW: Final = "allow"
RATES: Final = ("rate", "address_rate")
"""The settings of the messages per second: of a source, and of one address before its message is
authenticated."""
_MAX_RATE: Final = 1_000_000


class SourceSettings(Struct, frozen=True, kw_only=True):
    """Configured: the operator's settings for one source of webhooks, with its secrets."""

    provider: str
    secrets: Mapping[str, tuple[Secret, ...]] = {}
    """The secrets by profile. A profile without secrets is closed."""
    tenants: Mapping[str, tuple[str, ...]] = {}
    """The tenant of each secret, for the profiles with tenants."""
    challenge_secrets: Mapping[str, tuple[Secret, ...]] = {}
    """By profile, those that a challenge of the provider may present."""
    networks: tuple[Network, ...] | None = None
    """The networks from which messages are accepted. None accepts all, an empty tuple none."""
    settings: Mapping[str, str] = {}
    """The values of `$settings.<name>` in field maps. Empty ones are left out."""
    rate: int | None = None
    """Authentic messages per second. None: what the contract says."""
    address_rate: int | None = None
    """Messages of one address per second, authentic or not. None: what the contract says."""
    problem: str | None = None
    """The error and its fix, or None. With an error, the gateway does not start."""
    origins: Mapping[str, str] = {}
    """The origin of each member that is set."""


def read_source(sources: Sources, source: WebhookSource) -> SourceSettings:
    """The settings of `source`. Never raises: an error is its `problem`."""
    try:
        _refuse_unknown_keys(sources, source)
        found = {each.name: _secrets(sources, source, each) for each in source.profiles}
        values = _values(sources, source)
        _refuse_unsigned(source, [each for each in source.profiles if found[each.name]], values)
        return SourceSettings(
            provider=source.provider,
            secrets={
                name: tuple(Secret(text) for _, text in pairs)
                for name, pairs in found.items()
                if pairs
            },
            tenants={
                each.name: tuple(tenant for tenant, _ in found[each.name])
                for each in source.profiles
                if each.tenant is not None
            },
            challenge_secrets=_challenge_secrets(sources, source),
            networks=_networks(sources, source),
            settings=values,
            rate=_rate(sources, source, "rate"),
            address_rate=_rate(sources, source, "address_rate"),
            origins=dict(_origins(sources, source)),
        )
    except ConfigurationError as error:
        return SourceSettings(
            provider=source.provider,
            problem=error.detail,
            origins=dict(_origins(sources, source)),
        )


def secrets_name(provider: str, profile: str) -> Name:
    """The name of the setting with the secrets of a profile."""
    return webhook_name(provider, f"{profile}_secrets")


def challenge_name(provider: str, profile: str) -> Name:
    """The name of the setting with the secret of a profile's challenge."""
    return webhook_name(provider, f"{profile}_challenge_secret")


def _secret_keys(source: WebhookSource) -> list[str]:
    """The last parts of the names of its secret settings."""
    keys = [f"{profile.name}_secrets" for profile in source.profiles]
    return keys + [f"{each.name}_challenge_secret" for each in _challenging(source)]


def _challenging(source: WebhookSource) -> Iterator[Profile]:
    """The profiles whose challenges present a secret."""
    for profile in source.profiles:
        if profile.challenge is not None and profile.challenge.secret is not None:
            yield profile


def source_names(source: WebhookSource) -> dict[str, Name]:
    """The names of all settings of `source`, by their last parts."""
    keys = _secret_keys(source)
    keys += [_ALLOW, *RATES, *(setting.name for setting in source.settings)]
    return {key: webhook_name(source.provider, key) for key in keys}


def source_variables(source: WebhookSource) -> frozenset[str]:
    """All variables of the settings of `source`."""
    secret = [webhook_name(source.provider, key) for key in _secret_keys(source)]
    names = (*source_names(source).values(), *(name.of_file() for name in secret))
    return frozenset(name.variable for name in names)


def _secrets(sources: Sources, source: WebhookSource, profile: Profile) -> list[tuple[str, str]]:
    """Tenants and secrets. The tenant is empty for a profile without tenants."""
    found = sources.find_secret(secrets_name(source.provider, profile.name))
    if found is None:
        return []
    secret, origin = found
    texts = [text.strip() for text in secret.reveal().split(",")]
    if profile.tenant is None:
        pairs = [("", text) for text in texts]
    else:
        pairs = [_of_tenant(text, origin) for text in texts]
    _refuse_many(pairs, origin)
    for _, text in pairs:
        try:
            profile.authentication.key_of(text)
        except InvalidSecret as error:
            whole = secret.reveal().strip()
            fix = _NO_COMMA if len(texts) > 1 and _is_key(profile, whole) else _WHOLE
            raise ConfigurationError(f"{origin}: each secret {error}; {fix}") from None
    return pairs


def _of_tenant(text: str, origin: str) -> tuple[str, str]:
    name, separator, secret = text.partition("=")
    tenant = name.strip()
    if not separator or not tenant:
        raise ConfigurationError(
            f"{origin}: write each secret as <tenant>=<secret>, separated by commas; the contract"
            " says where a message names its tenant"
        )
    if not tenant.isprintable() or len(tenant) > MAX_TENANT or TENANT_END in tenant:
        raise ConfigurationError(
            f"{origin}: a tenant's name is 1 to {MAX_TENANT} printable characters without"
            f" {TENANT_END}, which ends it in ids of messages; choose another one, here and at the"
            " sender"
        )
    return tenant, secret.strip()


def _refuse_many(pairs: list[tuple[str, str]], origin: str) -> None:
    counts = Counter(tenant for tenant, _ in pairs)
    if len(counts) > _MAX_TENANTS:
        raise ConfigurationError(
            f"{origin}: has {amount(len(counts), 'tenant')}; keep at most {_MAX_TENANTS}"
        )
    tenant, most = counts.most_common(1)[0]
    if most > _MAX_SECRETS:
        of_whom = f" of {tenant}" if tenant else ""
        raise ConfigurationError(
            f"{origin}: contains {amount(most, 'secret')}{of_whom}; keep at most {_MAX_SECRETS}"
        )


def _challenge_secrets(sources: Sources, source: WebhookSource) -> dict[str, tuple[Secret, ...]]:
    found = {}
    for profile in _challenging(source):
        given = sources.find_secret(challenge_name(source.provider, profile.name))
        if given is not None:
            texts = [text.strip() for text in given[0].reveal().split(",")]
            found[profile.name] = tuple(Secret(text) for text in texts if text)
    return found


def _is_key(profile: Profile, text: str) -> bool:
    try:
        profile.authentication.key_of(text)
    except InvalidSecret:
        return False
    return True


def read_networks(texts: Any, origin: str) -> tuple[Network, ...]:
    """The networks that `texts` name, in CIDR notation. Raises `ConfigurationError`."""
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


def _rate(sources: Sources, source: WebhookSource, key: str) -> int | None:
    given = sources.find(webhook_name(source.provider, key))
    if given is None:
        return None
    value = given.value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value):
        value = int(value)
    if type(value) is not int or not 1 <= value <= _MAX_RATE:
        raise ConfigurationError(f"{given.origin}: must be a whole number from 1 to {_MAX_RATE}")
    return value


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


def _refuse_unsigned(
    source: WebhookSource, profiles: Sequence[Profile], values: Mapping[str, str]
) -> None:
    """Refuse an open profile whose sender signs a setting that is not set: it would be deaf."""
    for profile in profiles:
        for name in sorted(profile.authentication.signed_settings - values.keys()):
            raise ConfigurationError(unsigned(source, name))


def unsigned(source: WebhookSource, name: str) -> str:
    """The error of a setting that senders sign and that is not set, with its fix."""
    meaning = next((each.description for each in source.settings if each.name == name), "")
    return (
        f"{source.provider} signs a setting that is not set; set"
        f" {webhook_name(source.provider, name).variable}: {meaning}"
    )


def _refuse_unknown_keys(sources: Sources, source: WebhookSource) -> None:
    known = source_names(source)
    files = {f"{key}_file" for key in _secret_keys(source)}
    table = ("webhooks", source.provider)
    sources.refuse_unknown(table, known.keys() | files, "a setting", EVERY_SETTING)


def _origins(sources: Sources, source: WebhookSource) -> Iterator[tuple[str, str]]:
    for key, name in source_names(source).items():
        given = sources.find(name)
        if given is None and key in _secret_keys(source):
            given = sources.find(name.of_file())
        if given is not None:
            yield key, given.origin
