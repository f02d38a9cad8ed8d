"""The settings with which a gateway meets, over HTTP, mocks as if they were the real upstreams."""

import json
from collections.abc import Mapping
from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gateway.contract.upstream import Upstream


def live_variables(upstream: Upstream, url: str, secret: str) -> Mapping[str, str]:
    """Variables that make `upstream` live at `url`; each credential is `secret` and its name."""
    prefix = f"GATEWAY_{upstream.name}_".upper()
    variables = {f"GATEWAY_BACKEND_{upstream.name}".upper(): "live", f"{prefix}BASE_URL": url}
    for rule in upstream.credentials:
        text = key_file(secret) if rule.kind == "json" else f"{secret}-{rule.name}"
        variables[f"{prefix}{rule.name.upper()}"] = text
    for setting in upstream.settings:
        variables[f"{prefix}{setting.name.upper()}"] = setting.default or setting.mock
    if upstream.tokens:
        issuing = upstream.tokens[0].operation
        path = next(each.path for each in upstream.operations if each.id == issuing)
        variables[f"{prefix}TOKEN_URL"] = f"{url}{path}"
    return variables


def key_file(secret: str) -> str:
    """A service account's key file, as Google gives it out."""
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "tests",
            "private_key_id": f"{secret}-key-id",
            "private_key": _pem(),
            "client_email": "robot@tests.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        }
    )


@cache
def _pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
