"""The gateway calls the mock of an imported document as it would call the vendor."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from gateway.app.parts.foundation import Carried
from gateway.app.parts.upstreams import MOCKS, open_connections
from gateway.catalogue import AgentPolicies, Catalogue, PublishedDocuments
from gateway.catalogue.imported import FOLDER, open_imported
from gateway.settings.settings import read_settings
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.shelter import OPERATIONS, connector

CALLABLE = {"create_pet", "list_pets", "secret", "photo", "events"}


class Caller:
    """Calls tools through the connections of a gateway."""

    def __init__(self, catalogue: Catalogue, connections: Mapping[str, Any]) -> None:
        self._entries = {entry.operation.id: entry for entry in catalogue.entries}
        self._backend = connections["shelter"].backend

    async def call(self, tool: str, **arguments: Any) -> Any:
        binding = self._entries[f"shelter.{tool}"].operation.binding
        reply = await self._backend.send(
            binding.request(arguments), timeout_seconds=PATIENCE_SECONDS
        )
        result = binding.result(reply)
        return reply.status if result is None else result


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "generated" / FOLDER / "shelter.json"
    found.parent.mkdir(parents=True)
    read = next(each for each in OPERATIONS if each.tool == "read_pet")
    served = [each for each in OPERATIONS if each.tool in CALLABLE]
    found.write_bytes(msgspec.json.encode(connector(read, *served)))
    return found.parent.parent


@pytest.fixture
async def caller(folder, tmp_path) -> AsyncIterator[Any]:
    """Opens a gateway's connections in the data folder of the test."""
    async with AsyncExitStack() as stack:

        def opened() -> Caller:
            (each,) = open_imported(folder)
            catalogue = Catalogue(
                each.entries,
                upstreams={"shelter": each.upstream},
                agents=AgentPolicies({}),
                published=PublishedDocuments(b"{}"),
                imported={"shelter": each.document},
            )
            settings = read_settings({}, None, {"data": tmp_path})
            connections, _ = open_connections(catalogue, settings, ManualClock(), stack, Carried())
            return Caller(catalogue, connections)

        yield opened


async def test_calls_create_read_and_list(caller):
    gateway = caller()
    pet = await gateway.call("create_pet", name="Tom", kind="cat")
    assert await gateway.call("read_pet", id=pet["id"]) == pet
    assert pet in (await gateway.call("list_pets"))["result"]
    assert await gateway.call("read_pet", id=999_999) == 404


async def test_the_state_is_in_the_data_folder(caller, tmp_path):
    pet = await caller().call("create_pet", name="Tom", kind="cat")
    assert (tmp_path / MOCKS / "shelter.db").exists()
    assert await caller().call("read_pet", id=pet["id"]) == pet


async def test_every_credential_of_a_mock_is_set(caller):
    assert await caller().call("secret") == {}


async def test_other_kinds_of_results_arrive(caller):
    gateway = caller()
    photo = await gateway.call("photo")
    assert photo.media_type == "image/png"
    assert photo.data.startswith(b"\x89PNG")
    assert len((await gateway.call("events"))["events"]) == 2
