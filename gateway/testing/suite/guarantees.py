"""What calls and messages are promised beside their contracts, over HTTP.

A call that is made again by its key is answered as before, and sends nothing. What one agent was
answered is no answer to another one that may not ask. A message is taken only with its signature.
"""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from gateway.cli.operating.webhooks import signed_request, signing_secret, unsigned_request
from gateway.contract.operation import Effect
from gateway.errors import ConfigurationError
from gateway.signatures.received import Received
from gateway.testing.boundary_payloads import posted
from gateway.testing.cases import callable_alone, first_example
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces, Site
from gateway.testing.suite.webhooks import declared, examples

__all__ = [
    "test_a_message_is_taken_only_with_its_signature",
    "test_a_write_with_a_key_is_made_once",
    "test_answers_of_others_are_no_answers",
]

KEY: Final = "a-key-of-the-contract-suite-{}"
_STATUS: Final = {"new": 202, "forged": 401, "changed": 401, "unsigned": 401}


async def keyed(faces: Faces, route: str, key: str, arguments: Any) -> tuple[int, Any, int]:
    """The status and the body of a write with a key, and how many requests it has sent."""
    before = faces.sent
    headers = {"idempotency-key": key, "accept": "application/json"}
    reply = await faces.http.post(route, json=arguments, headers=headers)
    return reply.status_code, reply.json(), faces.sent - before


def test_a_write_with_a_key_is_made_once(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """The same call is answered from the record; the key of one call is no key of another."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    if entry.operation.effect is Effect.READ:
        return
    run, route = gateway_loop.run_until_complete, entry.operation.route
    key, example = KEY.format(entry.id), first_example(gateway_faces.catalogue, entry)
    others = [each for each in gateway_faces.catalogue.examples(entry).values() if each != example]

    status, body, _ = run(keyed(gateway_faces, route, key, example))
    again = run(keyed(gateway_faces, route, key, example))

    if status == 200:
        assert again == (status, body, 0)
        for other in others[:1]:
            refused, problem, sent = run(keyed(gateway_faces, route, key, other))
            assert (refused, sent) == (422, 0), problem


def test_answers_of_others_are_no_answers(
    gateway_loop: Loop, gateway_site: Site, gateway_agent: str
) -> None:
    """What an agent may not call is unknown to it, also when another one has just been answered."""
    run, catalogue = gateway_loop.run_until_complete, gateway_site.gateway.parts.catalogue
    granted = catalogue.grants[gateway_agent]
    for entry in callable_alone(catalogue):
        operation = entry.operation
        if entry.id in granted or operation.is_imported or operation.effect is not Effect.READ:
            continue
        others = [name for name, ids in catalogue.grants.items() if entry.id in ids]
        example = first_example(catalogue, entry)
        for other in others[:1]:
            run(gateway_site.post(other, operation.route, example))
        assert run(gateway_site.post(gateway_agent, operation.route, example)).status_code == 404


def messages(site: Site, name: str) -> dict[str, Received]:
    """A message as its sender signs it, one with another secret, one whose body was changed since
    then where the body is signed, and one without the signature.

    Raises `ConfigurationError` where only the sender can sign.
    """
    source, event = declared(name)
    settings = site.settings
    # No other test sends this body: it would be the same message.
    payload = {**examples(name)[0], "new_member": "of the contract suite"}
    profile, secret, tenant = signing_secret(settings, source.source, event, None)
    bare = unsigned_request(settings, source.source, event, profile, payload, "http://localhost")
    good = signed_request(bare, profile, secret, tenant)
    forged = signed_request(bare, profile, profile.authentication.new_secret(), tenant)
    sent = {"forged": forged, "unsigned": bare, "new": good}
    if profile.authentication.signed_content(good) is not None:
        sent["changed"] = replace(good, body=_changed(good.body))
    return sent


def _changed(body: bytes) -> bytes:
    """Another body of the same length, in which one letter or digit differs."""
    at = max(n for n, byte in enumerate(body) if chr(byte).isalnum())
    return body[:at] + (b"0" if body[at : at + 1] != b"0" else b"1") + body[at + 1 :]


def test_a_message_is_taken_only_with_its_signature(
    gateway_loop: Loop, gateway_site: Site, gateway_webhook_event: str
) -> None:
    if not examples(gateway_webhook_event):
        pytest.skip(f"the payload of {gateway_webhook_event} has no examples")
    try:
        sent = messages(gateway_site, gateway_webhook_event)
    except ConfigurationError as error:
        pytest.skip(error.detail)
    run = gateway_loop.run_until_complete
    found = {kind: run(posted(gateway_site, message)).status_code for kind, message in sent.items()}
    assert found == {kind: _STATUS[kind] for kind in sent}
