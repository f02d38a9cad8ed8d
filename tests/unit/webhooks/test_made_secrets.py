"""Secrets for sources that are only mocked: made once, private, and of the form that is needed."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway.errors import StoreError
from gateway.webhooks.source import made_secret
from tests.webhook_sources import ACME


@pytest.mark.parametrize("profile", ACME.profiles, ids=lambda profile: profile.name)
def test_a_secret_is_made_once_and_kept_private(tmp_path, profile) -> None:
    first, again = (made_secret(tmp_path, "acme", profile) for _ in range(2))
    (file,) = (tmp_path / "webhook-secrets").iterdir()
    assert first == again
    assert profile.authentication.key_of(first)
    assert file.name == f"acme-{profile.name}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_those_who_start_together_agree(tmp_path) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: made_secret(tmp_path, "acme", ACME.profiles[0]), range(64)))
    assert len(set(made)) == 1
    assert len(list((tmp_path / "webhook-secrets").iterdir())) == 1


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path) -> None:
    (tmp_path / "webhook-secrets").write_text("a file")
    with pytest.raises(StoreError, match="webhook-secrets/acme-signed cannot be used"):
        made_secret(tmp_path, "acme", ACME.profiles[0])


@pytest.mark.parametrize("profile", ACME.profiles, ids=lambda profile: profile.name)
def test_a_file_with_an_invalid_secret_is_named_with_the_fix(tmp_path, profile) -> None:
    file = tmp_path / "webhook-secrets" / f"acme-{profile.name}"
    file.parent.mkdir()
    file.write_text("canary\n")
    with pytest.raises(StoreError, match="contains an invalid secret, which must ") as refused:
        made_secret(tmp_path, "acme", profile)
    assert str(file) in refused.value.detail
    assert "; remove the file" in refused.value.detail
    assert "canary" not in refused.value.detail
