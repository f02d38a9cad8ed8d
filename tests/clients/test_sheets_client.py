"""Google's own Python client against the Sheets mock over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import google_auth_httplib2
import httplib2
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth.exceptions import RefreshError
from google.oauth2 import credentials as user
from google.oauth2 import service_account
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.clock import SystemClock
from gateway.testing.asgi_server import serving
from tests.clients.contracts import upstream

SCOPE: Final = "https://www.googleapis.com/auth/spreadsheets"
BOOK: Final = "client-database"


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """Where a fresh mock answers."""
    async with serving(asgi_app(MockApplication(upstream("sheets"), SystemClock()))) as url:
        yield url


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def robot(url: str, private_key: str, account: str = "gateway") -> service_account.Credentials:
    """A service account whose key file names the mock's token endpoint."""
    facts = {
        "type": "service_account",
        "client_email": f"{account}@project.iam.gserviceaccount.com",
        "private_key_id": "key-1",
        "private_key": private_key,
        "token_uri": f"{url}/token",
    }
    return service_account.Credentials.from_service_account_info(facts, scopes=[SCOPE])


def person(url: str, grant: str = "1//refresh") -> user.Credentials:
    """A user who has granted the scope."""
    return user.Credentials(
        token=None,
        refresh_token=grant,
        client_id="id.apps.googleusercontent.com",
        client_secret="secret",
        token_uri=f"{url}/token",
        scopes=[SCOPE],
    )


async def ask(url: str, credentials: Any, request: Callable[[Any], Any]) -> Any:
    """What the client makes of the reply to `request`, which is given its `values()`."""

    def execute() -> Any:
        http = google_auth_httplib2.AuthorizedHttp(credentials, http=httplib2.Http(timeout=60))
        options = {"api_endpoint": url}
        with build("sheets", "v4", http=http, client_options=options) as sheets:
            return request(sheets.spreadsheets().values()).execute()

    return await asyncio.to_thread(execute)


async def test_a_service_account_reads_values(address: str, private_key: str) -> None:
    read = await ask(
        address,
        robot(address, private_key),
        lambda values: values.get(
            spreadsheetId=BOOK,
            range="Clients!A2:N3",
            valueRenderOption="UNFORMATTED_VALUE",
            dateTimeRenderOption="FORMATTED_STRING",
        ),
    )
    assert read["range"] == "Clients!A2:N3"
    assert read["majorDimension"] == "ROWS"
    assert read["values"][0][:3] == ["CL-001", "John Doe", "john.doe@example.com"]
    assert read["values"][1][9:11] == [47, "2026-10-02"]


async def test_a_user_updates_values_and_reads_them_back(address: str) -> None:
    credentials = person(address)
    updated = await ask(
        address,
        credentials,
        lambda values: values.update(
            spreadsheetId=BOOK,
            range="Clients!B2:C2",
            valueInputOption="RAW",
            includeValuesInResponse=True,
            body={"values": [["=1+1", None]]},
        ),
    )
    assert (updated["updatedRange"], updated["updatedCells"]) == ("Clients!B2:C2", 1)
    assert updated["updatedData"]["values"] == [["=1+1", "john.doe@example.com"]]
    read = await ask(
        address,
        credentials,
        lambda values: values.get(
            spreadsheetId=BOOK, range="Clients!B2", valueRenderOption="FORMULA"
        ),
    )
    assert read["values"] == [["=1+1"]]


async def test_typed_values_are_evaluated(address: str) -> None:
    """What the gateway never asks for: the mock would show it."""
    updated = await ask(
        address,
        person(address),
        lambda values: values.update(
            spreadsheetId=BOOK,
            range="Clients!B2",
            valueInputOption="USER_ENTERED",
            includeValuesInResponse=True,
            responseValueRenderOption="UNFORMATTED_VALUE",
            body={"values": [["=1+1"]]},
        ),
    )
    assert updated["updatedData"]["values"] == [[2]]


async def test_rows_are_appended_to_a_tab_with_a_space_in_its_name(
    address: str, private_key: str
) -> None:
    appended = await ask(
        address,
        robot(address, private_key),
        lambda values: values.append(
            spreadsheetId=BOOK,
            range="'Flight History'!A:H",
            valueInputOption="RAW",
            insertDataOption="INSERT_ROWS",
            body={"values": [["CL-001", "2026-11-18"], ["CL-002", "2026-11-19"]]},
        ),
    )
    assert appended["tableRange"] == "'Flight History'!A1:H3"
    assert appended["updates"]["updatedRange"] == "'Flight History'!A4:B5"
    assert appended["updates"]["updatedRows"] == 2


async def test_an_empty_range_has_no_values(address: str) -> None:
    read = await ask(
        address,
        person(address),
        lambda values: values.get(spreadsheetId=BOOK, range="'Operators'' Notes'!A1:B2"),
    )
    assert "values" not in read


@pytest.mark.parametrize(
    ("book", "place", "status", "reason"),
    [
        (BOOK, "Nowhere!A1", 400, "Unable to parse range: Nowhere!A1"),
        ("missing-book", "Clients!A1", 404, "Requested entity was not found."),
        ("private-book", "Clients!A1", 403, "The caller does not have permission"),
    ],
)
async def test_errors_are_understood(
    address: str, book: str, place: str, status: int, reason: str
) -> None:
    with pytest.raises(HttpError) as failed:
        await ask(
            address, person(address), lambda values: values.get(spreadsheetId=book, range=place)
        )
    assert failed.value.status_code == status
    assert failed.value.reason == reason


async def test_a_write_without_an_input_option_is_refused(address: str) -> None:
    with pytest.raises(HttpError) as failed:
        await ask(
            address,
            person(address),
            lambda values: values.update(
                spreadsheetId=BOOK, range="Clients!B2", body={"values": [["a"]]}
            ),
        )
    assert failed.value.status_code == 400


async def test_an_unknown_token_is_renewed_by_the_client(address: str) -> None:
    """The mock answers 401, on which Google's client fetches a token and asks again."""
    credentials = person(address)
    credentials.token = "ya29.forgotten"
    read = await ask(
        address, credentials, lambda values: values.get(spreadsheetId=BOOK, range="Clients!A2")
    )
    assert read["values"] == [["CL-001"]]
    assert credentials.token != "ya29.forgotten"


async def test_revoked_grants_are_understood(address: str, private_key: str) -> None:
    accounts = [person(address, "1//revoked"), robot(address, private_key, "revoked")]
    for credentials in accounts:
        with pytest.raises(RefreshError, match="invalid_grant"):
            await ask(
                address, credentials, lambda values: values.get(spreadsheetId=BOOK, range="A1")
            )
