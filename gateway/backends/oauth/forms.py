"""The forms that are posted to a token endpoint (RFC 6749 §4.4.2, §6; RFC 7523 §2.1)."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from gateway.contract.credentials import GRANT_CREDENTIALS, KeyFile, read_key_file
from gateway.contract.upstream import TokenGrant, TokenRule

GRANT_TYPES: Final[Mapping[TokenGrant, str]] = {
    "refresh_token": "refresh_token",
    "client_credentials": "client_credentials",
    "jwt_bearer": "urn:ietf:params:oauth:grant-type:jwt-bearer",
}
ASSERTION_SECONDS: Final = 3600
"""How long an assertion is valid."""
_KEY_BITS: Final = 2048
_CLIENT: Final = frozenset({"client_id", "client_secret"})


class TokenForms:
    """Makes the forms for one grant type. They contain secrets: never log them."""

    def __init__(
        self,
        rule: TokenRule,
        credentials: Mapping[str, str],
        read_key: Callable[[str], KeyFile] = read_key_file,
    ) -> None:
        self._rule = rule
        self._read_key = read_key
        self._credentials = {name: credentials[name] for name in GRANT_CREDENTIALS[rule.grant]}
        self._key: KeyFile | None = None

    async def form(self, now: datetime) -> dict[str, str]:
        """The form to post at the time `now`. Raises `ValueError` if the key cannot sign."""
        form = {"grant_type": GRANT_TYPES[self._rule.grant]}
        match self._rule.grant:
            case "jwt_bearer":
                # In a thread, so that other calls do not wait: the signature takes milliseconds,
                # and the first import of its library a tenth of a second.
                return form | {"assertion": await asyncio.to_thread(self._assertion, now)}
            case "client_credentials" if self._rule.scopes:
                form["scope"] = " ".join(self._rule.scopes)
        return form | self._sent

    @property
    def _sent(self) -> dict[str, str]:
        """The credentials in the form. A client that uses HTTP Basic is in the header instead."""
        hidden = _CLIENT if self._rule.client_auth == "header" else frozenset[str]()
        return {name: value for name, value in self._credentials.items() if name not in hidden}

    def rotate(self, refresh_token: str | None) -> bool:
        """Use this refresh token from now on. Returns whether it replaced another one."""
        held = self._credentials.get("refresh_token")
        if refresh_token is None or held is None or refresh_token == held:
            return False
        self._credentials["refresh_token"] = refresh_token
        return True

    def _assertion(self, now: datetime) -> str:
        import jwt  # noqa: PLC0415 - takes a tenth of a second, and only assertions need it

        if self._key is None:
            self._key = self._read_key(self._credentials["service_account_key"])
        issued = int(now.timestamp())
        claims = {
            "iss": self._key.client_email,
            "scope": " ".join(self._rule.scopes),
            "aud": self._key.token_uri,
            "iat": issued,
            "exp": issued + ASSERTION_SECONDS,
        }
        headers = {"kid": self._key.private_key_id} if self._key.private_key_id else None
        try:
            return jwt.encode(claims, self._key.private_key, algorithm="RS256", headers=headers)
        except jwt.PyJWTError:
            raise ValueError("the private key cannot sign") from None


def mock_key(name: str) -> KeyFile:
    """A new random key for a mock. To make one takes a tenth of a second."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - only mocks need it
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 - only mocks need it

    pem = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return KeyFile(
        client_email=f"{name}@mock.iam.gserviceaccount.com",
        private_key=pem.decode(),
        token_uri="https://mock.example/token",  # noqa: S106 - an address
        private_key_id="mock",
    )
