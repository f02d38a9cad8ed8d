"""Each proof that a contract can ask for, from a new secret to an authentic message."""

import pytest

from gateway.contract.webhook import BasicCredentials, HmacSignature, StandardSignature
from gateway.signatures.proof import key_of, new_secret, proven_fields, verifier_of

AT = 1_700_000_000
PROOFS = [
    StandardSignature(),
    HmacSignature(header="x-signature", timestamp_header="x-timestamp"),
    BasicCredentials(),
]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: type(proof).__name__)
def test_what_a_new_secret_proves_its_owner_can_verify_and_nobody_else(proof) -> None:
    key, other = (key_of(proof, new_secret(proof)) for _ in range(2))
    fields = proven_fields(proof, key, "msg_1", AT, b"{}")
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]

    assert verifier_of(proof, [key])(sent, b"{}", AT)
    assert not verifier_of(proof, [other])(sent, b"{}", AT)
    assert not verifier_of(proof, [])(sent, b"{}", AT)
    assert not verifier_of(proof, [key])([], b"{}", AT)
