"""The credential slots of an imported document: whether what is set for them is complete."""

import ssl
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final

from gateway.contract.credentials.certificate import NotACertificate, load_client_certificate
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import Upstream
from gateway.errors import ConfigurationError
from gateway.settings.addresses import checked_url
from gateway.settings.credentials import Credentials
from gateway.settings.gathering import read_all

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
