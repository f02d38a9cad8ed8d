"""Creates, lists and revokes agent keys. The store has only their digests."""

import hashlib
import logging
import math
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.clock import Clock
from gateway.contract import credentials
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, StoreError
from gateway.store.protocols import AgentKey, KeyStore

MIN_BITS: Final = 50.0
"""Of random keys of 32 hexadecimal digits, only one in 100,000 falls below this."""
REMEDY: Final = "make one with `openssl rand -hex 32`"


def weakness_of(key: str) -> str | None:
    """Why `key` is too easy to guess, or None. The text contains no part of the key.

    The estimate detects repetitions and runs such as `0123`, but no words.
    """
    if len(key) < credentials.MIN_LENGTH:
        return f"it has {amount(len(key), 'character')}, and needs {credentials.MIN_LENGTH}"
    distinct = len(set(key))
    if distinct < credentials.MIN_DISTINCT:
        return f"it has {distinct} different characters, and needs {credentials.MIN_DISTINCT}"
    if _bits(key) < MIN_BITS:
        return "its characters follow a pattern"
    return None


def _bits(key: str) -> float:
    """An estimate of the information in `key`. Characters that follow a pattern count as 0 bits."""
    block = _block(key)
    pairs = zip(f"\0{block}", block, strict=False)
    free = [character for previous, character in pairs if _is_free(previous, character)]
    counts = Counter(free)
    return sum(-count * math.log2(count / len(free)) for count in counts.values())


def _block(key: str) -> str:
    """The text that `key` repeats; `key` itself if it is no repetition."""
    # A repetition of a block is found again in its own double, after one block.
    return key[: (key + key).find(key, 1)]


def _is_free(previous: str, character: str) -> bool:
    """Whether the two are neither equal nor adjacent, unlike the characters of `aa` and `abc`."""
    return abs(ord(character) - ord(previous)) > 1


_log: Final = logging.getLogger(__name__)
PREFIX: Final = "gw_"
ADMINISTRATOR: Final = "administrator"
BOOTSTRAP_FILE: Final = "bootstrap-key"
BOOTSTRAP_LABEL: Final = "bootstrap"
LONGEST_KEY: Final = max(credentials.LENGTHS)
"""The length of the longest valid key. Longer texts need not be digested in full."""
_RANDOM_BYTES: Final = 32
_ID_BYTES: Final = 6


class NewKey(Struct, frozen=True, kw_only=True):
    """A new key. Afterwards, nobody can read it from the store."""

    key: str
    """The key itself, to be shown once. It is not in the repr."""
    record: AgentKey

    def __repr__(self) -> str:
        return f"NewKey({self.record.id})"


def digest_of(key: str) -> str:
    """The SHA-256 of a key in hexadecimal. It is stored instead of the key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Keys:
    """The keys of all agents."""

    def __init__(
        self,
        store: KeyStore,
        clock: Clock,
        agents: Collection[str],
        invalidate: Callable[[], None] = lambda: None,
    ) -> None:
        """`agents` may have keys. `invalidate` clears the caches of keys in this process."""
        self._store = store
        self._clock = clock
        self._agents = agents
        self._invalidate = invalidate

    async def create(self, agent: str, label: str) -> NewKey:
        """A new key for `agent`.

        Raises `ConfigurationError` if no policy names the agent, or if the label is that of the
        bootstrap key.
        """
        if label == BOOTSTRAP_LABEL:
            raise ConfigurationError(
                f"the label {BOOTSTRAP_LABEL} is reserved for the first administrator's key; "
                "choose another --label"
            )
        if agent not in self._agents:
            suggestion = hint(agent, self._agents, f"known are {_listed(self._agents)}")
            raise ConfigurationError(f"no policy grants anything to this agent; {suggestion}")
        return await self._add(PREFIX + secrets.token_urlsafe(_RANDOM_BYTES), agent, label)

    async def list(self) -> list[AgentKey]:
        """All keys, including revoked ones, oldest first."""
        return await self._store.list()

    async def revoke(self, key_id: str) -> bool:
        """Revoke a key. Returns whether it was valid.

        This process refuses it at once, other processes within `authenticate.TTL_SECONDS`.
        """
        revoked = await self._store.revoke(key_id, self._clock.now())
        self._invalidate()
        return revoked

    async def bootstrap(self, configured: str | None, folder: Path) -> NewKey | None:
        """Make sure that an administrator's key exists.

        A configured key is valid from now on, and replaces earlier bootstrap keys: they are
        revoked. If no key is configured and the store has no administrator's key, a key is created,
        written to `bootstrap-key` in `folder` with mode 600, and returned so that it can be shown
        once. A revoked administrator's key counts too, because a restart must not undo a
        revocation; `gateway keys create administrator` creates another key.

        Raises `ConfigurationError` if the configured key cannot be sent in a request, is easy to
        guess, is revoked, or belongs to another agent. Raises `StoreError` if the file cannot be
        written.
        """
        if configured is not None:
            await self._accept(configured)
            await self._replace(digest_of(configured), folder)
            return None
        if any(key.agent == ADMINISTRATOR for key in await self._store.list()):
            return None
        key = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        _write_private(folder / BOOTSTRAP_FILE, key)
        return await self._add(key, ADMINISTRATOR, BOOTSTRAP_LABEL)

    async def _accept(self, configured: str) -> None:
        if not credentials.is_key(configured):
            raise ConfigurationError(f"the bootstrap key must be {credentials.CHOSEN_RULE}")
        if (weakness := weakness_of(configured)) is not None:
            raise ConfigurationError(
                f"the bootstrap key is too easy to guess: {weakness}; {REMEDY}"
            )
        known = await self._known_or_added(configured)
        if known.revoked_at is not None:
            raise ConfigurationError("the bootstrap key was revoked; configure another one")
        if known.agent != ADMINISTRATOR:
            raise ConfigurationError(
                f"the bootstrap key is the key {known.id} of another agent; configure another one"
            )

    async def _known_or_added(self, configured: str) -> AgentKey:
        digest = digest_of(configured)
        if (known := await self._store.find(digest)) is not None:
            return known
        try:
            return (await self._add(configured, ADMINISTRATOR, BOOTSTRAP_LABEL)).record
        except StoreError:
            # Another gateway that starts at the same time on this database may have added it.
            if (known := await self._store.find(digest)) is None:
                raise
            return known

    async def _replace(self, digest: str, folder: Path) -> None:
        """Revoke all bootstrap keys but the one with `digest`. Remove the file of a revoked one."""
        for key in await self._store.list():
            is_earlier = key.label == BOOTSTRAP_LABEL and key.agent == ADMINISTRATOR
            if is_earlier and key.digest != digest and key.revoked_at is None:
                await self.revoke(key.id)
                _log.warning(
                    "the earlier bootstrap key %s is revoked: another one is configured", key.id
                )
                _remove_file(folder / BOOTSTRAP_FILE, key.digest)

    async def _add(self, key: str, agent: str, label: str) -> NewKey:
        record = AgentKey(
            id=f"key_{secrets.token_hex(_ID_BYTES)}",
            agent=agent,
            label=label,
            digest=digest_of(key),
            created_at=self._clock.now(),
        )
        await self._store.add(record)
        self._invalidate()
        return NewKey(key=key, record=record)


def _listed(agents: Collection[str]) -> str:
    return ", ".join(sorted(agents)) or "none"


def _remove_file(path: Path, digest: str) -> None:
    """Remove `path` if it contains the key with `digest`, because that key is revoked."""
    try:
        if digest_of(path.read_text("utf-8").strip()) == digest:
            path.unlink()
    except (OSError, UnicodeDecodeError):
        _log.debug("%s holds no key to remove", path)


def _write_private(path: Path, key: str) -> None:
    """Replace `path` with a file that only its owner can read."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(_ID_BYTES)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{key}\n")
        draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); make its folder writable"
        ) from None
