"""Google's own client against the Gmail mock over HTTP: it sends, drafts, reads and understands."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import pytest
import pytest_asyncio
from google.auth.exceptions import RefreshError
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.backends.mock.faults import parse_step
from gateway.clock import SystemClock
from gateway.testing.asgi_server import serving
from tests.clients.contracts import upstream

THREAD = "18c0f3a2b4d5e601"
REFRESH_TOKEN = "any-refresh-token"

Gmail = Callable[[Callable[[Any], Any]], Awaitable[Any]]
"""Runs a function of the client's `users()` resource in a thread, as programs use the client."""


def _use(url: str, use: Callable[[Any], Any], refresh_token: str = REFRESH_TOKEN) -> Any:
    credentials = Credentials(
        token=None,
        refresh_token=refresh_token,
        token_uri=f"{url}/token",
        client_id="any-client",
        client_secret="any-secret",
    )
    options = {"api_endpoint": url}
    with build(
        "gmail", "v1", credentials=credentials, client_options=options, static_discovery=True
    ) as service:
        return use(service.users())


@pytest_asyncio.fixture
async def mock() -> AsyncIterator[str]:
    """The base URL of a fresh mock."""
    async with serving(asgi_app(MockApplication(upstream("gmail"), SystemClock()))) as url:
        yield url


@pytest.fixture
def gmail(mock: str) -> Gmail:
    return lambda use: asyncio.to_thread(_use, mock, use)


def _raw(**headers: str) -> str:
    mail = EmailMessage(policy=SMTP)
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content("Grüße aus Köln")
    mail.add_alternative("<p>Grüße aus Köln</p>", subtype="html")
    mail.add_attachment(b"\x00\xff", maintype="image", subtype="png", filename="Foto ü.png")
    return base64.urlsafe_b64encode(mail.as_bytes()).decode()


def _header(message: dict[str, Any], name: str) -> str:
    headers = message["payload"]["headers"]
    return str(next(each["value"] for each in headers if each["name"] == name))


async def test_a_sent_message_is_read_in_every_format(gmail: Gmail) -> None:
    raw = _raw(To="client@example.com", Subject="Größe")
    sent = await gmail(
        lambda users: users.messages().send(userId="me", body={"raw": raw}).execute()
    )
    assert sent["labelIds"] == ["SENT"]

    def read(form: str, **options: Any) -> Any:
        return lambda users: (
            users.messages().get(userId="me", id=sent["id"], format=form, **options).execute()
        )

    full = await gmail(read("full"))
    assert _header(full, "Subject") == "Größe"
    assert _header(full, "From") == "agent@example.com"
    assert full["snippet"] == "Grüße aus Köln"
    alternative, photo = full["payload"]["parts"]
    plain, rich = alternative["parts"]
    assert base64.urlsafe_b64decode(plain["body"]["data"]).decode() == "Grüße aus Köln\r\n"
    assert (rich["partId"], rich["mimeType"]) == ("0.1", "text/html")
    assert (photo["filename"], photo["body"]["size"]) == ("Foto ü.png", 2)
    assert "data" not in photo["body"]

    again = message_from_bytes(
        base64.urlsafe_b64decode((await gmail(read("raw")))["raw"]), policy=SMTP
    )
    assert again["To"] == "client@example.com"
    metadata = await gmail(read("metadata", metadataHeaders=["Subject"]))
    assert metadata["payload"]["headers"] == [{"name": "Subject", "value": "Größe"}]
    assert "payload" not in await gmail(read("minimal"))


async def test_a_draft_is_created(gmail: Gmail) -> None:
    body = {"message": {"raw": _raw(To="client@example.com", Subject="Hi")}}
    draft = await gmail(lambda users: users.drafts().create(userId="me", body=body).execute())
    assert draft["message"]["labelIds"] == ["DRAFT"]
    read = await gmail(
        lambda users: users.messages().get(userId="me", id=draft["message"]["id"]).execute()
    )
    assert read["threadId"] == draft["message"]["threadId"]


async def test_an_answer_joins_its_thread_and_another_subject_does_not(gmail: Gmail) -> None:
    def answer(subject: str) -> Any:
        headers = {"To": "client@example.com", "Subject": subject, "In_Reply_To": "<request-3@x>"}
        body = {"raw": _raw(**headers), "threadId": THREAD}
        return lambda users: users.messages().send(userId="me", body=body).execute()

    joined = await gmail(answer("Re: Flight request"))
    apart = await gmail(answer("Something else"))
    assert (joined["threadId"], apart["threadId"]) == (THREAD, apart["id"])
    thread = await gmail(lambda users: users.threads().get(userId="me", id=THREAD).execute())
    assert [each["id"] for each in thread["messages"]][3:] == [joined["id"]]


@pytest.mark.parametrize(
    ("use", "status", "reason"),
    [
        (lambda users: users.messages().get(userId="me", id="18c0ffffffffffff"), 404, "notFound"),
        (lambda users: users.messages().get(userId="me", id="msg_001"), 400, "invalidArgument"),
        (lambda users: users.threads().get(userId="me", id="18c0ffffffffffff"), 404, "notFound"),
        (lambda users: users.messages().get(userId="x@example.com", id=THREAD), 403, "forbidden"),
        (
            lambda users: users.messages().send(userId="me", body={"raw": _raw(Subject="Hi")}),
            400,
            "invalidArgument",
        ),
        (
            lambda users: users.messages().send(userId="me", body={"raw": _raw(To="human@f")}),
            400,
            "invalidArgument",
        ),
        (
            lambda users: users.messages().send(userId="me", body={"raw": "not base64url!"}),
            400,
            "invalidArgument",
        ),
        (
            lambda users: users.messages().get(userId="me", id="18c0f3a2b4d5e403"),
            403,
            "userRateLimitExceeded",
        ),
    ],
)
async def test_the_client_understands_refusals(
    gmail: Gmail, use: Callable[[Any], Any], status: int, reason: str
) -> None:
    with pytest.raises(HttpError) as caught:
        await gmail(lambda users: use(users).execute())
    assert caught.value.status_code == status
    assert caught.value.error_details[0]["reason"] == reason
    assert caught.value.reason


async def test_the_client_retries_what_the_mock_says_will_pass() -> None:
    steps = [parse_step("readMessage 1 status=503")]
    application = MockApplication(upstream("gmail"), SystemClock(), scenario=steps)
    async with serving(asgi_app(application)) as url:
        read = await asyncio.to_thread(_use, url, lambda users: _thread_start(users, num_retries=1))
    assert read["id"] == THREAD


async def test_a_revoked_refresh_token_is_reported(mock: str) -> None:
    with pytest.raises(RefreshError, match="invalid_grant"):
        await asyncio.to_thread(_use, mock, _thread_start, "revoked")


def _thread_start(users: Any, **options: Any) -> Any:
    return users.messages().get(userId="me", id=THREAD).execute(**options)
