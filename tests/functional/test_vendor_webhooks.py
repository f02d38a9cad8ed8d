"""Vendors' webhooks, from nothing to an event: drafted, linted, signed, sent over sockets.

`python -m tests.presets` prints what is tried of each vendor.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from gateway.authoring.contracts.finding import Severity
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.authoring.project.drafts.events import preset_names
from gateway.authoring.project.staging import OWN_PACKAGES
from tests.eventually import eventually
from tests.gateway_process import RunningGateway, ended_gateway, run_gateway, running_gateway
from tests.presets.cells import verdict_of
from tests.presets.senders import SENDERS, Letter
from tests.presets.trial import ENVIRONMENT, PresetTrial, Sent, project_of_vendors

BRANCHES = {"north": "a secret of the northern branch", "south": "a secret of the southern one"}
ITS_OWN = {
    **ENVIRONMENT,
    "GATEWAY_WEBHOOKS_BRANCHES_SIGNED_SECRETS": ",".join(f"{n}={s}" for n, s in BRANCHES.items()),
}
HERE = {**ITS_OWN, "GATEWAY_DATA": "."}
SHOP = {
    "storedHeaders": ["User-Agent"],
    "contentEncodings": ["gzip"],
    "maxBodyBytes": 16 * 2**20,
}


def draft_branches(folder: Path) -> None:
    """Shopify again, with a secret for each branch, whose name is in the event."""
    name = "branches.orders/create"
    run_gateway(folder, "new", "webhook", name, "--preset", "shopify", environment=ITS_OWN)
    webhook = folder / "schemas/webhooks/branches/webhook.yaml"
    text = webhook.read_text()
    text = text.replace("      signed:\n", "      signed:\n        tenant: {header: X-Branch}\n")
    webhook.write_text(text.replace("$request.body}", "$request.body, branch: $call.tenant}"))
    event = folder / "schemas/events/branches.received.v1.json"
    branch = (
        '"branch": {"description": "Whose.", "type": "string", "minLength": 1, "maxLength": 100}'
    )
    event.write_text(event.read_text().replace('"message": {', f'{branch}, "message": {{'))


@pytest.fixture(scope="module")
def project(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with every vendor."""
    folder = new_initial(tmp_path_factory.mktemp("vendors"))
    project_of_vendors(folder, *preset_names(), "stripe.charge.refunded")
    draft_branches(folder)
    shop = folder / "schemas/webhooks/shopify/webhook.yaml"
    added = "".join(f"    {name}: {json.dumps(value)}\n" for name, value in SHOP.items())
    shop.write_text(shop.read_text().replace("    events:\n", f"{added}    events:\n"))
    return folder


@pytest.fixture(scope="module")
def gateway(project: Path) -> Iterator[RunningGateway]:
    run_gateway(project, "generate", environment=ITS_OWN)
    with running_gateway(project, environment=ITS_OWN) as running:
        yield running


@pytest.fixture(scope="module")
def trial(gateway: RunningGateway) -> Iterator[PresetTrial]:
    with closing(PresetTrial(gateway)) as opened:
        yield opened


def stored(gateway: RunningGateway, provider: str) -> list[dict[str, Any]]:
    url = f"{gateway.url}/operator/webhooks?provider={provider}"
    found = httpx.get(url, headers={"Authorization": f"Bearer {gateway.key}"})
    items: list[dict[str, Any]] = found.json()["items"]
    return items


async def completed(gateway: RunningGateway, provider: str, webhook_id: str) -> None:
    async def is_completed() -> bool | None:
        rows = {row["id"]: row["state"] for row in stored(gateway, provider)}
        return rows[webhook_id] == "completed" or None

    await eventually(is_completed)


async def test_four_commands_lead_from_nothing_to_an_event(tmp_path: Path) -> None:
    run_gateway(tmp_path, "init", "pay", environment=ENVIRONMENT)
    folder = tmp_path / "pay"
    told = run_gateway(folder, "new", "webhook", "stripe", environment=ENVIRONMENT)
    with running_gateway(folder, environment=ENVIRONMENT) as gateway:
        here = {**ENVIRONMENT, "GATEWAY_DATA": "."}
        to = ["--to", gateway.url]
        sent = run_gateway(folder, "webhooks", "send", "stripe", *to, environment=here)
        (row,) = stored(gateway, "stripe")
        await completed(gateway, "stripe", row["id"])
        events = run_gateway(folder, "events", "list", environment=here)
    assert sent == f"202 stored; see: gateway webhooks show {row['id']}\n"
    assert "gateway.stripe.received.v1" in events
    _, _, said = told.partition("Try it:\n")
    assert said.startswith("  gateway serve\n  gateway webhooks send stripe\n")
    assert "  GATEWAY_WEBHOOKS_STRIPE_SIGNED_SECRETS: the signing secret" in said
    assert "questions" not in told


def test_every_draft_lints(project: Path) -> None:
    found = lint(read_tree(project / "schemas"), packages=OWN_PACKAGES)
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert [f"{each.path} {each.rule} {each.message}" for each in errors] == []


@pytest.mark.parametrize("name", [*preset_names(), "stripe.charge.refunded"])
async def test_a_message_of_each_vendor_becomes_an_event(
    gateway: RunningGateway, project: Path, name: str
) -> None:
    sent = run_gateway(
        project, "webhooks", "send", name, "--to", gateway.url, "--json", environment=HERE
    )
    answer = json.loads(sent)
    assert (answer["status"], answer["answer"]["outcome"]) == (202, "stored")

    await completed(gateway, name.partition(".")[0], answer["answer"]["id"])
    events = run_gateway(project, "events", "list", "--json", environment=HERE)
    assert f'"gateway.{name.partition(".")[0]}.received.v1"' in events


@pytest.mark.parametrize("vendor", preset_names())
def test_what_a_vendor_sends_is_taken_and_what_it_does_not_send_is_refused(
    trial: PresetTrial, vendor: str
) -> None:
    assert verdict_of(trial, vendor).wrong == {}


def test_a_gateway_that_does_not_suit_a_vendor_is_found(
    trial: PresetTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot find a fault shows nothing."""
    moved = replace(SENDERS["slack"], id="/api_app_id", type="/token")
    monkeypatch.setitem(SENDERS, "slack", moved)
    found = verdict_of(trial, "slack")
    assert [*found.wrong] == ["body", "id", "type"]
    assert [*found.cells.values()] == ["yes", "POST", "no", "no", "no", "yes"]
    monkeypatch.setitem(SENDERS, "slack", replace(moved, signed=SENDERS["zoom"].signed))
    assert "signature" in verdict_of(trial, "slack").wrong


def sent_by(gateway: RunningGateway, branch: str) -> list[dict[str, Any]]:
    """The answers to a message that a branch sends twice."""
    letter = Letter(secret=BRANCHES[branch], body=b'{"id": 7}', at=0, url="", id="")
    fields = {**SENDERS["shopify"].signed(letter), "X-Branch": branch}
    fields |= {"X-Shopify-Topic": "orders/create", "X-Shopify-Webhook-Id": "w-1"}
    fields["Content-Type"] = "application/json"
    url = f"{gateway.url}/webhooks/branches"
    return [httpx.post(url, content=letter.body, headers=fields).json() for _ in range(2)]


async def test_each_tenant_s_messages_are_its_own_and_events_name_it(
    gateway: RunningGateway, project: Path
) -> None:
    for branch in BRANCHES:
        first, again = sent_by(gateway, branch)
        assert (first["outcome"], again["outcome"]) == ("stored", "duplicate")
        await completed(gateway, "branches", first["id"])
    sent = run_gateway(
        project, "webhooks", "send", "branches", "--to", gateway.url, "--json", environment=HERE
    )
    await completed(gateway, "branches", json.loads(sent)["answer"]["id"])

    kind = "gateway.branches.received.v1"
    text = run_gateway(project, "events", "list", "--type", kind, "--json", environment=HERE)
    found = sorted(each["data"]["branch"] for each in json.loads(text)["items"])
    assert found == ["north", "north", "south"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["webhooks", "send", "strip"], ["there is no webhook provider strip", "mean stripe?"]),
        (["webhooks", "send", "nobody"], ["no webhook provider nobody", "known are"]),
        (["webhooks", "send", "stripe.x"], ["stripe has no event x", "known are invoice.paid"]),
        (["webhooks", "send", "stripe", "--body", "gateway.toml"], ["is not JSON", "leave --body"]),
        (["webhooks", "send", "paypal"], ["PAYPAL_WEBHOOK_ID", "in PayPal's dashboard"]),
        (["new", "webhook", "strpe"], ["no preset of a vendor 'strpe'", "mean stripe?"]),
        (["new", "webhook", "nobody"], ["no preset of a vendor", "new webhook --help"]),
        (["new", "webhook", "stripe"], ["has the event invoice.paid already", "stripe.TYPE"]),
        (
            ["new", "webhook", "stripe", "--preset", "slack"],
            ["not as Slack does", "another provider"],
        ),
    ],
)
def test_what_cannot_be_done_is_said_once_with_its_fix(
    project: Path, gateway: RunningGateway, arguments: list[str], said: list[str]
) -> None:
    to = ["--to", gateway.url] if "send" in arguments else []
    here = HERE | {"GATEWAY_WEBHOOKS_PAYPAL_WEBHOOK_ID": ""}
    code, out, error = ended_gateway(project, *arguments, *to, environment=here)
    assert (code, out) == (2, "")
    assert error.count("error:") == error.count("fix:") == 1
    assert all(each in error for each in said), error


def test_a_challenge_that_nobody_signed_is_refused(gateway: RunningGateway) -> None:
    body = {"type": "url_verification", "challenge": "stolen"}
    answer = httpx.post(f"{gateway.url}/webhooks/slack", json=body)
    assert answer.status_code == 401
    assert "stolen" not in answer.text


@pytest.mark.parametrize("token", ["a\nb", "x" * 2_001, "\x1b[31m"])
def test_a_token_that_is_no_line_of_text_is_not_repeated(
    gateway: RunningGateway, token: str
) -> None:
    answer = httpx.get(f"{gateway.url}/webhooks/dropbox", params={"challenge": token})
    assert answer.status_code == 400
    assert token not in answer.text


def test_other_methods_say_which_there_are(gateway: RunningGateway) -> None:
    answer = httpx.put(f"{gateway.url}/webhooks/dropbox")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS, GET")
    assert httpx.get(f"{gateway.url}/webhooks/dropbox").status_code == 405


def test_a_batch_is_stored_as_its_messages_once(
    gateway: RunningGateway, trial: PresetTrial
) -> None:
    messages = [{"eventId": 900 + n, "subscriptionType": "contact.creation"} for n in range(50)]
    first = trial.send("hubspot", messages, {}).json()
    assert (first["outcome"], first["messages"]) == ("stored", 50)
    again = trial.send("hubspot", messages, {})
    assert (again.status_code, again.json()["outcome"]) == (200, "duplicate")
    other = {"eventId": 999, "subscriptionType": "deal.creation"}
    more = trial.send("hubspot", [*messages, other], {})
    assert more.json()["outcome"] == "quarantined"
    ids = [row["message_id"] for row in stored(gateway, "hubspot")]
    assert len(ids) == len(set(ids))


def ordered(trial: PresetTrial, length: int, **headers: str) -> httpx.Response:
    """An order of Shopify of so many letters."""

    def packed(body: bytes, fields: dict[str, str]) -> Sent:
        return gzip.compress(body) if "Content-Encoding" in headers else body, fields

    messages, fields = trial.message("shopify", note="a" * length)
    return trial.send("shopify", messages, {**fields, **headers}, changed=packed)


def test_a_compressed_body_is_read_within_its_limit(trial: PresetTrial) -> None:
    packed = {"Content-Encoding": "gzip"}
    assert ordered(trial, 1, **packed).json()["outcome"] == "stored"
    assert ordered(trial, 17 * 2**20, **packed).status_code == 413
    refused = ordered(trial, 1, **{"Content-Encoding": "br"})
    assert refused.status_code == 415
    assert "gzip" in refused.json()["detail"]


def test_the_contract_s_limit_holds_for_large_bodies(trial: PresetTrial) -> None:
    assert ordered(trial, 15 * 2**20).json()["outcome"] == "stored"
    refused = ordered(trial, 17 * 2**20)
    assert refused.status_code == 413
    assert "the limit of `maxBodyBytes` of the webhook." in refused.json()["detail"]


async def test_a_type_that_is_ignored_is_kept_and_alarms_nobody(
    gateway: RunningGateway, trial: PresetTrial
) -> None:
    answer = trial.send("github", *trial.message("github", kind="ping"))
    assert answer.json()["outcome"] == "stored"
    await completed(gateway, "github", answer.json()["id"])
