"""`gateway mock` in this process: what it serves, and what it refuses."""

import json
from datetime import UTC, datetime

import httpx
import pytest

from gateway.backends.mock.backend import asgi_app
from gateway.backends.mock.state import StoredState
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {
            "post": {
                "operationId": "createPet",
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {
                    "201": {
                        "description": "The pet.",
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                        },
                    }
                },
            }
        },
        "/pets/{id}": {
            "get": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {
                    "200": {
                        "description": "The pet.",
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                        },
                    }
                },
            }
        },
    },
    "components": {
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["id", "name"],
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            }
        }
    },
}


@pytest.fixture
def asked(monkeypatch):
    """What a mock answers to the request given here, instead of serving until it is stopped."""
    wanted, replies = {}, []

    async def serve(application, bound, _sender):
        bound.close()
        transport = httpx.ASGITransport(asgi_app(application))
        async with httpx.AsyncClient(transport=transport, base_url="http://pets.test") as client:
            replies.append(await client.request(**wanted))
        application.close()

    monkeypatch.setattr("gateway.cli.authoring.mock._serve", serve)

    def _asked(**request):
        wanted.clear()
        wanted.update(request)
        return replies

    return _asked


def test_a_document_is_mocked_without_a_project(cli, asked, tmp_path, monkeypatch):
    monkeypatch.delenv("GATEWAY_SCHEMAS")
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    arguments = ("mock", tmp_path / "pets.json", "--state", tmp_path / "pets.db")
    replies = asked(method="POST", url="/pets", json={"name": "Tom"})
    assert cli(*arguments).code == 0
    (made,) = replies
    assert (made.status_code, made.json()["name"]) == (201, "Tom")
    asked(method="GET", url=f"/pets/{made.json()['id']}")
    assert cli(*arguments).code == 0
    assert replies[1].json() == made.json()


def test_mock_knows_the_upstreams_of_the_contracts(cli):
    code, _, err = cli("mock", "nowhere")
    assert code == 2
    names = ", ".join(open_catalogue("generated", HANDLER_PACKAGES).upstreams)
    assert err == f"error: there is no upstream 'nowhere'\nfix: the upstreams are {names}\n"


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("none.json", None, 2, "there is no file"),
        ("other.json", "{}", 1, "document/version"),
        ("pets.json", json.dumps(PETS | {"paths": {}}), 2, "has no operations"),
    ],
)
def test_a_document_that_cannot_be_mocked_is_named(cli, tmp_path, name, text, code, message):
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    found = cli("mock", str(file))
    assert found.code == code
    assert message in found.err + found.out
    assert name in found.err + found.out


def test_a_document_sends_no_webhooks(cli, tmp_path):
    url = "http://127.0.0.1:8700/webhooks/pets"
    code, _, err = cli("mock", str(tmp_path / "pets.json"), "--webhooks-to", url)
    assert (code, "remove --webhooks-to" in err) == (2, True)


def test_a_mock_goes_on_at_the_time_that_its_file_remembers(cli, monkeypatch, tmp_path) -> None:
    """Or what it remembers would lie in its future."""
    served = []

    async def keep(application, bound, _sender) -> None:
        bound.close()
        served.append(application)

    monkeypatch.setattr("gateway.cli.authoring.mock._serve", keep)
    file, latest = tmp_path / "avinode.db", datetime(2026, 12, 24, tzinfo=UTC)
    state = StoredState(file)
    with state.transaction(latest):
        state.new_id("arfq")
    state.close()
    assert cli("mock", "avinode", "--state", file, "--mock-time", "2026-01-01T00:00:00Z").code == 0
    (mock,) = served
    assert mock.clock.now() >= latest
    mock.close()


def test_what_tables_stand_in_for_has_a_mock_over_http(cli, asked) -> None:
    replies = asked(method="GET", url="/rest/v1/iso_requests", headers={"apikey": "sb_secret_1"})
    assert cli("mock", "supabase").code == 0
    assert [(each.status_code, each.json()) for each in replies] == [(200, [])]


def test_a_port_that_is_none_is_wrong_usage(cli):
    code, _, err = cli("mock", "avinode", "--port", "99999")
    assert code == 2
    assert "99999 is not in the range 0<=x<=65535" in err


def test_a_fault_that_is_none_is_wrong_usage(cli):
    code, _, err = cli("mock", "avinode", "--fault", "* 1 explode")
    assert code == 2
    assert "'explode' is not a fault" in err


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("noSuchOperation 1 status=503", "there is no operation 'noSuchOperation'"),
        ("listTeeTime 1 status=503", "did you mean listTeeTimes?"),
        ("golf.book 1 status=503", "createReservation"),
        ("* 0 status=503", "1 call or more"),
        ("* 1 exhausted=5", "reports no rate limit"),
    ],
)
def test_a_fault_that_could_never_happen_is_wrong_usage(cli, step, message):
    code, out, err = cli("mock", "golf", "--fault", "* 1 status=503", "--fault", step)
    assert (code, "ready" in out) == (2, False)
    assert message in err


def test_a_fault_of_a_document_names_its_operations(cli, asked, tmp_path):
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    code, _, err = cli("mock", tmp_path / "pets.json", "--fault", "removePet 1 status=503")
    assert code == 2
    assert "create_pet" in err
    replies = asked(method="POST", url="/pets", json={})
    fault = ("--fault", "create_pet 1 status=503")
    assert cli("mock", tmp_path / "pets.json", *fault).code == 0
    assert [each.status_code for each in replies] == [503]
