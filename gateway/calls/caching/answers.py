"""What is kept of a result, in this process and in bytes for others."""

from hashlib import blake2b
from hmac import compare_digest
from typing import Final

import msgspec
from msgspec import Struct, field

from gateway.calls.call import BackendName
from gateway.contract.values.files import FileContent

_SEAL_BYTES: Final = 16
_decode: Final = msgspec.json.Decoder().decode


MAX_TOLD: Final = 256
"""Callers for whom a result remembers when they first got it."""


class KeptResult(Struct, frozen=True):
    """What is kept of a result: its text. The decoded values would take ten times the memory."""

    text: bytes
    backend: BackendName
    hidden_characters: int
    made_at: float
    """Seconds of the monotonic clock."""
    file: FileContent | None = None
    left_out: tuple[str, ...] = ()
    """See `Result.left_out`."""
    told: dict[str, float] = field(default_factory=dict)
    """When each caller has first got it, on the same clock, by subject. At most `MAX_TOLD`."""

    def first_told(self, subject: str, now: float) -> float | None:
        """When this caller has first got it. None: it is new to them, from `now` on."""
        first = self.told.get(subject)
        if first is None and len(self.told) < MAX_TOLD:
            self.told[subject] = now
        return first

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text) + (0 if self.file is None else len(self.file.data))


class SealedResult(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The same for other processes."""

    made_at: int
    """Microseconds of the board's clock."""
    backend: BackendName
    hidden_characters: int
    text: bytes


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(SealedResult).decode


class Sealing:
    """Writes results as bytes, and reads only what a gateway with the same secret has written."""

    def __init__(self, secret: bytes) -> None:
        """`secret`: equal where results may be exchanged. Longer ones than 64 bytes are refused."""
        self._secret = secret

    def name_of(self, key: bytes) -> str:
        """A name for `key` that nobody can guess from the arguments in it."""
        return blake2b(key, key=self._secret, digest_size=20).hexdigest()

    def seal(self, state: bytes, name: str, shared: SealedResult) -> bytes:
        """The bytes of a result that is kept under `name` for this state of its connector."""
        body = _pack(shared)
        return state + self._seal(state, name, body) + body

    def open(self, state: bytes, name: str, value: bytes) -> SealedResult | None:
        """The result in `value`. None if it is of another state or name, or not authentic."""
        start = len(state) + _SEAL_BYTES
        seal, body = value[len(state) : start], value[start:]
        if not compare_digest(seal, self._seal(state, name, body)):
            return None
        try:
            shared = _unpack(body)
            is_object = isinstance(_decode(shared.text), dict)
        except (msgspec.MsgspecError, ValueError):
            return None
        return shared if is_object else None

    def _seal(self, state: bytes, name: str, body: bytes) -> bytes:
        sealed = b"%b %d %b%b" % (name.encode(), len(state), state, body)
        return blake2b(sealed, key=self._secret, digest_size=_SEAL_BYTES).digest()
