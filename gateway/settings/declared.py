"""The settings as records, as rows of a table, and by name, for pages, commands and errors."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from gateway.contract import credentials
from gateway.contract.credentials import is_key
from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import nearest
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.failpoints import FAILPOINT_VARIABLES
from gateway.settings.bounds import LimitFields
from gateway.settings.fields import Fields
from gateway.settings.sources import (
    MASK,
    PREFIX,
    TOML_VARIABLE,
    Name,
    Secret,
    backend_name,
    setting_name,
    upstream_name,
    webhook_name,
)
from gateway.settings.upstreams import UpstreamSettings, upstream_variables
from gateway.settings.webhooks import RATES, SourceSettings, source_variables

_PLAIN: Final = {bool: "true or false", Path: "a path", str: "text"}


class Setting(Struct, frozen=True, kw_only=True):
    """One setting."""

    name: Name
    key: str
    """The name of its field in `LimitFields`."""
    type: Any
    rule: str
    """What a value must be, for the text "must be …"."""
    description: str
    default: Any

    @property
    def default_text(self) -> str:
        return text_of(self.default)

    @property
    def is_secret(self) -> bool:
        return Secret in get_args(get_args(self.type)[0])

    def admits(self, secret: str) -> bool:
        """Whether the text of a secret has the required form."""
        pattern = get_args(self.type)[1].pattern
        return is_key(secret) if pattern is None else re.match(pattern, secret) is not None


def text_of(value: object) -> str:
    """A value as text for people. Secrets are masked, and None is empty."""
    match value:
        case None:
            return ""
        case Secret():
            return MASK
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)


def _setting(key: str, annotated: Any, default: Any) -> Setting:
    kind, meta = get_args(annotated)
    return Setting(
        name=setting_name(key),
        key=key,
        type=annotated,
        rule=_rule(kind, meta),
        description=meta.description,
        default=default,
    )


def _rule(kind: Any, meta: Meta) -> str:
    if meta.title is not None:
        return meta.title
    if kind in (int, float):
        number = "a whole number" if kind is int else "a number"
        return f"{number} from {meta.ge} to {meta.le}"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return _PLAIN.get(kind, credentials.RULE)


def _declared() -> dict[str, Setting]:
    hints = get_type_hints(LimitFields, include_extras=True)
    defaults = dict(
        zip(LimitFields.__struct_fields__, LimitFields.__struct_defaults__, strict=True)
    )
    return {key: _setting(key, hints[key], defaults[key]) for key in defaults}


SETTINGS: Final = _declared()


# Finds `GATEWAY_*` variables that are not settings.

_TESTS: Final = (f"{PREFIX}TEST_", f"{PREFIX}TESTS_")
_OTHERWISE: Final = "unset it, or see `gateway config` for all settings"


def unknown_variables(
    environ: Mapping[str, str],
    upstreams: Iterable[Upstream] = (),
    webhooks: Iterable[WebhookSource] = (),
) -> dict[str, str]:
    """Each `GATEWAY_*` variable that nothing reads, with a fix, which names a similar variable."""
    known = _own_variables()
    for upstream in upstreams:
        known |= upstream_variables(upstream)
    for source in webhooks:
        known |= source_variables(source)
    unknown = sorted(
        name
        for name in environ
        if name.startswith(PREFIX) and name not in known and not name.startswith(_TESTS)
    )
    return {name: _fix(name, known) for name in unknown}


def refuse_shared(upstreams: Iterable[Upstream]) -> None:
    """Raise `ConfigurationError` if two settings have the same variable.

    Otherwise one secret would be sent where another belongs: the variable of the credential `key`
    of an upstream `bootstrap` is that of the administrator's key.
    """
    owners = dict.fromkeys(_own_variables(), "the gateway itself")
    for upstream in upstreams:
        for name in _variables_of(upstream):
            if owners.get(name) is not None:
                raise ConfigurationError(
                    f"{name} would be a setting of {upstream.title} and of {owners[name]};"
                    " rename one of the two connectors"
                )
            owners[name] = upstream.title


def _own_variables() -> set[str]:
    known = {TOML_VARIABLE, *FAILPOINT_VARIABLES}
    for setting in SETTINGS.values():
        known.add(setting.name.variable)
        if setting.is_secret:
            known.add(setting.name.of_file().variable)
    return known


def _variables_of(upstream: Upstream) -> Iterator[str]:
    """The variables of `upstream`. One that occurs twice is returned twice."""
    secret = {upstream_name(upstream.name, rule.name).variable for rule in upstream.credentials}
    files = {f"{name}_FILE" for name in secret}
    yield from (secret & files)
    yield from upstream_variables(upstream)


def _fix(name: str, known: Iterable[str]) -> str:
    # With the prefix, all names would be similar.
    found = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
    return _OTHERWISE if found is None else f"did you mean {PREFIX}{found}?"


# Settings as rows of a table, for `gateway config`.

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
