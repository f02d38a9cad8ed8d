"""Another scheme: its module (this file), its registration and its meta-schema, and nothing else.

Every user of schemes has to treat it right without knowing it.
"""

import hashlib
import hmac
import json
import logging
import re
import shutil
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.backends.mock.webhooks import Listener, MockSender
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.mock import MockMessage
from gateway.contract.values import jsontext
from gateway.contract.webhook import MessagePart
from gateway.errors import ContractError, GatewayError, MalformedRequest, UnauthenticatedMessage
from gateway.settings.settings import read_settings
from gateway.signatures import registry
from gateway.signatures.received import Received, only_value
from gateway.signatures.scheme import InvalidSecret, SignatureScheme
from gateway.webhooks.ingest import GroupCommit, Ingest
from gateway.webhooks.message import replayable
from gateway.webhooks.source import OpenSource, ProfileSecrets, made_secret
from tests.clocks import ManualClock
from tests.webhook_sources import ListInbox

PACKAGE = "made_by_the_test_of_a_new_scheme"
MINIMAL = Path(__file__).parents[2] / "assets" / "contracts" / "minimal"
OLD_PROOF = (
    '{scheme: hmac, header: X-Desk-Signature, prefix: "sha256=", timestampHeader: X-Desk-Time}'
)
PLACE = "/post/x-webhook/profiles/signed/authentication/scheme"
SECRET = "knock:four times and then once"
BODY = json.dumps(
    {"kind": "book_lent", "message": "m-1", "loan": "L1", "at": "2026-11-20T14:30:00Z"}
).encode()


class KnockSignature(SignatureScheme, frozen=True, kw_only=True, tag="knock"):
    """A digest of the secret and the body in a header that the contract names."""

    knock_header: str

    title = "Knock 1.0"
    challenge = "Knock"
    secret_form = "`knock:` and how often"
    signed_headers = frozenset()
    security = MappingProxyType({"type": "http", "scheme": "knock", "description": "How often."})

    @property
    def headers(self):
        return {self.knock_header: "How often it knocks."}

    @property
    def credential_headers(self):
        return frozenset({self.knock_header.lower()})

    def key_of(self, secret):
        if not secret.startswith("knock:"):
            raise InvalidSecret("must be knock: and how often")
        return secret.encode()

    def new_secret(self):
        return SECRET

    def spellings(self, secret):
        return secret, secret.removeprefix("knock:")

    def id_refusal(self, message_id):
        return "Nobody is called nobody." if message_id == "nobody" else None

    def signed_content(self, received):
        return received.body

    def signed_fields(self, keys, message_id, timestamp, body, request=None):
        return {self.knock_header: hmac.new(keys[0], body, hashlib.sha256).hexdigest()}

    def verifier(self, keys):
        def verify(received, now):
            shown = only_value(received.fields, self.knock_header) or b""
            known = [
                hmac.new(key, received.body, hashlib.sha256).hexdigest().encode() for key in keys
            ]
            return any(hmac.compare_digest(each, shown) for each in known)

        return verify


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The scheme in the meta-schema and in the registry."""
    texts = dict(meta.texts())
    rules = jsontext.decode(texts["x-webhook.schema.json"])
    scheme = rules["$defs"]["authentication"]
    scheme["properties"]["scheme"]["enum"].append("knock")
    is_knock = {"required": ["scheme"], "properties": {"scheme": {"const": "knock"}}}
    scheme["allOf"][-1]["if"]["anyOf"].append(is_knock)
    scheme["allOf"].append({"if": is_knock, "then": {"$ref": "#/$defs/knock"}})
    rules["$defs"]["knock"] = {
        "required": ["knockHeader"],
        "additionalProperties": False,
        "properties": {"scheme": True, "knockHeader": {"$ref": "#/$defs/header"}},
    }
    texts["x-webhook.schema.json"] = json.dumps(rules).encode()
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(meta, "texts", lambda: texts)
        changed.setitem(registry.SCHEMES, "knock", KnockSignature)
        meta.validator.cache_clear()
        yield
    meta.validator.cache_clear()


def write_schemas(folder):
    shutil.copytree(MINIMAL, folder)
    rewrite(folder, OLD_PROOF, "{scheme: knock, knockHeader: X-Knock}")
    meta.install(folder)
    return folder


@pytest.fixture
def schemas(tmp_path):
    """The minimal contracts, the desk of which knocks."""
    return write_schemas(tmp_path / "schemas")


@pytest.fixture(scope="module")
def made(registered, tmp_path_factory):
    """What is generated of them, to be imported by a name of its own."""
    folder = tmp_path_factory.mktemp("made")
    schemas = write_schemas(folder / "schemas")
    generate(schemas, folder / PACKAGE, folder / "docs", names=PackageNames(package=PACKAGE))
    with pytest.MonkeyPatch.context() as changed:
        changed.syspath_prepend(str(folder))
        yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def desk(made):
    """The desk's contract, opened."""
    return open_catalogue(PACKAGE, HANDLER_PACKAGES).webhooks["desk"]


def rewrite(folder, old, new):
    file = folder / "webhooks/desk/webhook.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def finding_of(folder, rule):
    [found] = [each for each in lint(read_tree(folder)) if each.rule == rule]
    return found


def fields_of(scheme, body=BODY, message_id="m-1"):
    named = scheme.signed_fields([SECRET.encode()], message_id, 0, body)
    return [(name.lower().encode(), value.encode()) for name, value in named.items()]


def opened(desk, clock):
    """The desk as if the lint had not been asked: its contract stores the signature."""
    wanting = replace(desk.source, stored_headers=("user-agent", "x-knock"))
    return OpenSource(
        replace(desk, source=wanting),
        clock,
        secrets={"signed": ProfileSecrets(keys={"": [SECRET.encode()]})},
    )


async def received(desk, fields, body=BODY):
    """What is stored of a message, and why it is not."""
    clock, inbox = ManualClock(), ListInbox()
    group_commit = GroupCommit(inbox)
    source = opened(desk, clock)
    try:
        await Ingest({"desk": source}, group_commit, clock).receive(
            source, Received(fields=fields, body=body)
        )
    except GatewayError as error:
        return inbox.stored, error
    finally:
        await group_commit.close()
    return inbox.stored, None


def test_the_lint_has_nothing_against_it(schemas):
    assert lint(read_tree(schemas)) == ()


def test_the_lint_bars_its_proof_from_storage(schemas):
    rewrite(schemas, "storedHeaders: [User-Agent]", "storedHeaders: [User-Agent, x-KNOCK]")
    found = finding_of(schemas, "webhook/stored-credentials")
    assert found.pointer == "/post/x-webhook/storedHeaders/1"


def test_without_its_registration_the_lint_says_where_and_what_to_do(schemas, monkeypatch):
    monkeypatch.delitem(registry.SCHEMES, "knock")
    found = finding_of(schemas, "webhook/scheme")
    assert (found.path, found.pointer) == ("webhooks/desk/webhook.yaml", PLACE)
    assert (
        "knock is no signature scheme; known are hmac, public_key, standard, shared_secret, basic"
        in found.message
    )
    assert found.fix
    with pytest.raises(ContractError, match="webhook/scheme"):
        generate(schemas, schemas.parent / "out", schemas.parent / "docs", names=PackageNames())


def test_a_meta_schema_that_says_other_things_than_the_scheme_is_found(schemas, monkeypatch):
    class OtherSignature(KnockSignature, frozen=True, kw_only=True, tag="knock"):
        times: int

    monkeypatch.setitem(registry.SCHEMES, "knock", OtherSignature)
    assert "`times`" in finding_of(schemas, "webhook/scheme").message


def test_the_documents_describe_it(made):
    document = json.loads((made / PACKAGE / "openapi.json").read_bytes())
    post = document["paths"]["/webhooks/desk"]["post"]
    assert {"name": "X-Knock", "description": "How often it knocks."}.items() <= post["parameters"][
        0
    ].items()
    assert {"webhook_knock": []} in post["security"]
    schemes = document["components"]["securitySchemes"]
    assert schemes["webhook_knock"] == dict(KnockSignature.security)
    page = (made / "docs/webhooks/desk.md").read_text()
    assert re.search(r"`signed` \| Knock 1\.0: `X-Knock` \|.*`knock:` and how often", page)


def test_the_generated_record_is_the_scheme_s_own(desk):
    assert desk.source.profiles[0].authentication == KnockSignature(knock_header="X-Knock")


def test_a_generated_package_with_a_scheme_that_is_gone_is_refused(made, monkeypatch):
    monkeypatch.delitem(registry.SCHEMES, "knock")
    with pytest.raises(ContractError) as raised:
        open_catalogue(PACKAGE, HANDLER_PACKAGES)
    assert raised.value.detail.startswith(f"webhooks/desk/webhook.yaml: {PLACE}: KnockSignature")
    assert "hmac, public_key, standard, shared_secret, basic" in raised.value.detail
    assert raised.value.detail.endswith("run `gateway generate`")


async def test_its_proof_is_neither_stored_nor_logged(desk, caplog):
    caplog.set_level(logging.DEBUG)
    fields = [*fields_of(desk.source.profiles[0].authentication), (b"user-agent", b"desk/1")]
    [stored], _ = await received(desk, fields)
    assert (stored.message_id, stored.headers) == ("m-1", {"user-agent": "desk/1"})
    _, error = await received(desk, fields, BODY + b" ")
    shown = caplog.text + repr(stored) + repr(error)
    assert fields[0][1].decode() not in shown
    assert SECRET not in shown


async def test_what_it_does_not_prove_is_refused_with_its_challenge(desk):
    fields = fields_of(desk.source.profiles[0].authentication)
    for wrong in (fields_of(desk.source.profiles[0].authentication, BODY + b" "), [], fields * 2):
        stored, error = await received(desk, wrong)
        assert (stored, type(error), error.challenge) == ([], UnauthenticatedMessage, "Knock")


async def test_it_decides_which_ids_may_be_and_what_makes_a_message_known(desk):
    scheme = desk.source.profiles[0].authentication
    body = BODY.replace(b"m-1", b"nobody")
    stored, error = await received(desk, fields_of(scheme, body), body)
    assert (stored, type(error)) == ([], MalformedRequest)
    assert error.detail == "Nobody is called nobody."
    profile = replace(desk.source.profiles[0], message_id=MessagePart(header="x-id"))
    assert replayable(profile, Received(fields=[], body=BODY)) == BODY


def test_its_secrets_are_judged_masked_and_made_by_its_rule(desk, tmp_path):
    variable = "GATEWAY_WEBHOOKS_DESK_SIGNED_SECRETS"
    settings = read_settings({variable: SECRET}, None, {})
    assert settings.for_webhook(desk.source).problem is None
    assert {SECRET, "four times and then once"} <= {*settings.secrets((), [desk.source])}
    wrong = read_settings({variable: "four times"}, None, {}).for_webhook(desk.source)
    assert wrong.problem.startswith(f"{variable}: each secret must be knock: and how often")
    assert made_secret(tmp_path, "desk", desk.source.profiles[0]) == SECRET


async def test_a_mock_signs_with_it(desk):
    clock = ManualClock()
    listener = Listener(
        url="http://desk.test", source=desk.source, profile=desk.source.profiles[0], secret=SECRET
    )
    message = MockMessage(id="m-1", event="book_lent", payload=json.loads(BODY))
    body = jsontext.encode(message.payload)
    headers = MockSender(None, listener, clock)._headers(message, body)
    fields = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
    [stored], _ = await received(desk, fields, body)
    assert stored.event_type == "book_lent"


def test_a_scheme_that_leaves_something_unsaid_cannot_be_made():
    class SilentSignature(SignatureScheme, frozen=True, kw_only=True, tag="silent"):
        pass

    with pytest.raises(TypeError, match="credential_headers"):
        SilentSignature()
