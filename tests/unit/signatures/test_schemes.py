"""Each scheme that a contract can ask for, from a new secret to an authentic message."""

import pytest

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from gateway.signatures.standard import StandardSignature

AT = 1_700_000_000
SCHEMES = [
    StandardSignature(),
    HmacSignature(header="x-signature", timestamp_header="x-timestamp"),
    BasicCredentials(),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_what_a_new_secret_signs_its_owner_can_verify_and_nobody_else(scheme) -> None:
    key, other = (scheme.key_of(scheme.new_secret()) for _ in range(2))
    fields = scheme.signed_fields([key], "msg_1", AT, b"{}")
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]

    assert scheme.verifier([key])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([other])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([key])(Received(fields=[], body=b"{}"), AT)
