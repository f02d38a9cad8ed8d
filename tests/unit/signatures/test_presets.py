"""Each vendor's preset: its sample is authentic, and nothing else is.

The samples are from the vendors' documentation and client libraries, where these have one with its
secret; each is computed here a second time, from the formulas as the vendors write them.
"""

import hashlib
import hmac
import json
import zlib
from base64 import b64decode, b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from gateway.authoring.project.drafts.events import preset_names, preset_of
from gateway.signatures.received import Received
from gateway.signatures.registry import InvalidScheme, scheme_of
from tests.presets.senders import SENDERS, Letter

NAMED = {
    *("stripe", "slack", "github", "gitlab", "shopify", "twilio", "zendesk", "zoom", "intercom"),
    *("paypal", "meta", "microsoft_graph", "sns", "sendgrid", "hubspot", "linear", "paddle"),
    *("standard_webhooks", "svix", "cloudevents", "trello", "vercel", "dropbox"),
    *("gitlab_signed", "twilio_events"),
}
PRESENTED = {"gitlab", "cloudevents", "microsoft_graph"}
"""Nothing is signed: a secret is presented."""


def request_of(sample, **changes):
    fields = {**sample.get("headers", {}), **changes.pop("headers", {})}
    return Received(
        fields=[(name.lower().encode(), value.encode()) for name, value in fields.items()],
        body=changes.get("body", sample["body"]).encode(),
        url=changes.get("url", sample.get("url", "")),
        settings=sample.get("settings", {}),
    )


def verified(name, *, secret=None, at=None, **changes):
    profile = preset_of(name).profile
    sample = profile["sample"]
    scheme = scheme_of(profile["authentication"])
    verify = scheme.verifier([scheme.key_of(secret or sample["secret"])])
    return verify(request_of(sample, **changes), sample.get("at", 0) if at is None else at)


def test_the_vendors_are_those_of_the_guide():
    assert set(preset_names()) == NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_sample_is_authentic_and_nothing_else_is(name):
    profile = preset_of(name).profile
    sample, scheme = profile["sample"], scheme_of(profile["authentication"])
    assert verified(name)
    assert not verified(name, secret=scheme.new_secret())
    if name not in PRESENTED:
        # Amazon signs members of the body, all others the bytes.
        forged = sample["body"].replace("Hello", "Hullo") if name == "sns" else sample["body"] + " "
        assert not verified(name, body=forged)
    covered = {*scheme.credential_headers, *scheme.signed_headers}
    for header, value in sample.get("headers", {}).items():
        if header.lower() in covered:
            assert not verified(name, headers={header: f"0{value}"}), header


@pytest.mark.parametrize("name", sorted(n for n in NAMED if "at" in preset_of(n).profile["sample"]))
def test_a_sample_of_yesterday_is_refused(name):
    at = preset_of(name).profile["sample"]["at"]
    days = 2 if name == "paypal" else 1
    assert not verified(name, at=at + days * 86_400)
    assert not verified(name, at=at - days * 86_400)


def test_the_address_is_signed_where_the_vendor_signs_it():
    for name in ("twilio", "twilio_events", "hubspot", "trello"):
        assert preset_of(name).public_url
        assert not verified(name, url="https://elsewhere.example/webhooks")


BY_PRIVATE_KEYS = {"sns", "paypal", "sendgrid"}
IN_MESSAGES = {"microsoft_graph", "sns"}


@pytest.mark.parametrize("name", sorted(NAMED - BY_PRIVATE_KEYS - IN_MESSAGES))
def test_a_sample_follows_its_vendor_s_formula(name):
    """As the senders of `python -m tests.presets` have it."""
    sample = preset_of(name).profile["sample"]
    given = sample.get("headers", {})
    letter = Letter(
        secret=sample["secret"],
        body=sample["body"].encode(),
        at=sample.get("at", 0),
        url=sample.get("url", ""),
        id=given.get(SENDERS[name].id or "", ""),
    )
    signed = SENDERS[name].signed(letter)
    assert signed
    # Stripe's has a signature of its old version behind it.
    assert all(given[header].startswith(text) for header, text in signed.items())


def checked_by_rsa(sample, signature, content):
    key = load_der_public_key(b64decode(sample["secret"]))
    key.verify(b64decode(signature), content.encode(), padding.PKCS1v15(), SHA256())


def test_the_samples_of_paypal_and_sns_follow_their_formulas():
    paypal = preset_of("paypal").profile["sample"]
    fields = paypal["headers"]
    parts = (
        fields["PAYPAL-TRANSMISSION-ID"],
        fields["PAYPAL-TRANSMISSION-TIME"],
        paypal["settings"]["webhook_id"],
        str(zlib.crc32(paypal["body"].encode())),
    )
    checked_by_rsa(paypal, fields["PAYPAL-TRANSMISSION-SIG"], "|".join(parts))
    sns = preset_of("sns").profile["sample"]
    body = json.loads(sns["body"])
    names = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
    checked_by_rsa(sns, body["Signature"], "".join(f"{name}\n{body[name]}\n" for name in names))


def test_one_of_several_signatures_is_enough_and_an_old_version_is_none():
    sample = preset_of("stripe").profile["sample"]
    time, signature, old = sample["headers"]["Stripe-Signature"].split(",")
    rotated = {"Stripe-Signature": f"{time},v1={'0' * 64},{signature}"}
    assert verified("stripe", headers=rotated)
    assert not verified("stripe", headers={"Stripe-Signature": f"{time},{old}"})
    many = ",".join([time, *[f"v1={'0' * 64}"] * 16, signature])
    assert not verified("stripe", headers={"Stripe-Signature": many})


def test_a_parameter_that_is_repeated_is_signed_once():
    """As twilio-python does it since 6.32."""
    url, body = "https://gateway.example/webhooks/twilio", "a=1&a=1&b=&a=2"
    digest = hmac.new(b"12345", f"{url}a1a2b".encode(), hashlib.sha1).digest()
    scheme = scheme_of(preset_of("twilio").profile["authentication"])
    fields = [(b"x-twilio-signature", b64encode(digest))]
    received = Received(fields=fields, body=body.encode(), url=url)
    assert scheme.verifier([b"12345"])(received, 0)


def test_a_signed_address_vouches_for_no_body_but_the_one_whose_digest_it_has():
    sample = preset_of("twilio_events").profile["sample"]
    address, digest = sample["url"].split("&bodySHA256=")
    assert verified("twilio_events", url=sample["url"])
    assert not verified("twilio_events", body="{}")
    body = '{"another": "body"}'
    other = f"{address}&bodySHA256={hashlib.sha256(body.encode()).hexdigest()}"
    for url in (other, address, f"{sample['url']}&bodySHA256={digest}"):
        assert not verified("twilio_events", url=url, body=body)
    scheme = scheme_of(preset_of("twilio_events").profile["authentication"])
    for url in (address, "https://gateway.example/webhooks/twilio_events"):
        sent = scheme.authenticated([b"12345"], Received(fields=(), body=b"[]", url=url), "m-1", 0)
        assert sent.url.count("?") == 1
        assert scheme.verifier([b"12345"])(sent, 0)
    assert scheme.signs_member("/id")


def test_a_digest_that_nobody_signed_is_refused():
    rules = preset_of("twilio_events").profile["authentication"]
    with pytest.raises(InvalidScheme, match=r"is not signed.*; add its place to content"):
        scheme_of({**rules, "content": ["$request.method"]})
