"""What the reloader does when an old generation has ended."""

import asyncio
from types import SimpleNamespace

from gateway.app.reloading.generation import Generation
from gateway.app.reloading.reloader import Reloader


async def test_what_an_old_generation_gave_back_is_looked_for_at_once():
    """On SQLite nobody looks often, because whoever adds a job wakes its own worker."""
    noted = []

    async def drain(_seconds):
        return 0

    async def close():
        noted.append("closed")

    work = SimpleNamespace(wake=lambda: noted.append("woken"))
    new = SimpleNamespace(gateway=SimpleNamespace(parts=SimpleNamespace(work=work)))
    old = Generation.__new__(Generation)
    old.drain, old.close = drain, close
    reloader = Reloader(SimpleNamespace(current=new), None, None, None, "")
    reloader._retiring[old] = asyncio.current_task()
    reloader._settling.plan = lambda: None
    await reloader._retire(old, 1.0)
    assert noted == ["closed", "woken"]
