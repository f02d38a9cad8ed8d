"""What each vendor sends, written from its documents and from nothing of the gateway's.

A sender says how a request is signed, and where its id, its type and its time stand.
"""

import base64
import hashlib
import hmac
import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_private_key
from msgspec import Struct

PAYPAL_WEBHOOK: Final = "1JE4291016473214C"
"""The id of the webhook that the operator has at PayPal."""


class Letter(Struct, frozen=True, kw_only=True):
    """A request before it is signed."""

    secret: str
    body: bytes
    at: int
    """When it is sent, in seconds since 1970."""
    url: str
    id: str


Fields = dict[str, str]


class Sender(Struct, frozen=True, kw_only=True):
    """One vendor."""

    signed: Callable[[Letter], Fields]
    """The header fields that authenticate a request."""
    id: str | None
    """The header, or the pointer into the message, with its id. None: it has none."""
    type: str | None
    """The same of its type. None: there is one type."""
    content_type: str = "application/json"
    listed: Callable[[list[Any]], Any] | None = None
    """The body with several messages. None: a request has one message."""
    filled: Callable[[dict[str, Any], str, int], None] | None = None
    """Puts what a message contains of a secret and a time into it."""
    addressed: Callable[[bytes], str] = lambda _: ""
    """The query of the address, of the body."""
    is_timed: bool = True
    """Whether a request says when it was sent."""
    is_form: bool = False
    is_presented: bool = False
    """Whether a secret is presented and nothing is signed."""


def mac(letter: Letter, content: bytes, algorithm: str = "sha256") -> bytes:
    return hmac.digest(letter.secret.encode(), content, algorithm)


def text_of(value: bytes) -> str:
    return base64.b64encode(value).decode()


def moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _hex(header: str, prefix: str = "", algorithm: str = "sha256") -> Callable[[Letter], Fields]:
    """Signed is the body."""
    return lambda letter: {header: prefix + mac(letter, letter.body, algorithm).hex()}


def _versioned(signature: str, time: str) -> Callable[[Letter], Fields]:
    """As Slack and Zoom sign: `v0:<time>:<body>`."""

    def signed(letter: Letter) -> Fields:
        content = f"v0:{letter.at}:".encode() + letter.body
        return {signature: f"v0={mac(letter, content).hex()}", time: str(letter.at)}

    return signed


def _standard(prefix: str) -> Callable[[Letter], Fields]:
    """Standard Webhooks 1.0.0: `<id>.<time>.<body>`, the key in base64 after `whsec_`."""

    def signed(letter: Letter) -> Fields:
        key = base64.b64decode(letter.secret.removeprefix("whsec_"))
        content = f"{letter.id}.{letter.at}.".encode() + letter.body
        return {
            f"{prefix}-id": letter.id,
            f"{prefix}-timestamp": str(letter.at),
            f"{prefix}-signature": f"v1,{text_of(hmac.digest(key, content, 'sha256'))}",
        }

    return signed


def _stripe(letter: Letter) -> Fields:
    signature = mac(letter, f"{letter.at}.".encode() + letter.body).hex()
    return {"Stripe-Signature": f"t={letter.at},v1={signature}"}


def _paddle(letter: Letter) -> Fields:
    signature = mac(letter, f"{letter.at}:".encode() + letter.body).hex()
    return {"Paddle-Signature": f"ts={letter.at};h1={signature}"}


def _twilio(letter: Letter) -> Fields:
    pairs = sorted(set(parse_qsl(letter.body.decode(), keep_blank_values=True)))
    content = letter.url + "".join(f"{name}{value}" for name, value in pairs)
    return {"X-Twilio-Signature": text_of(mac(letter, content.encode(), "sha1"))}


def _twilio_events(letter: Letter) -> Fields:
    """Signed is the address, which has the digest of the body."""
    return {"X-Twilio-Signature": text_of(mac(letter, letter.url.encode(), "sha1"))}


def _zendesk(letter: Letter) -> Fields:
    time = moment(letter.at)
    return {
        "X-Zendesk-Webhook-Signature": text_of(mac(letter, time.encode() + letter.body)),
        "X-Zendesk-Webhook-Signature-Timestamp": time,
    }


def _hubspot(letter: Letter) -> Fields:
    time = str(letter.at * 1000)
    content = b"".join((b"POST", letter.url.encode(), letter.body, time.encode()))
    return {
        "X-HubSpot-Signature-v3": text_of(mac(letter, content)),
        "X-HubSpot-Request-Timestamp": time,
    }


def _trello(letter: Letter) -> Fields:
    return {"X-Trello-Webhook": text_of(mac(letter, letter.body + letter.url.encode(), "sha1"))}


def _by_rsa(secret: str, content: str) -> str:
    key = load_der_private_key(base64.b64decode(secret), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return text_of(key.sign(content.encode(), padding.PKCS1v15(), SHA256()))


def _paypal(letter: Letter) -> Fields:
    transmission, time = f"69cd13f0-{letter.at}", moment(letter.at)
    parts = (transmission, time, PAYPAL_WEBHOOK, str(zlib.crc32(letter.body)))
    return {
        "PAYPAL-TRANSMISSION-ID": transmission,
        "PAYPAL-TRANSMISSION-TIME": time,
        "PAYPAL-TRANSMISSION-SIG": _by_rsa(letter.secret, "|".join(parts)),
    }


def _sendgrid(letter: Letter) -> Fields:
    key = load_der_private_key(base64.b64decode(letter.secret), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signature = key.sign(str(letter.at).encode() + letter.body, ec.ECDSA(SHA256()))
    return {
        "X-Twilio-Email-Event-Webhook-Signature": text_of(signature),
        "X-Twilio-Email-Event-Webhook-Timestamp": str(letter.at),
    }


def _sns(message: dict[str, Any], secret: str, at: int) -> None:
    """The signature is a member of the message, over some of the others in their order."""
    message["Timestamp"] = moment(at)
    if message["Type"] != "Notification":
        del message["Subject"]
    names = ("Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token")
    pairs = (f"{n}\n{message[n]}\n" for n in (*names, "TopicArn", "Type") if n in message)
    message["Signature"] = _by_rsa(secret, "".join(pairs))


def _graph(message: dict[str, Any], secret: str, at: int) -> None:
    message["clientState"] = secret


def _linear(message: dict[str, Any], secret: str, at: int) -> None:
    message["webhookTimestamp"] = at * 1000


def _by_itself(letter: Letter) -> Fields:
    return {}


def _bearer(letter: Letter) -> Fields:
    return {"Authorization": f"Bearer {letter.secret}"}


def _gitlab(letter: Letter) -> Fields:
    return {"X-Gitlab-Token": letter.secret}


def _shopify(letter: Letter) -> Fields:
    return {"X-Shopify-Hmac-Sha256": text_of(mac(letter, letter.body))}


SENDERS: Final[dict[str, Sender]] = {
    "cloudevents": Sender(
        signed=_bearer,
        id="/id",
        type="/type",
        content_type="application/cloudevents+json; charset=utf-8",
        is_timed=False,
        is_presented=True,
    ),
    "dropbox": Sender(signed=_hex("X-Dropbox-Signature"), id=None, type=None, is_timed=False),
    "github": Sender(
        signed=_hex("X-Hub-Signature-256", "sha256="),
        id="X-GitHub-Delivery",
        type="X-GitHub-Event",
        is_timed=False,
    ),
    "gitlab_signed": Sender(signed=_standard("webhook"), id="webhook-id", type="X-Gitlab-Event"),
    "gitlab": Sender(
        signed=_gitlab,
        id="Idempotency-Key",
        type="X-Gitlab-Event",
        is_timed=False,
        is_presented=True,
    ),
    "hubspot": Sender(
        signed=_hubspot,
        id="/eventId",
        type="/subscriptionType",
        content_type="application/json;charset=UTF-8",
        listed=lambda messages: messages,
    ),
    "intercom": Sender(
        signed=_hex("X-Hub-Signature", "sha1=", "sha1"), id="/id", type="/topic", is_timed=False
    ),
    "linear": Sender(
        signed=_hex("Linear-Signature"),
        id="Linear-Delivery",
        type="/type",
        content_type="application/json; charset=utf-8",
        filled=_linear,
    ),
    "meta": Sender(
        signed=_hex("X-Hub-Signature-256", "sha256="), id=None, type="/object", is_timed=False
    ),
    "microsoft_graph": Sender(
        signed=_by_itself,
        id=None,
        type="/changeType",
        listed=lambda messages: {"value": messages},
        filled=_graph,
        is_timed=False,
        is_presented=True,
    ),
    "paddle": Sender(signed=_paddle, id="/event_id", type="/event_type"),
    "paypal": Sender(signed=_paypal, id="/id", type="/event_type"),
    "sendgrid": Sender(
        signed=_sendgrid, id="/sg_event_id", type="/event", listed=lambda messages: messages
    ),
    "shopify": Sender(
        signed=_shopify, id="X-Shopify-Webhook-Id", type="X-Shopify-Topic", is_timed=False
    ),
    "slack": Sender(
        signed=_versioned("X-Slack-Signature", "X-Slack-Request-Timestamp"),
        id="/event_id",
        type="/event/type",
    ),
    "sns": Sender(
        signed=_by_itself,
        id="/MessageId",
        type="/Type",
        content_type="text/plain; charset=UTF-8",
        filled=_sns,
    ),
    "standard_webhooks": Sender(signed=_standard("webhook"), id="webhook-id", type="/type"),
    "stripe": Sender(
        signed=_stripe, id="/id", type="/type", content_type="application/json; charset=utf-8"
    ),
    "svix": Sender(signed=_standard("svix"), id="svix-id", type="/type"),
    "trello": Sender(signed=_trello, id="/action/id", type="/action/type", is_timed=False),
    "twilio": Sender(
        signed=_twilio,
        id="I-Twilio-Idempotency-Token",
        type=None,
        content_type="application/x-www-form-urlencoded; charset=UTF-8",
        is_timed=False,
        is_form=True,
    ),
    "twilio_events": Sender(
        signed=_twilio_events,
        id="/id",
        type="/type",
        listed=lambda messages: messages,
        addressed=lambda body: f"?bodySHA256={hashlib.sha256(body).hexdigest()}",
        is_timed=False,
    ),
    "vercel": Sender(
        signed=_hex("x-vercel-signature", algorithm="sha1"), id="/id", type="/type", is_timed=False
    ),
    "zendesk": Sender(signed=_zendesk, id="/id", type="/type"),
    "zoom": Sender(
        signed=_versioned("x-zm-signature", "x-zm-request-timestamp"), id=None, type="/event"
    ),
}
"""The vendors by the names of their presets."""


def json_of(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
