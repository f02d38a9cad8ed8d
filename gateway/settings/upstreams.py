"""Reads the operator's settings for one upstream, as its contract declares them."""

import ssl
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from gateway.contract.credentials import NotACertificate, load_client_certificate
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import Upstream
from gateway.contract.values.schema import is_whole_match
from gateway.errors import ConfigurationError
from gateway.settings.addresses import base_url, checked_url, token_url
from gateway.settings.credentials import (
    Credentials,
    read_credentials,
    refuse_incomplete,
    why_mocked,
)
from gateway.settings.gathering import WrongSettings, each_wrong, read_all
from gateway.settings.secret import Secret
from gateway.settings.sources import Name, Sources, SourceValue, backend_name, upstream_name

_TLS: Final = "https://"


def check_slots(
    upstream: Upstream,
    credentials: Credentials,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    *,
    base_url: str,
    allow_plain_http: bool,
) -> None:
    """Check what is set for the slots of a live upstream.

    `settings` and `origins` are the settings that are not secret. Raises `ConfigurationError` for
    credentials that fill no slot or contradict each other, for token endpoints that are missing or
    not safe, and for client certificates that cannot be used.
    """
    checks = {
        slot.name: partial(_check, upstream, slot, credentials, settings, origins, allow_plain_http)
        for slot in upstream.slots
    }
    read_all(checks)
    _check_certificates(upstream, credentials, base_url)


def _check(
    upstream: Upstream,
    slot: CredentialSlot,
    credentials: Credentials,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    allow_plain_http: bool,
) -> None:
    given = [name for name in slot.settings if name in credentials]
    if not given:
        return
    way = slot.way_of(given)
    if way is None:
        raise ConfigurationError(_incomplete(upstream, slot, given))
    if slot.kind == "oauth2" and slot.name not in way:
        _check_url(upstream, slot, settings, origins, allow_plain_http)
    elif len(given) > len(way):
        other = next(name for name in given if name not in way)
        both = f"{credentials[slot.name][1]} and {credentials[other][1]}"
        raise ConfigurationError(f"{both} are both set; keep the access token or the client")


def _incomplete(upstream: Upstream, slot: CredentialSlot, given: Collection[str]) -> str:
    """Names what the way needs that is nearest to complete."""
    begun = [way for way in slot.ways if any(name in given for name in way)]
    missing = min(([name for name in way if name not in given] for way in begun), key=len)
    variables = " and ".join(setting_variable(upstream.name, name) for name in missing)
    set_already = " and ".join(setting_variable(upstream.name, name) for name in given)
    return f"{upstream.title} needs {variables} with {set_already}; set both, or none"


def _check_url(
    upstream: Upstream,
    slot: CredentialSlot,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    allow_plain_http: bool,
) -> None:
    name = slot.token_settings[0]
    variable = setting_variable(upstream.name, name)
    url = settings.get(name)
    if not url:
        raise ConfigurationError(
            f"{upstream.title} needs {variable}, because its document names no URL for tokens; "
            "set it"
        )
    origin = origins.get(name, f"{variable} (from the document)")
    checked_url(url, origin, allow_plain_http=allow_plain_http)


def _check_certificates(upstream: Upstream, credentials: Credentials, base_url: str) -> None:
    found = [
        slot.ways[0]
        for slot in upstream.slots
        if slot.kind == "mutual_tls" and all(name in credentials for name in slot.settings)
    ]
    if not found:
        return
    origins = [credentials[name][1] for way in found for name in way]
    if len(found) > 1:
        which = f"{origins[0]} and {origins[2]}"
        raise ConfigurationError(f"{which} are two certificates for one upstream; keep one")
    if not base_url.startswith(_TLS):
        variable = setting_variable(upstream.name, "base_url")
        raise ConfigurationError(f"{origins[0]}: is used with TLS only; use https in {variable}")
    certificate, key = (credentials[name][0].reveal() for name in found[0])
    try:
        load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, key)
    except NotACertificate as error:
        raise ConfigurationError(f"{' and '.join(origins)}: {error}") from None


_NAMED: Final = ("backend", "base_url")

BackendChoice = Literal["live", "mock", "workspace"]


class UpstreamSettings(Struct, frozen=True, kw_only=True):
    """The settings of one upstream."""

    name: str
    backend: BackendChoice
    reason: str
    """Why this backend is used, for people."""
    base_url: str | None = None
    """The base URL without trailing slash. None if the backend is not live."""
    token_url: str | None = None
    """The URL of the token endpoint. None if the backend is not live or needs no tokens."""
    credentials: Mapping[str, Secret] = {}
    """The credentials. A mock gets only those that start with `mock_`, so it cannot leak others."""
    settings: Mapping[str, str] = {}
    """The settings that are not secret (`SettingRule`), by name."""
    problems: tuple[str, ...] = ()
    """The errors, each with its fix. With errors, the gateway does not start."""
    origins: Mapping[str, str] = {}
    """The origins of `backend`, the URLs, each credential and each setting."""

    @property
    def problem(self) -> str | None:
        """All of `problems` in one line, or None if there are none."""
        return WrongSettings(self.problems).detail if self.problems else None


def read_upstream(
    sources: Sources, upstream: Upstream, *, allow_plain_http: bool, is_exposed: bool = False
) -> UpstreamSettings:
    """The settings of `upstream`. Never raises: errors are in its `problem`.

    `is_exposed`: a mock answers only where `backend` selects it.
    """
    try:
        _refuse_unknown_keys(sources, upstream)
        override = _override(sources, upstream)
        if override is not None and override[0] != "live":
            return _substitute(sources, upstream, override[0], f"{override[1]} selects it", {})
        credentials = read_credentials(sources, upstream)
        if override is None and (reason := _why_not_live(upstream, credentials)):
            backend: BackendChoice = "workspace" if upstream.has_workspace else "mock"
            if is_exposed and backend == "mock":
                raise _unnamed_mock(upstream, credentials)
            return _substitute(sources, upstream, backend, reason, credentials)
        reason = f"{override[1]} selects it" if override else "its credentials are set"
        return _live(sources, upstream, credentials, reason, allow_plain_http)
    except ConfigurationError as error:
        return UpstreamSettings(
            name=upstream.name,
            backend="live",
            reason="it is misconfigured",
            problems=each_wrong(error),
            origins=_given_origins(sources, upstream),
        )


def upstream_variables(upstream: Upstream) -> frozenset[str]:
    """All variables of the settings of `upstream`."""
    secret = [upstream_name(upstream.name, rule.name) for rule in upstream.credentials]
    plain = [backend_name(upstream.name), *_plain_names(upstream).values()]
    return frozenset(
        {name.variable for name in (*plain, *secret)} | {name.of_file().variable for name in secret}
    )


def _live(
    sources: Sources,
    upstream: Upstream,
    credentials: Credentials,
    reason: str,
    allow_plain_http: bool,
) -> UpstreamSettings:
    rule = refuse_incomplete(upstream, credentials)
    url, url_origin = base_url(sources, upstream, allow_plain_http=allow_plain_http)
    addresses = {"base_url": url_origin}
    token_endpoint = None
    if rule is not None:
        token_endpoint, addresses["token_url"] = token_url(
            sources, upstream, rule, url, allow_plain_http=allow_plain_http
        )
    values, origins = _values(sources, upstream, is_live=True)
    check_slots(
        upstream, credentials, values, origins, base_url=url, allow_plain_http=allow_plain_http
    )
    return UpstreamSettings(
        name=upstream.name,
        backend="live",
        reason=reason,
        base_url=url,
        token_url=token_endpoint,
        credentials={key: secret for key, (secret, _) in credentials.items()},
        settings=values,
        origins=_origins(sources, upstream, credentials) | addresses | origins,
    )


def _substitute(
    sources: Sources,
    upstream: Upstream,
    backend: BackendChoice,
    reason: str,
    credentials: Credentials,
) -> UpstreamSettings:
    values, origins = _values(sources, upstream, is_live=False)
    return UpstreamSettings(
        name=upstream.name,
        backend=backend,
        reason=reason,
        credentials={key: secret for key, (secret, _) in credentials.items()},
        settings=values,
        origins=_origins(sources, upstream, credentials) | origins,
    )


def _origins(sources: Sources, upstream: Upstream, credentials: Credentials) -> dict[str, str]:
    override = sources.find(backend_name(upstream.name))
    return {key: origin for key, (_, origin) in credentials.items()} | (
        {"backend": override.origin} if override else {}
    )


def _override(sources: Sources, upstream: Upstream) -> tuple[BackendChoice, str] | None:
    given = sources.find(backend_name(upstream.name))
    match given:
        case None:
            return None
        case SourceValue(value="live" | "mock" as choice, origin=origin):
            return choice, origin
        case SourceValue(value="workspace", origin=origin) if upstream.has_workspace:
            return "workspace", origin
    choices = "live, mock or workspace" if upstream.has_workspace else "live or mock"
    raise ConfigurationError(f"{given.origin}: must be {choices}")


def _why_not_live(upstream: Upstream, credentials: Credentials) -> str | None:
    if not credentials:
        variable = backend_name(upstream.name).variable
        why = "no credentials are set" if upstream.credentials else "it is not set to live"
        return f"{why}; {variable}=live overrides this"
    return why_mocked(credentials)


def _unnamed_mock(upstream: Upstream, credentials: Credentials) -> ConfigurationError:
    variable = backend_name(upstream.name).variable
    named = ", ".join(upstream_name(upstream.name, r.name).variable for r in upstream.credentials)
    why = why_mocked(credentials) or (f"none of {named} is set" if named else "it is not live")
    return ConfigurationError(
        f"{why}, and in production and on a public address no mock answers unasked; set its "
        f"credentials, {variable}=live, or {variable}=mock if the mock is meant"
    )


def _values(
    sources: Sources, upstream: Upstream, *, is_live: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The settings that are not secret, and the origins of those that are set."""
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    missing: list[str] = []
    for rule in upstream.settings:
        name = upstream_name(upstream.name, rule.name)
        given = sources.find(name)
        if given is not None:
            if not isinstance(given.value, str) or not is_whole_match(rule.pattern, given.value):
                raise ConfigurationError(f"{given.origin}: must match {rule.pattern}")
            values[rule.name], origins[rule.name] = given.value, given.origin
        elif rule.default is not None:
            values[rule.name] = rule.default
        elif is_live:
            missing.append(name.variable)
        else:
            values[rule.name] = rule.mock
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise ConfigurationError(
            f"{upstream.title} needs {' and '.join(missing)}; set {them}: see `gateway config`"
        )
    return values, origins


def _given_origins(sources: Sources, upstream: Upstream) -> dict[str, str]:
    """The origins of all settings of `upstream` that are set, valid or not."""
    names = {"backend": backend_name(upstream.name), **_plain_names(upstream)}
    for rule in upstream.credentials:
        name = upstream_name(upstream.name, rule.name)
        names[rule.name] = name if sources.find(name) else name.of_file()
    found = {key: sources.find(name) for key, name in names.items()}
    return {key: given.origin for key, given in found.items() if given is not None}


def _plain_names(upstream: Upstream) -> dict[str, Name]:
    """The names of the settings that are not secret, except the backend."""
    tokens = ("token_url",) if upstream.tokens else ()
    keys = ("base_url", *tokens, *(rule.name for rule in upstream.settings))
    return {key: upstream_name(upstream.name, key) for key in keys}


def _refuse_unknown_keys(sources: Sources, upstream: Upstream) -> None:
    credentials = {rule.name for rule in upstream.credentials}
    known = {*_NAMED, *_plain_names(upstream), *credentials}
    known |= {f"{name}_file" for name in credentials}
    otherwise = f"known are {', '.join(sorted(known))}"
    sources.refuse_unknown(("upstreams", upstream.name), known, "a setting", otherwise)
