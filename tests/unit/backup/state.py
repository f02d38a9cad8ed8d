"""The state of a small gateway, as tests of backups need it."""

from pathlib import Path
from typing import Final

from gateway.backup.copies import store_tables
from gateway.backup.state import SavedDatabase, SavedState
from gateway.store.sql.engine import open_store

PASSPHRASE: Final = "a long passphrase of the tests"
KEY: Final = "gw_secret_of_the_tests"


def made_state(data: Path, **configured: str) -> SavedState:
    """Where a gateway on SQLite keeps its state under `data`; nothing is made."""
    place = SavedDatabase(name="gateway", path=data / "gateway.db", tables=store_tables(None))
    return SavedState(data=data, databases=(place,), package="generated", configured=configured)


async def put_gateway(state: SavedState) -> None:
    """Its files and its database."""
    state.data.mkdir(mode=0o700)
    (state.data / "bootstrap-key").write_text(f"{KEY}\n", "utf-8")
    store = await open_store(f"sqlite:///{state.data}/gateway.db")
    await store.close()
