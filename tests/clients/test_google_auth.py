"""The mock's token endpoint against Google's own library for access tokens."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httplib2
import httpx
import pytest
from google.auth.exceptions import RefreshError
from google.oauth2.credentials import Credentials
from google.oauth2.service_account import Credentials as ServiceAccount
from google_auth_httplib2 import Request

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.clock import SystemClock
from gateway.testing.asgi_server import serving
from gateway.testing.live import service_account_key
from tests.clients.contracts import upstream

SCOPES = ["https://www.googleapis.com/auth/spreadsheets"]


def token_url(url: str) -> str:
    sheets = upstream("sheets")
    operation = sheets.tokens[0].operation
    return url + next(each.path for each in sheets.operations if each.id == operation)


@asynccontextmanager
async def mock() -> AsyncIterator[str]:
    async with serving(asgi_app(MockApplication(upstream("sheets"), SystemClock()))) as url:
        yield url


def user(url: str, **parts: str) -> Any:
    given = {"client_id": "c", "client_secret": "s", "refresh_token": "r"} | parts
    return Credentials(None, token_uri=token_url(url), **given)


def robot(url: str) -> Any:
    facts = json.loads(service_account_key()) | {"token_uri": token_url(url)}
    return ServiceAccount.from_service_account_info(facts, scopes=SCOPES)


def refresh(credentials: Any) -> Any:
    """In a thread, because the library blocks and the mock lives in this one's loop."""
    http = httplib2.Http()
    try:
        credentials.refresh(Request(http))
    finally:
        http.close()
    return credentials


@pytest.mark.parametrize("make", [user, robot])
async def test_the_library_gets_a_token_that_opens_the_api(make: Callable[..., Any]) -> None:
    async with mock() as url:
        credentials = await asyncio.to_thread(refresh, make(url))
        assert credentials.valid
        async with httpx.AsyncClient(base_url=url) as http:
            path = "/v4/spreadsheets/mock-spreadsheet/values/Clients!A1:B2"
            token = f"Bearer {credentials.token}"
            let_in = await http.get(path, headers={"authorization": token})
            kept_out = await http.get(path, headers={"authorization": f"{token}x"})
    assert let_in.status_code != 401
    assert kept_out.status_code == 401


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"refresh_token": "revoked"}, "invalid_grant: Token has been expired or revoked."),
        ({"client_secret": "revoked"}, "invalid_client"),
    ],
)
async def test_the_library_understands_why_there_is_no_token(
    parts: dict[str, str], said: str
) -> None:
    async with mock() as url:
        with pytest.raises(RefreshError, match=said) as refused:
            await asyncio.to_thread(refresh, user(url, **parts))
    assert refused.value.retryable is False
