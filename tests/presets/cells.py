"""What a gateway must do with the messages of a vendor, each tried over sockets."""

import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx
from msgspec import Struct

from gateway.authoring.project.drafts.events import preset_of
from gateway.signatures.registry import scheme_of
from tests.presets.senders import SENDERS
from tests.presets.trial import VERIFY_TOKEN, PresetTrial, Sent, Wrong, expect, new_id

NOTHING: Final = "-"
_TWO_DAYS: Final = 2 * 86_400
_NOTE: Final = "Grüße 🚀"
_UNKNOWN: Final = "a.type.that.nobody.declared"


class PresetVerdict(Struct, frozen=True, kw_only=True):
    """What became of the messages of one vendor."""

    vendor: str
    cells: Mapping[str, str]
    """What the vendor has of each of `TRIED`: `-` for nothing, `no` where it goes wrong."""
    wrong: Mapping[str, str]
    """What goes wrong, by the same names."""


def verdict_of(trial: PresetTrial, vendor: str) -> PresetVerdict:
    """Try all that the vendor sends."""
    cells, wrong = {}, {}
    for name, tried in TRIED.items():
        try:
            cells[name] = tried(trial, vendor)
        except (Wrong, ValueError, KeyError, httpx.HTTPError) as error:
            cells[name], wrong[name] = "no", f"{error}"
    return PresetVerdict(vendor=vendor, cells=cells, wrong=wrong)


def _signature(trial: PresetTrial, vendor: str) -> str:
    """One of another secret, of other bytes, and none are refused; a good one is accepted."""
    sender = SENDERS[vendor]
    scheme = scheme_of(preset_of(vendor).profile["authentication"])
    credentials = scheme.credential_headers

    def bare(body: bytes, headers: dict[str, str]) -> Sent:
        return body, {
            name: text for name, text in headers.items() if name.lower() not in credentials
        }

    messages, fields = trial.message(vendor)
    expect(trial.send(vendor, messages, fields, secret=scheme.new_secret()), 401)
    if not sender.is_presented:
        expect(trial.send(vendor, messages, fields, changed=_forged), 401)
    if credentials:
        expect(trial.send(vendor, messages, fields, changed=bare), 401)
    expect(trial.send(vendor, messages, fields), 202, "stored")
    return "yes"


def _forged(body: bytes, headers: dict[str, str]) -> Sent:
    """One letter is another."""
    return body.replace(b"a", b"b", 1), headers


def _challenge(trial: PresetTrial, vendor: str) -> str:
    asked = CHALLENGES.get(vendor)
    return NOTHING if asked is None else asked(trial, vendor)


def _echoed(method: str, parameter: str) -> Callable[[PresetTrial, str], str]:
    """A parameter of the address is the answer, as plain text."""

    def asked(trial: PresetTrial, vendor: str) -> str:
        headers = {"Content-Type": "text/plain; charset=utf-8"} if method == "POST" else {}
        answer = trial.ask(method, vendor, params={parameter: "Validation: 1 & 2"}, headers=headers)
        same(answer.text, "Validation: 1 & 2")
        same(answer.headers["content-type"], "text/plain; charset=utf-8")
        return method

    return asked


def _head(trial: PresetTrial, vendor: str) -> str:
    same(trial.ask("HEAD", vendor).status_code, 200)
    return "HEAD"


def _subscribed(trial: PresetTrial, vendor: str) -> str:
    """The token of the operator stands beside what is to be answered."""
    asked = {"hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "another"}
    expect(trial.ask("GET", vendor, params=asked), 401)
    asked["hub.verify_token"] = VERIFY_TOKEN
    same(trial.ask("GET", vendor, params=asked).text, "1158201444")
    return "GET"


def _allowed(trial: PresetTrial, vendor: str) -> str:
    origin = {"WebHook-Request-Origin": "emitter.example"}
    answer = trial.ask("OPTIONS", vendor, headers=origin)
    same(answer.headers.get("webhook-allowed-origin"), "emitter.example")
    return "OPTIONS"


def _slack(trial: PresetTrial, vendor: str) -> str:
    body = {"token": "x", "type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV"}
    same(trial.send(vendor, [body], {}).json(), {"challenge": body["challenge"]})
    expect(trial.send(vendor, [body], {}, secret="another secret"), 401)
    return "POST"


def _zoom(trial: PresetTrial, vendor: str) -> str:
    token = "qgg8vlvZRS6UYooatFL8Aw"
    body = {"event": "endpoint.url_validation", "payload": {"plainToken": token}}
    known = hmac.new(trial.secret_of(vendor).encode(), token.encode(), "sha256").hexdigest()
    same(trial.send(vendor, [body], {}).json(), {"plainToken": token, "encryptedToken": known})
    expect(trial.send(vendor, [body], {}, secret="another secret"), 401)
    return "POST"


def _confirmation(trial: PresetTrial, vendor: str) -> str:
    """The gateway visits no address that a message names, and keeps the message for a person."""
    url = "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription"
    named = {"Token": "2336412f37fb687f5d51e6e2425d", "SubscribeURL": url}
    messages, fields = trial.message(vendor, kind="SubscriptionConfirmation", **named)
    found = trial.processed(trial.send(vendor, messages, fields))
    same(found["payload"]["SubscribeURL"], url)
    return "by hand"


CHALLENGES: Final[Mapping[str, Callable[[PresetTrial, str], str]]] = {
    "cloudevents": _allowed,
    "dropbox": _echoed("GET", "challenge"),
    "intercom": _head,
    "meta": _subscribed,
    "microsoft_graph": _echoed("POST", "validationToken"),
    "slack": _slack,
    "sns": _confirmation,
    "trello": _head,
    "zoom": _zoom,
}
"""How vendors ask whether an address is theirs who gave it, as they document it."""


def _body(trial: PresetTrial, vendor: str) -> str:
    """What a message says arrives, in each form in which the vendor sends it."""
    sender = SENDERS[vendor]
    for content_type in (sender.content_type, *preset_of(vendor).content):
        messages, fields = trial.message(vendor, note=_NOTE)
        fields["Content-Type"] = content_type
        found = trial.processed(trial.send(vendor, messages, fields))
        payload = found["payload"]
        same(dict(parse_qsl(payload)) if sender.is_form else payload, messages[0])
    if sender.listed is None:
        return "form" if sender.is_form else "json"
    several = [trial.message(vendor)[0][0] for _ in range(3)]
    answer = expect(trial.send(vendor, several, {}), 202, "stored")
    same(answer.get("messages"), len(several))
    return "list"


def _id(trial: PresetTrial, vendor: str) -> str:
    """A message that is sent again is one message. Without an id, equal bytes are."""
    number, profile = new_id(vendor), preset_of(vendor).profile
    now = int(time.time())
    messages, fields = trial.message(vendor, number)
    first = expect(trial.send(vendor, messages, fields, at=now), 202, "stored")
    if SENDERS[vendor].id is None:
        again = trial.send(vendor, messages, fields, at=now)
        if profile.get("sameBytes") == "new":
            expect(again, 202, "stored")
            return "none"
        expect(again, 200, "duplicate")
        return "bytes"
    later = now if SENDERS[vendor].filled else now + 1
    again = expect(trial.send(vendor, messages, fields, at=later), 200, "duplicate")
    same(again["id"], first["id"])
    messages, fields = trial.message(vendor)
    expect(trial.send(vendor, messages, fields), 202, "stored")
    return "yes"


def _type(trial: PresetTrial, vendor: str) -> str:
    """It is found. One that is not declared waits for an operator, one to ignore for nobody."""
    preset = preset_of(vendor)
    messages, fields = trial.message(vendor)
    same(trial.processed(trial.send(vendor, messages, fields))["event_type"], preset.event)
    if SENDERS[vendor].type is None:
        return "one"
    for ignored in preset.ignore:
        messages, fields = trial.message(vendor, kind=ignored)
        expect(trial.send(vendor, messages, fields), 202, "stored")
    messages, fields = trial.message(vendor, kind=_UNKNOWN)
    expect(trial.send(vendor, messages, fields), 202, "quarantined")
    return "yes"


def _replay(trial: PresetTrial, vendor: str) -> str:
    """What was signed long ago, or will be, is refused."""
    if not SENDERS[vendor].is_timed:
        return NOTHING
    for moved in (-_TWO_DAYS, _TWO_DAYS):
        messages, fields = trial.message(vendor)
        expect(trial.send(vendor, messages, fields, at=int(time.time()) + moved), 401)
    return "yes"


def same(found: Any, wanted: Any) -> None:
    """Raises `Wrong` if it is something else."""
    if found != wanted:
        raise Wrong(f"{json.dumps(found)}, not {json.dumps(wanted)}")


TRIED: Final[Mapping[str, Callable[[PresetTrial, str], str]]] = {
    "signature": _signature,
    "challenge": _challenge,
    "body": _body,
    "id": _id,
    "type": _type,
    "replay": _replay,
}
