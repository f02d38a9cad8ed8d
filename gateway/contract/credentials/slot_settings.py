"""The settings of credential slots, as those of the upstream that has the slots."""

from collections.abc import Iterable, Iterator
from typing import Final

from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import CredentialRule, SettingRule

_MEANINGS: Final = {
    "username": "User name of HTTP Basic.",
    "password": "Password of HTTP Basic.",
    "client_id": "Id of the client to which access tokens are issued.",
    "client_secret": "Secret of the client.",
    "refresh_token": "Refresh token, instead of the client's own grant.",
    "certificate": "Client certificate for TLS with its chain, PEM.",
    "key": "Private key of the client certificate, PEM, without a password.",
}
"""The credentials of a slot, by the end of their names."""


def credential_rules(slots: Iterable[CredentialSlot]) -> Iterator[CredentialRule]:
    """The secrets of `slots`. None is required by itself: requests choose among the slots."""
    for slot in slots:
        yield from _rules(slot)


def token_settings(slots: Iterable[CredentialSlot]) -> Iterator[SettingRule]:
    """The settings of the token endpoints of `slots`."""
    for slot in slots:
        if slot.kind == "oauth2":
            url, client_auth = slot.token_settings
            yield SettingRule(
                name=url,
                description="URL at which its access tokens are issued.",
                default=slot.token_url or "",
                mock="",
                pattern="https?://.+",
            )
            yield SettingRule(
                name=client_auth,
                description="Where the client authenticates: a header (HTTP Basic), or the body.",
                default="header",
                mock="header",
                pattern="header|body",
            )


def _rules(slot: CredentialSlot) -> Iterator[CredentialRule]:
    for name in slot.settings:
        meaning = _MEANINGS.get(name.removeprefix(f"{slot.name}_"))
        yield CredentialRule(
            name=name,
            description=_meaning(slot) if name == slot.name or meaning is None else meaning,
            is_required=False,
            kind="pem" if slot.kind == "mutual_tls" else "text",
        )


def _meaning(slot: CredentialSlot) -> str:
    if slot.kind != "api_key":
        return "Access token."
    place = {"query": "query parameter", "cookie": "cookie"}.get(slot.location or "", "header")
    return f"API key, sent in the {place} {slot.key_name}."
