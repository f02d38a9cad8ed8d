"""Signing secrets at rest."""

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ConfigurationError, StoreError
from gateway.events.secrets import FILE, Keyring, open_keyring
from tests.eventually import PATIENCE_SECONDS

OLD, NEW = b"o" * 32, b"n" * 32
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def in_base64(*keys):
    return ",".join(base64.b64encode(key).decode() for key in keys)


@given(st.text(alphabet=st.characters(codec="utf-8")), st.text(alphabet="ep_0123456789abcdef"))
def test_what_was_sealed_is_opened_for_its_owner_alone(secret, owner):
    ring = Keyring([NEW])
    sealed = ring.seal(secret, owner)
    assert ring.open(sealed, owner) == secret
    with pytest.raises(StoreError):
        ring.open(sealed, owner + "x")


def test_nothing_of_the_secret_is_seen_and_no_two_are_alike():
    ring = Keyring([NEW])
    first, second = (ring.seal(SECRET, "ep_1") for _ in range(2))
    assert first != second
    assert SECRET.encode() not in first
    assert len(first) > len(SECRET)


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_anywhere_is_noticed(place, change):
    ring = Keyring([NEW])
    sealed = bytearray(ring.seal(SECRET, "ep_1"))
    sealed[place % len(sealed)] ^= change
    with pytest.raises(StoreError) as caught:
        ring.open(bytes(sealed), "ep_1")
    assert SECRET not in caught.value.detail


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"\x01abcd", b"\x02" + b"x" * 60])
def test_what_is_no_sealed_secret_is_refused(sealed):
    with pytest.raises(StoreError, match=r"GATEWAY_SECRETS_KEY|set a new one"):
        Keyring([NEW]).open(sealed, "ep_1")


def test_after_a_rotation_both_keys_open_and_the_new_one_seals():
    sealed = Keyring([OLD]).seal(SECRET, "ep_1")
    both = Keyring([NEW, OLD])
    assert both.open(sealed, "ep_1") == SECRET
    assert not both.is_newest(sealed)
    again = both.seal(SECRET, "ep_1")
    assert both.is_newest(again)
    assert Keyring([NEW]).open(again, "ep_1") == SECRET
    with pytest.raises(StoreError, match="add that key to GATEWAY_SECRETS_KEY"):
        Keyring([NEW]).open(sealed, "ep_1")


def test_a_key_is_made_once_for_its_owner_to_read(tmp_path):
    folder = tmp_path / "data"
    sealed = open_keyring(None, folder).seal(SECRET, "ep_1")
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert [file.name for file in folder.iterdir()] == [FILE]
    assert open_keyring(None, folder).open(sealed, "ep_1") == SECRET


def test_starts_at_the_same_time_share_one_key(tmp_path, monkeypatch):
    """None of them sees the file before each of them makes one."""
    all_have_looked = Barrier(4)
    exists = Path.exists

    def looks(path):
        found = exists(path)
        all_have_looked.wait(PATIENCE_SECONDS)
        return found

    monkeypatch.setattr(Path, "exists", looks)
    with ThreadPoolExecutor(4) as pool:
        sealed = list(pool.map(_sealed_in, [tmp_path] * 4))
    monkeypatch.undo()
    ring = open_keyring(None, tmp_path)
    assert {ring.open(each, "ep_1") for each in sealed} == {SECRET}
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def _sealed_in(folder):
    return open_keyring(None, folder).seal(SECRET, "ep_1")


def test_configured_keys_come_before_the_file_which_is_not_made(tmp_path):
    sealed = Keyring([OLD]).seal(SECRET, "ep_1")
    assert open_keyring(in_base64(NEW, OLD), tmp_path).open(sealed, "ep_1") == SECRET
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", ",", "x", "hunter2", in_base64(b"short"), in_base64(NEW) + ","]
)
def test_a_key_that_is_none_is_refused_without_being_shown(text, tmp_path):
    with pytest.raises(ConfigurationError, match="GATEWAY_SECRETS_KEY: must be base64") as caught:
        open_keyring(text, tmp_path)
    assert "hunter2" not in caught.value.detail


@pytest.mark.parametrize("content", [b"", b"hunter2\n", b"\xff\n"])
def test_a_file_that_holds_no_key_is_named(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises((ConfigurationError, StoreError), match=FILE):
        open_keyring(None, tmp_path)
