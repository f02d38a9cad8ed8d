"""What a reload does beside the event loop, which serves the calls of the generation before."""

import asyncio
import gc
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from gateway.app import Gateway, composition
from gateway.app import gateway as opening
from gateway.app.memory import exclude_imports
from gateway.app.parts import foundation
from gateway.app.reloading import Generation
from gateway.catalogue import Catalogue, open_catalogue
from gateway.cli.serving import serve as command
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ConfigurationError
from gateway.settings import Settings, read_settings
from gateway.threads import in_thread
from tests.eventually import PATIENCE_SECONDS


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({"GATEWAY_DATABASE_URL": "memory:"}, None, {"data": str(tmp_path)})


@pytest.fixture
def on_loop(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """By name: whether the work was done in the thread of the event loop."""
    found: dict[str, bool] = {}
    loop = threading.get_ident()

    def noting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **named: Any) -> Any:
            found[name] = threading.get_ident() == loop
            return work(*args, **named)

        return noted

    for owner, name in (
        (composition, "open_connections"),
        (foundation, "store_beside"),
        (opening, "http_app_of"),
    ):
        monkeypatch.setattr(owner, name, noting(name, getattr(owner, name)))
    digest: Any = Catalogue.openapi_sha256
    monkeypatch.setattr(Catalogue, "openapi_sha256", property(noting("digest", digest.fget)))
    return found


async def test_a_next_generation_is_made_in_threads(
    settings: Settings, on_loop: dict[str, bool]
) -> None:
    async with AsyncExitStack() as process:
        shared = foundation.Foundation(process)
        for _ in range(2):
            gateway = Gateway.open(settings, is_server=True)
            gateway.set_foundation(shared)
            gateway.set_catalogue(open_catalogue("generated", HANDLER_PACKAGES))
            generation = await Generation.open(gateway, "http://localhost")
            process.push_async_callback(generation.close)
    assert on_loop == dict.fromkeys(
        ["open_connections", "store_beside", "http_app_of", "digest"], False
    )


async def test_work_in_a_thread_ends_before_its_cancelled_caller() -> None:
    """What it opens is closed by its caller."""
    may_end, noted = threading.Event(), []

    def work() -> None:
        may_end.wait(PATIENCE_SECONDS)
        noted.append("work")

    async def call() -> None:
        try:
            await in_thread(work)
        finally:
            noted.append("caller")

    caller = asyncio.create_task(call())
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.wait({caller})
    assert caller.cancelled()
    assert noted == ["work", "caller"]


def test_imports_are_excluded_from_collections_and_contracts_are_not(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    frozen, order = 0, []

    def freeze() -> None:
        nonlocal frozen
        frozen = 1
        order.append("imports")

    def open_contracts(_: Settings) -> None:
        order.append("contracts")
        raise ConfigurationError("enough")

    monkeypatch.setattr(gc, "freeze", freeze)
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(command, "start_logs", open_contracts)
    with pytest.raises(ConfigurationError, match="enough"):
        command.serve_until_stopped(settings)
    exclude_imports()
    assert order == ["imports", "contracts"]


def test_a_catalogue_is_freed_without_the_collector() -> None:
    """It is most of what a reload leaves."""
    gc.disable()
    try:
        opened = ref(open_catalogue("generated", HANDLER_PACKAGES))
        assert opened() is None
    finally:
        gc.enable()
