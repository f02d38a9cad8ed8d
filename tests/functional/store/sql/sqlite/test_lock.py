"""A server that is killed leaves its SQLite file to the next one."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from gateway.errors import StoreError
from gateway.store.sql.sqlite import only_server

HOLDER = (
    "import sys\n"
    "from gateway.store.sql.sqlite import only_server\n"
    "with only_server(sys.argv[1]):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.read()\n"
)


async def test_a_server_that_is_killed_leaves_the_file_free(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/gateway.db"
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, url, **pipes)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    with pytest.raises(StoreError, match=f"process {holder.pid} on "), only_server(url):
        pytest.fail("both serve it")

    os.kill(holder.pid, signal.SIGKILL)
    await holder.wait()

    with only_server(url), pytest.raises(StoreError, match="is in use"), only_server(url):
        pytest.fail("both serve it")
    with only_server(url):
        pass
