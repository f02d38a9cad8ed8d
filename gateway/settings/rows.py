"""Settings as rows of a table, for `gateway config`."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.settings.declared import SETTINGS, text_of
from gateway.settings.fields import Fields
from gateway.settings.secret import MASK
from gateway.settings.sources import Name, backend_name, upstream_name, webhook_name
from gateway.settings.upstreams import UpstreamSettings
from gateway.settings.webhooks import RATES, SourceSettings

DEFAULT: Final = "default"
_MEANING_OF_SECRETS: Final = (
    "Secrets of the profile `{}`: one, or two during a rotation. Without one, it is closed."
)


class SettingRow(Struct, frozen=True, kw_only=True):
    """One setting with its current value. Secrets are masked."""

    name: str
    """Its key in `gateway.toml`."""
    variable: str
    value: str
    origin: str
    """The variable, the file and key, or the flag that set the value, or `default`."""
    description: str
    default: str


def own_rows(fields: Fields, origins: Mapping[str, str]) -> Iterator[SettingRow]:
    """The rows of the gateway's own settings, in the order of their declaration."""
    for key, setting in SETTINGS.items():
        yield SettingRow(
            name=key,
            variable=setting.name.variable,
            value=text_of(getattr(fields, key)),
            origin=origins.get(key, DEFAULT),
            description=setting.description,
            default=setting.default_text,
        )


def upstream_rows(upstream: Upstream, settings: UpstreamSettings) -> Iterator[SettingRow]:
    """The rows of one upstream: its backend, its addresses, its settings and its credentials.

    The addresses are those of the contract if none are set, also while a mock answers.
    """
    reason = settings.problem or settings.reason
    origin = settings.origins.get("backend")
    yield _row(backend_name(upstream.name), settings.backend, origin, reason)
    yield _row(
        upstream_name(upstream.name, "base_url"),
        settings.base_url or upstream.base_url or "",
        settings.origins.get("base_url"),
        f"Base URL of {upstream.title}.",
        upstream.base_url or "",
    )
    if upstream.tokens:
        yield _row(
            upstream_name(upstream.name, "token_url"),
            settings.token_url or upstream.tokens[0].url,
            settings.origins.get("token_url"),
            f"Address at which {upstream.title} issues access tokens.",
            upstream.tokens[0].url,
        )
    for plain in upstream.settings:
        yield _row(
            upstream_name(upstream.name, plain.name),
            settings.settings.get(plain.name, ""),
            settings.origins.get(plain.name),
            plain.description,
            plain.default or "",
        )
    for rule in upstream.credentials:
        origin = settings.origins.get(rule.name)
        name = upstream_name(upstream.name, rule.name)
        yield _row(name, MASK if origin else "", origin, rule.description)


def webhook_rows(source: WebhookSource, settings: SourceSettings) -> Iterator[SettingRow]:
    """The rows of one source of webhooks: secrets of profiles, networks, and settings."""
    for key, (description, default) in _webhook_meanings(source).items():
        origin = settings.origins.get(key)
        is_secret = key.endswith("_secrets")
        value = MASK if is_secret and origin else settings.settings.get(key, "")
        if key == "allow":
            value = ", ".join(map(str, settings.networks or ()))
        if key in RATES:
            value = str(getattr(settings, key) or "")
        text = settings.problem if settings.problem and origin else description
        yield _row(webhook_name(source.provider, key), value, origin, text, default)


def _webhook_meanings(source: WebhookSource) -> dict[str, tuple[str, str]]:
    secrets = {
        f"{profile.name}_secrets": (_MEANING_OF_SECRETS.format(profile.name), "")
        for profile in source.profiles
    }
    allow = "Networks from which its messages are accepted. Without it, all networks."
    plain = {setting.name: (setting.description, setting.default) for setting in source.settings}
    burst = "a second, after ten times as many at once."
    own, one = source.rate_of_source, source.rate_of_address
    of_address = f"Maximum number of messages of one address, authentic or not, {burst}"
    rates = {
        "rate": (f"Maximum number of its authentic messages {burst}", f"{own.per_second:g}"),
        "address_rate": (of_address, f"{one.per_second:g}"),
    }
    return {**secrets, "allow": (allow, ""), **rates, **plain}


def _row(
    name: Name, value: str, origin: str | None, description: str, default: str = ""
) -> SettingRow:
    return SettingRow(
        name=str(name),
        variable=name.variable,
        value=value,
        origin=origin or DEFAULT,
        description=description,
        default=default,
    )
