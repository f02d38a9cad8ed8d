"""What calls and messages are promised beside their contracts, over HTTP.

A call that is made again by its key is answered as before, and sends nothing. What one agent was
answered is no answer to another one that may not ask. A grant for some arguments is none for other
ones. What is kept answers the same call, until something is written. A message is taken only with
its signature.
"""

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from gateway.catalogue import Catalogue, Entry
from gateway.cli.operating.webhooks import signed_request, signing_secret, unsigned_request
from gateway.contract.operation import Effect
from gateway.contract.selection import FIELDS
from gateway.errors import ConfigurationError
from gateway.signatures.received import Received
from gateway.testing.authority import Authority
from gateway.testing.boundary_payloads import posted
from gateway.testing.cases import Case, callable_alone, first_example
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces, Site
from gateway.testing.generation import covering_arguments, expected, few_of
from gateway.testing.judging import agree
from gateway.testing.suite.webhooks import declared, examples
from gateway.testing.transports import HANDSHAKE, MODERN, request

__all__ = [
    "test_a_grant_of_some_arguments_is_none_of_others",
    "test_a_header_that_cannot_be_honoured_is_refused",
    "test_a_key_is_honoured_or_refused_on_every_face",
    "test_a_key_of_one_agent_is_no_key_of_another",
    "test_a_message_is_taken_only_with_its_signature",
    "test_a_write_with_a_key_is_made_once",
    "test_an_escalation_needs_what_its_contract_says",
    "test_answers_of_others_are_no_answers",
    "test_what_is_kept_answers_the_same_call_until_a_write",
]

KEY: Final = "a-key-of-the-contract-suite-{}"
_REPEATED: Final = "idempotency-replayed"
_FORBIDDEN: Final = 403
WRONG_KEYS: Final = {"empty": "", "of two words": "a b", "too long": "k" * 256}
CALL_HEADERS: Final = (
    ("idempotency-key", "k-1", "a b"),
    ("gateway-timeout", "2.5", "soon"),
    ("request-timeout", "2.5", "-1"),
    ("gateway-max-attempts", "1", "0"),
)
"""The header fields of a call: a value of each, and one that it cannot have."""
LONG: Final = "9" * 70_000
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


@pytest.mark.parametrize("key", [*WRONG_KEYS, "right"])
def test_a_key_is_honoured_or_refused_on_every_face(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str, key: str
) -> None:
    """A write is made once on all faces over HTTP together. Reads take no key.

    A key belongs to its caller, and who calls over stdio is another one.
    """
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    arguments = json.dumps(first_example(gateway_faces.catalogue, entry)).encode()
    text = WRONG_KEYS.get(key, f"a-key-of-every-face-{entry.id}")

    found = gateway_loop.run_until_complete(gateway_faces.ask_all(entry, arguments, text))

    if entry.operation.effect is Effect.READ or key in WRONG_KEYS:
        assert not any(each.accepted for each in found.answers.values()), found.answers
        assert not found.is_sent
    elif found.first.accepted:
        repeated = [each.body for name, each in found.answers.items() if name.startswith("MCP")]
        assert repeated == [found.first.body] * 2
        assert not any(found.sent[1:3])


def test_a_header_that_cannot_be_honoured_is_refused(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Malformed, twice, too long, or where MCP has a member of `_meta`: nothing is sent."""
    entry, http = gateway_faces.catalogue.find(gateway_written_operation), gateway_faces.http
    text = json.dumps(first_example(gateway_faces.catalogue, entry)).encode()
    rest = [("content-type", "application/json"), ("accept", "application/json")]
    asked = [
        (entry.operation.route, text, [*rest, *((name, each) for each in values)])
        for name, right, wrong in CALL_HEADERS
        for values in ([wrong], [""], [right, right], [LONG])
    ]
    for version in (MODERN, HANDSHAKE):
        headers, message = request(version, "tools/call", {"name": entry.tool.name}, text)
        mcp = [*headers.items()]
        asked += [("/mcp", message, [*mcp, (name, right)]) for name, right, _ in CALL_HEADERS]
        asked += [
            ("/mcp", message, [*(p for p in mcp if p[0] != name), *((name, v) for v in values)])
            for name in headers
            if version == MODERN and name.startswith("mcp-")
            for values in (["other"], [LONG], [headers[name]] * 2)
        ]
    before = gateway_faces.sent
    for path, body, fields in asked:
        sending = http.request("POST", path, content=body, headers=fields)
        reply = gateway_loop.run_until_complete(sending)
        assert reply.status_code in {400, 431}, (fields[-1], reply.text)
    assert gateway_faces.sent == before


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


def test_a_key_of_one_agent_is_no_key_of_another(
    gateway_loop: Loop, gateway_site: Site, gateway_written_operation: str
) -> None:
    """Each agent's first call with it is made."""
    catalogue = gateway_site.gateway.parts.catalogue
    entry = catalogue.find(gateway_written_operation)
    key, example = KEY.format(f"{entry.id}-of-agents"), first_example(catalogue, entry)
    for agent in sorted(name for name, granted in catalogue.grants.items() if entry.id in granted):
        calling = gateway_site.post(agent, entry.operation.route, example, idempotency_key=key)
        assert _REPEATED not in gateway_loop.run_until_complete(calling).headers, agent


def test_an_escalation_needs_what_its_contract_says(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Without one of these arguments the call is refused, and nothing is sent."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    escalation = entry.operation.escalation
    if escalation is None:
        return
    whole = {**first_example(gateway_faces.catalogue, entry), escalation.when: True}
    for name in escalation.requires:
        text = json.dumps({each: value for each, value in whole.items() if each != name}).encode()
        case = Case(entry.id, text, f"{escalation.when} without {name}", "invalid")
        agree(gateway_loop.run_until_complete(gateway_faces.verdicts(case)))


def test_a_grant_of_some_arguments_is_none_of_others(
    gateway_loop: Loop, gateway_site: Site, gateway_agent: str
) -> None:
    """Of the tools that an agent may call with some arguments only: as the authority says."""
    catalogue = gateway_site.gateway.parts.catalogue
    found = catalogue.conditions.get(gateway_agent, ())
    for tool in sorted({tool for each in found for tool in each.tools}):
        entry = catalogue.find(tool)
        granted = [Authority(each.arguments) for each in found if tool in each.tools]
        texts = [
            t for t in covering_arguments(catalogue, entry) if expected(entry, t) == "admitted"
        ]
        valid = [{n: v for n, v in json.loads(t).items() if n != FIELDS} for t in texts]
        others = [each for each in valid if {g.says(each) for g in granted} == {"invalid"}]
        for arguments in few_of(others):
            calling = gateway_site.post(gateway_agent, entry.operation.route, arguments)
            reply = gateway_loop.run_until_complete(calling)
            assert reply.status_code == _FORBIDDEN, arguments


def reads_of(catalogue: Catalogue, entry: Entry) -> list[dict[str, Any]]:
    """The examples of a read that do not make it a write."""
    escalation, found = entry.operation.escalation, catalogue.examples(entry).values()
    return [each for each in found if escalation is None or each.get(escalation.when) is not True]


async def sent_for(faces: Faces, tool: str, arguments: Any) -> int | None:
    """How many requests a call has sent. None: it was refused."""
    before = faces.sent
    answer = await faces.rest(faces.catalogue.find(tool), json.dumps(arguments).encode())
    return faces.sent - before if answer.accepted else None


def test_what_is_kept_answers_the_same_call_until_a_write(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Of the operations whose results are kept: other examples, and this one after each write of
    the connector, are asked anew."""
    catalogue, run = gateway_faces.catalogue, gateway_loop.run_until_complete
    tool = catalogue.find(gateway_written_operation)
    if not (tool.operation.cache_seconds and reads_of(catalogue, tool)):
        return
    example, *others = reads_of(catalogue, tool)
    gateway_faces.gateway.parts.pipeline.cache.kept.drop_group(tool.operation.connector)
    assert run(sent_for(gateway_faces, tool.id, example)) != 0
    for other in others:
        assert run(sent_for(gateway_faces, tool.id, other)) != 0
    assert run(sent_for(gateway_faces, tool.id, example)) == 0
    for each in callable_alone(catalogue):
        same, effect = each.operation.connector == tool.operation.connector, each.operation.effect
        if same and effect is not Effect.READ:
            run(sent_for(gateway_faces, each.id, first_example(catalogue, each)))
            assert run(sent_for(gateway_faces, tool.id, example)) != 0, each.id


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
