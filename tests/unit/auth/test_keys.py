"""Keys: made once, shown once, kept by digest."""

import asyncio
import re
import secrets
from datetime import UTC, datetime

import pytest

from gateway.auth.keys import PREFIX, Keys, digest_of, weakness_of
from gateway.errors import ConfigurationError, StoreError
from gateway.store.protocols import AgentKey
from gateway.store.sql.engine import open_store
from tests.clocks import ManualClock
from tests.remembered import MemoryKeys

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CANARY = "canary-7f3e9a1b5c2d8e4f"
OTHER = "another-91c4e7b2d5f8a063"


@pytest.fixture
def store() -> MemoryKeys:
    return MemoryKeys()


@pytest.fixture
def keys(store) -> Keys:
    return Keys(store, ManualClock(NOW), {"administrator", "flight_search"})


async def test_a_key_is_made_from_256_random_bits_and_found_by_its_digest(keys, store) -> None:
    made = await keys.create("flight_search", "ci")

    assert re.fullmatch(r"gw_[A-Za-z0-9_-]{43}", made.key)
    assert await store.find(digest_of(made.key)) == made.record
    assert (made.record.agent, made.record.label, made.record.created_at) == (
        "flight_search",
        "ci",
        NOW,
    )


async def test_two_keys_differ_in_everything(keys) -> None:
    first, second = [await keys.create("flight_search", "ci") for _ in range(2)]

    assert first.key != second.key
    assert first.record.id != second.record.id


async def test_a_key_shows_neither_in_the_store_nor_in_any_text(keys, tmp_path) -> None:
    sql = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    made = await Keys(sql.keys, ManualClock(NOW), {"a"}).create("a", "ci")
    await sql.close()

    assert made.key not in repr(made)
    assert made.record.digest not in repr(made)
    assert made.key.encode() not in (tmp_path / "gateway.db").read_bytes()


async def test_an_agent_without_policy_gets_no_key(keys) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean flight_search\?"):
        await keys.create("flight_serch", "ci")
    with pytest.raises(ConfigurationError, match="known are administrator, flight_search"):
        await keys.create("nobody", "ci")


async def test_a_key_is_revoked_once(keys) -> None:
    made = await keys.create("flight_search", "ci")

    assert await keys.revoke(made.record.id) is True
    assert await keys.revoke(made.record.id) is False
    assert [key.revoked_at for key in await keys.list()] == [NOW]


async def test_making_and_revoking_empties_what_remembers_keys(store) -> None:
    forgotten = []
    keys = Keys(store, ManualClock(NOW), {"a"}, lambda: forgotten.append(True))

    made = await keys.create("a", "ci")
    await keys.revoke(made.record.id)

    assert len(forgotten) == 2


async def test_the_first_start_makes_an_administrators_key_for_its_owner_alone(
    keys, store, tmp_path
) -> None:
    made = await keys.bootstrap(None, tmp_path / "data")

    file = tmp_path / "data" / "bootstrap-key"
    assert made is not None
    assert file.read_text("utf-8") == f"{made.key}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["bootstrap-key"]
    found = await store.find(digest_of(made.key))
    assert found is not None
    assert found.agent == "administrator"


async def test_a_file_that_others_can_read_is_replaced_and_not_written_into(keys, tmp_path) -> None:
    file = tmp_path / "bootstrap-key"
    file.touch(0o644)

    await keys.bootstrap(None, tmp_path)

    assert file.stat().st_mode & 0o777 == 0o600


async def test_later_starts_make_no_key(keys, tmp_path) -> None:
    made = await keys.bootstrap(None, tmp_path)
    assert made is not None
    await keys.revoke(made.record.id)

    assert await keys.bootstrap(None, tmp_path) is None
    assert len(await keys.list()) == 1


async def test_another_agents_key_does_not_stand_for_an_administrators(keys, tmp_path) -> None:
    await keys.create("flight_search", "ci")

    made = await keys.bootstrap(None, tmp_path)

    assert made is not None
    assert made.record.agent == "administrator"


async def test_a_configured_key_works_from_the_start_and_is_never_written(
    keys, store, tmp_path
) -> None:
    for _ in range(2):
        assert await keys.bootstrap(CANARY, tmp_path) is None

    found = await store.find(digest_of(CANARY))
    assert found is not None
    assert (found.agent, found.revoked_at) == ("administrator", None)
    assert len(await keys.list()) == 1
    assert list(tmp_path.iterdir()) == []


class BeforeEitherAdds(MemoryKeys):
    """The first two who look for a key look at the same time, and find none."""

    def __init__(self) -> None:
        super().__init__()
        self._both = asyncio.Barrier(2)
        self._looked = 0

    async def find(self, digest: str) -> AgentKey | None:
        found = await super().find(digest)
        self._looked += 1
        if self._looked <= 2:
            await self._both.wait()
        return found


async def test_two_starts_at_once_accept_the_same_configured_key(tmp_path) -> None:
    store = BeforeEitherAdds()
    gateways = [Keys(store, ManualClock(NOW), {"administrator"}) for _ in range(2)]

    made = await asyncio.gather(*(each.bootstrap(CANARY, tmp_path) for each in gateways))

    assert made == [None, None]
    assert [key.digest for key in await store.list()] == [digest_of(CANARY)]


async def test_a_configured_key_that_cannot_be_stored_stops_the_start(tmp_path) -> None:
    class Full(MemoryKeys):
        async def add(self, key: AgentKey) -> None:
            raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await Keys(Full(), ManualClock(NOW), {"administrator"}).bootstrap(CANARY, tmp_path)


@pytest.mark.parametrize("configured", ["x" * 15, "x" * 513, "dollar$dollar$dollar$", "=" * 16])
async def test_a_configured_key_that_no_request_can_carry_is_refused(
    keys, configured, tmp_path
) -> None:
    with pytest.raises(ConfigurationError, match="20 to 512 characters") as refused:
        await keys.bootstrap(configured, tmp_path)

    assert configured not in str(refused.value)


async def test_a_configured_key_that_was_revoked_stays_revoked(keys, tmp_path) -> None:
    await keys.bootstrap(CANARY, tmp_path)
    await keys.revoke((await keys.list())[0].id)

    with pytest.raises(ConfigurationError, match="was revoked") as refused:
        await keys.bootstrap(CANARY, tmp_path)

    assert CANARY not in str(refused.value)


async def test_a_configured_key_does_not_raise_another_agents_key(keys, tmp_path) -> None:
    made = await keys.create("flight_search", "ci")

    with pytest.raises(ConfigurationError, match="of another agent"):
        await keys.bootstrap(made.key, tmp_path)


async def test_a_key_that_cannot_be_written_down_is_not_made(keys, tmp_path) -> None:
    (tmp_path / "data").touch()

    with pytest.raises(StoreError, match="cannot be written"):
        await keys.bootstrap(None, tmp_path / "data")

    assert await keys.list() == []


@pytest.mark.parametrize(
    "weak",
    [
        "a" * 40,
        "aaaaaaaaaaaaaaaa",
        "k3J9x2Qm7Wp5Zt8V",
        "abababababababababababab",
        "0123456789abcdefghijklmn",
        "passwordpasswordpassword",
        "abcdefghijklmnopqrstuvwxyz",
    ],
)
async def test_a_configured_key_that_is_easy_to_guess_is_refused_with_a_fix(
    keys, weak, tmp_path
) -> None:
    with pytest.raises(ConfigurationError, match=r"too easy to guess.*openssl rand") as refused:
        await keys.bootstrap(weak, tmp_path)

    assert weak not in str(refused.value)
    assert await keys.list() == []


@pytest.mark.parametrize(
    "strong",
    [
        "9f86d081884c7d659a2feaa0c55ad015",
        "3zB8kQ1v_7Rw-tYx0LmN5g",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "correct-horse-battery-staple",
    ],
)
async def test_a_random_key_of_any_common_form_is_strong_enough(keys, strong, tmp_path) -> None:
    await keys.bootstrap(strong, tmp_path)

    assert [key.agent for key in await keys.list()] == ["administrator"]


async def test_no_key_that_the_gateway_makes_itself_is_weak() -> None:
    made = {PREFIX + secrets.token_urlsafe(32) for _ in range(500)}

    assert {weakness_of(key) for key in made} == {None}


async def test_another_bootstrap_key_replaces_the_earlier_ones_and_nobody_elses(
    keys, tmp_path, caplog
) -> None:
    first = await keys.bootstrap(None, tmp_path)
    assert first is not None
    kept = [await keys.create("administrator", "person"), await keys.create("flight_search", "")]

    await keys.bootstrap(CANARY, tmp_path)
    await keys.bootstrap(OTHER, tmp_path)

    in_force = {key.digest for key in await keys.list() if key.revoked_at is None}
    assert in_force == {digest_of(OTHER), *(each.record.digest for each in kept)}
    assert first.record.id in caplog.text
    assert not {CANARY, OTHER, first.key} & set(caplog.text.split())
    assert list(tmp_path.iterdir()) == [], "the file of the revoked key stayed"


async def test_a_file_that_holds_another_key_stays_when_a_bootstrap_key_is_replaced(
    keys, tmp_path
) -> None:
    await keys.bootstrap(CANARY, tmp_path)
    (tmp_path / "bootstrap-key").write_text("of-another-gateway\n", "utf-8")

    await keys.bootstrap(OTHER, tmp_path)

    assert (tmp_path / "bootstrap-key").exists()


async def test_nobody_can_label_a_key_as_the_one_that_the_gateway_starts_with(keys) -> None:
    with pytest.raises(ConfigurationError, match="label bootstrap is reserved"):
        await keys.create("administrator", "bootstrap")
