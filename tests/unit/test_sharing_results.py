"""Gateways share results if they would make the same, and only where several processes serve."""

import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway.app.composition import _homes, _secret, changing, open_results
from gateway.clock import SystemClock
from gateway.settings import Settings, read_settings
from tests.unit import shipped

DATABASE = "postgresql://gateway:secret@db/gateway"
BASE = {
    "GATEWAY_DATABASE_URL": DATABASE,
    "GATEWAY_WORKSPACE_URL": DATABASE,
    "GATEWAY_REDIS_URL": "redis://127.0.0.1:1/0",
    "GATEWAY_BACKEND_GOLF": "live",
    "GATEWAY_GOLF_BASE_URL": "https://golf.example",
    "GATEWAY_GOLF_TOKEN_URL": "https://golf.example/token",
    "GATEWAY_GOLF_CLIENT_ID": "id",
    "GATEWAY_GOLF_CLIENT_SECRET": "one",
    "GATEWAY_GOLF_COURSE_ID": "course-001",
    "GATEWAY_GOLF_USER_ID": "user-001",
}


def settings(**changed: str) -> Settings:
    return read_settings(BASE | changed, None, {})


async def test_they_are_shared_on_postgresql_with_a_redis(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:

        def is_shared(**changed: str) -> bool:
            found = open_results(settings(**changed), shipped.catalogue(), SystemClock(), stack)
            return found is not None

        assert is_shared()
        assert not is_shared(GATEWAY_DATABASE_URL=f"sqlite:///{tmp_path}/gateway.db")
        without = {name: text for name, text in BASE.items() if name != "GATEWAY_REDIS_URL"}
        assert (
            open_results(
                read_settings(without, None, {}), shipped.catalogue(), SystemClock(), stack
            )
            is None
        )


@pytest.mark.parametrize(
    ("changed", "is_sealed"),
    [
        ({}, False),
        ({"GATEWAY_DATABASE_URL": DATABASE}, True),
        ({"GATEWAY_DATABASE_URL": "postgresql:///gateway?host=db&password=secret"}, True),
        ({"GATEWAY_WORKSPACE_URL": DATABASE}, True),
        ({"GATEWAY_SECRETS_KEY": "hV8rJ0Q1nC3xYw5uK7mZ9bD2fG4sL6pT8aE0iR1oU3c="}, True),
        ({name: text for name, text in BASE.items() if "GOLF" in name}, True),
    ],
)
async def test_no_result_is_shared_that_anybody_could_seal(
    changed: dict[str, str], is_sealed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    given = {
        "GATEWAY_DATABASE_URL": "postgresql://gateway@db/gateway",
        "GATEWAY_REDIS_URL": "redis://:of-redis@127.0.0.1:1/0",
        **changed,
    }
    async with AsyncExitStack() as stack:
        ours = read_settings(given, None, {})
        shared = open_results(ours, shipped.catalogue(), SystemClock(), stack)
    assert shared is not None
    assert "golf" in shared._announced, "the others must know of its writes"
    assert (shared._sealing is not None) is is_sealed
    assert ("Set GATEWAY_SECRETS_KEY" in caplog.text) is not is_sealed


async def test_only_writes_that_end_kept_results_are_announced() -> None:
    async with AsyncExitStack() as stack:
        shared = open_results(settings(), shipped.catalogue(), SystemClock(), stack)
        assert shared is not None
        assert shared._announced == {"golf", "avinode"}
        assert shared._announced < changing(shipped.catalogue()).keys()
        assert changing(shipped.catalogue())["golf"] == 30


@pytest.mark.parametrize(
    "changed",
    [
        {"GATEWAY_GOLF_BASE_URL": "https://staging.golf.example"},
        {"GATEWAY_GOLF_CLIENT_SECRET": "two"},
        {"GATEWAY_DATABASE_URL": "postgresql://gateway:secret@db/staging"},
        {"GATEWAY_WORKSPACE_URL": "postgresql://gateway:secret@db/staging"},
        {"GATEWAY_SEED": "7"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_another_upstream_or_database_has_another_secret(changed: dict[str, str]) -> None:
    assert _secret(settings(), shipped.catalogue()) == _secret(settings(), shipped.catalogue())
    assert _secret(settings(**changed), shipped.catalogue()) != _secret(
        settings(), shipped.catalogue()
    )


def test_another_contract_or_handler_has_another_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "shared_results_handlers"
    code.mkdir()
    (code / "__init__.py").write_text("")
    (tmp_path / "shared_results_module.py").write_text("")
    names = "shared_results_handlers,shared_results_module,absent.package"
    ours = settings(GATEWAY_HANDLER_PACKAGES=names)
    secrets = {_secret(ours, shipped.catalogue())}
    (code / "__init__.py").write_text("LIMIT = 2")
    secrets.add(_secret(ours, shipped.catalogue()))
    (code / "more.json").write_text("{}")
    secrets.add(_secret(ours, shipped.catalogue()))
    (tmp_path / "shared_results_module.py").write_text("LIMIT = 3")
    secrets.add(_secret(ours, shipped.catalogue()))

    assert len(secrets) == 4
    assert not [name for name in sys.modules if name.startswith("shared_results")]


def test_what_only_one_data_folder_knows_stays_there(tmp_path: Path) -> None:
    shared = _homes(settings(), shipped.catalogue())
    assert "golf" not in shared
    assert "supabase" not in shared  # its workspace is on PostgreSQL
    assert "avinode" in shared  # a mock
    alone = _homes(
        settings(GATEWAY_WORKSPACE_URL=f"sqlite:///{tmp_path}/w.db"), shipped.catalogue()
    )
    assert "supabase" in alone
    other = _homes(settings(GATEWAY_DATA=str(tmp_path)), shipped.catalogue())
    assert other["avinode"] != shared["avinode"]
