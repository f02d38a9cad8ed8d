"""The access tokens of the credential slots of one upstream (RFC 6749)."""

import base64
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import quote_plus

from msgspec.structs import replace

from gateway.backends.oauth.endpoint import HttpTokenWire
from gateway.backends.oauth.forms import TokenForms
from gateway.backends.oauth.tokens import TokenSource
from gateway.backends.slots import TokenUse
from gateway.clock import Clock
from gateway.contract.credentials import usable_rule
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import TokenRule, Upstream, UpstreamOperation
from gateway.errors import ConfigurationError

_ISSUE: Final = UpstreamOperation(id="issue_token", method="POST", path="/", replies={"200": {}})
_GRANTS: Final[tuple[Literal["refresh_token", "client_credentials"], ...]] = (
    "refresh_token",
    "client_credentials",
)
"""By precedence."""


class SlotTokens:
    """One source of tokens for each slot and set of scopes.

    A refresh token has its own scopes, so its slot has one source, which keeps a rotated token.
    """

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        credentials: Mapping[str, str],
        settings: Mapping[str, str],
    ) -> None:
        """`settings` are those of the token endpoints (`CredentialSlot.token_settings`)."""
        self._upstream = upstream
        self._clock = clock
        self._credentials = credentials
        self._settings = settings
        self._slots = {slot.name: slot for slot in upstream.slots}
        self._sources: dict[TokenUse, TokenSource] = {}

    @property
    def problem(self) -> str | None:
        """What an operator must fix before tokens can be fetched again, or None."""
        return next((p for each in self._sources.values() if (p := each.problem)), None)

    def source(self, use: TokenUse) -> TokenSource:
        """The source of the token. Raises `ConfigurationError` if its URL is not known."""
        slot = self._slots[use.slot]
        given = self._given(slot)
        key = TokenUse(use.slot) if "refresh_token" in given else use
        if key not in self._sources:
            self._sources[key] = self._made(slot, given, key.scopes)
        return self._sources[key]

    async def close(self) -> None:
        """Cancel all fetches that are under way."""
        for each in self._sources.values():
            await each.close()

    def _given(self, slot: CredentialSlot) -> dict[str, str]:
        """The credentials of `slot` by the names that a token rule has for them."""
        way = slot.way_of([name for name, value in self._credentials.items() if value]) or ()
        return {name.removeprefix(f"{slot.name}_"): self._credentials[name] for name in way}

    def _made(
        self, slot: CredentialSlot, given: Mapping[str, str], scopes: tuple[str, ...]
    ) -> TokenSource:
        url_setting, auth_setting = slot.token_settings
        url = self._settings.get(url_setting)
        if not url:
            variable = setting_variable(self._upstream.name, url_setting)
            raise ConfigurationError(f"{variable} is not set; set the URL that issues tokens")
        rule = self._rule(slot, url, self._settings.get(auth_setting, "header"), scopes, given)
        wire = HttpTokenWire(url, _authorization(given) if rule.client_auth == "header" else None)
        return TokenSource(self._issuer(slot), rule, TokenForms(rule, given), wire, self._clock)

    def _rule(
        self,
        slot: CredentialSlot,
        url: str,
        client_auth: str,
        scopes: tuple[str, ...],
        given: Mapping[str, str],
    ) -> TokenRule:
        auth: Literal["body", "header"] = "body" if client_auth == "body" else "header"
        rules = [
            TokenRule(grant=g, url=url, operation=_ISSUE.id, scopes=scopes, client_auth=auth)
            for g in _GRANTS
        ]
        rule = usable_rule(rules, given)
        if rule is None:
            raise ConfigurationError(f"{self._upstream.name}: {slot.name} has no credentials")
        return rule

    def _issuer(self, slot: CredentialSlot) -> Upstream:
        """The upstream that a token source sees: its name is the start of the slot's settings."""
        return Upstream(
            name=f"{self._upstream.name}_{slot.name}",
            title=self._upstream.title,
            base_url=None,
            settings=tuple(
                replace(each, name="client_auth")
                for each in self._upstream.settings
                if each.name == slot.token_settings[1]
            ),
            operations=(_ISSUE,),
        )


def _authorization(given: Mapping[str, str]) -> str:
    """The header value of HTTP Basic for a client (RFC 6749 §2.3.1)."""
    pair = ":".join(quote_plus(given[name]) for name in ("client_id", "client_secret"))
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
