"""One server for each SQLite file, no matter which commands have it open."""

import os
from collections.abc import Iterator

import pytest

from gateway.app import Gateway
from gateway.errors import StoreError
from gateway.settings import read_settings
from gateway.store.sql.engine import open_store
from gateway.store.sql.sqlite import only_server


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/data/gateway.db"


@pytest.fixture
def holder(url) -> Iterator[None]:
    """A server of the file, which is this process too."""
    with only_server(url):
        yield


def refusal(*urls) -> str:
    with pytest.raises(StoreError) as refused, only_server(*urls):
        pytest.fail("both serve it")
    return str(refused.value)


def test_a_second_server_is_refused_and_informed_who_is_there(url, holder, tmp_path) -> None:
    said = refusal(url)

    assert f"{tmp_path}/data/gateway.db is in use by another gateway" in said
    assert f"process {os.getpid()} on " in said
    assert "stop that one, or name another folder with --data" in said


def test_it_is_the_file_that_counts_and_not_its_name(url, holder, tmp_path) -> None:
    (tmp_path / "other").symlink_to(tmp_path / "data")

    assert "is in use" in refusal(f"sqlite:///{tmp_path}/other/gateway.db")


async def test_others_may_open_the_file_meanwhile(url, holder) -> None:
    store = await open_store(url)

    assert await store.keys.list() == []
    await store.close()


def test_a_folder_that_holds_no_lock_is_named(tmp_path) -> None:
    (tmp_path / "file").touch()

    assert f"{tmp_path}/file/gateway.db.lock cannot be created" in refusal(
        f"sqlite:///{tmp_path}/file/gateway.db"
    )


def test_what_is_no_file_needs_no_lock(url) -> None:
    with only_server("memory:", "postgresql://a@b/c"), only_server("memory:"):
        pass


def test_a_full_disk_takes_the_note_and_not_the_lock(url, monkeypatch) -> None:
    def _fail(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gateway.store.sql.sqlite.os.pwrite", _fail)
    with only_server(url):
        assert "is in use by another gateway; stop" in refusal(url)


def test_two_urls_of_one_file_are_one_lock(url) -> None:
    with only_server(url, url):
        pass


def test_a_lock_file_that_somebody_wrote_shows_nothing_odd(url, tmp_path) -> None:
    with only_server(url):
        (tmp_path / "data" / "gateway.db.lock").write_text("\x1b[31mred")

        assert "\x1b" not in refusal(url)


async def test_gateways_on_one_server_may_share_a_data_folder(tmp_path) -> None:
    """Their workspace is a file in it; `memory:` stands for a store that is no file."""
    shared = read_settings({"GATEWAY_DATABASE_URL": "memory:"}, None, {"data": tmp_path})
    async with Gateway.open(shared, is_server=True), Gateway.open(shared, is_server=True):
        pass
