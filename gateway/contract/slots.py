"""The credentials that the operations of an imported document need."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct


class CredentialSlot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A security scheme of an imported document: which secret is needed, and where it is sent."""

    name: str
    """Part of the setting: `GATEWAY_<CONNECTOR>_<NAME>`."""
    kind: Literal["api_key", "basic", "bearer", "oauth2", "mutual_tls"]
    """`oauth2` includes OpenID Connect, whose tokens are fetched in the same way."""
    description: str = ""
    location: Literal["header", "query", "cookie"] | None = None
    """Of an `api_key`."""
    key_name: str | None = None
    """Name of the header, query parameter or cookie of an `api_key`."""
    flow: Literal["client_credentials", "refresh_token"] | None = None
    """Of `oauth2`. The authorization code flow is served by a stored refresh token. None: the
    document does not restrict it."""
    token_url: str | None = None
    """Of `oauth2`. None: the operator sets it, or gives an access token."""

    @property
    def ways(self) -> tuple[tuple[str, ...], ...]:
        """Alternatives of credentials. The slot is filled if all credentials of one are set."""
        match self.kind:
            case "basic":
                return (self._named("username", "password"),)
            case "mutual_tls":
                return (self._named("certificate", "key"),)
            case "oauth2":
                client = self._named("client_id", "client_secret")
                refreshed = (*client, f"{self.name}_refresh_token")
                alone = () if self.flow == "refresh_token" else (client,)
                return ((self.name,), *alone, refreshed)
        return ((self.name,),)

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of all its credentials."""
        return tuple(dict.fromkeys(name for way in self.ways for name in way))

    @property
    def token_settings(self) -> tuple[str, str]:
        """The names of the settings of its token endpoint: the URL and the authentication."""
        url, client_auth = self._named("token_url", "client_auth")
        return url, client_auth

    def way_of(self, given: Collection[str]) -> tuple[str, ...] | None:
        """The credentials of `given` that fill the slot, or None.

        An access token is used before the credentials of a client, and a refresh token before
        the client's own grant.
        """
        complete = [way for way in self.ways if all(name in given for name in way)]
        if not complete or self.name in complete[0]:
            return complete[0] if complete else None
        return complete[-1]

    def _named(self, *ends: str) -> tuple[str, ...]:
        return tuple(f"{self.name}_{end}" for end in ends)


def setting_variable(upstream: str, name: str) -> str:
    """The variable of a setting of `upstream`."""
    return f"GATEWAY_{upstream}_{name}".upper()


def filling(upstream: str, slot: CredentialSlot) -> str:
    """The variables that fill `slot`, for people: `A, or B with C`. What may be added to them is
    left out."""
    shortest = [way for way in slot.ways if not any(set(other) < set(way) for other in slot.ways)]
    return ", or ".join(
        " with ".join(setting_variable(upstream, name) for name in way) for way in shortest
    )


def filling_all(upstream: str, slots: Collection[CredentialSlot]) -> str:
    """The variables that fill all `slots`, for people: `A and (B, or C with D)`."""
    texts = [filling(upstream, slot) for slot in slots]
    if len(texts) == 1:
        return texts[0]
    return " and ".join(f"({text})" if " " in text else text for text in texts)
