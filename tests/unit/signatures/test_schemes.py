"""Each scheme that a contract can ask for, from a new secret to an authentic message."""

import pytest

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.standard import StandardSignature

AT = 1_700_000_000
PROOFS = [
    StandardSignature(),
    HmacSignature(header="x-signature", timestamp_header="x-timestamp"),
    BasicCredentials(),
]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: type(proof).__name__)
def test_what_a_new_secret_proves_its_owner_can_verify_and_nobody_else(proof) -> None:
    key, other = (proof.key_of(proof.new_secret()) for _ in range(2))
    fields = proof.signed_fields([key], "msg_1", AT, b"{}")
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]

    assert proof.verifier([key])(sent, b"{}", AT)
    assert not proof.verifier([other])(sent, b"{}", AT)
    assert not proof.verifier([])(sent, b"{}", AT)
    assert not proof.verifier([key])([], b"{}", AT)
