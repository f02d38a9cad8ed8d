"""`/docs` in a real browser: everything it needs comes from the gateway itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gateway.catalogue import open_catalogue
from tests.gateway_process import running_gateway

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=8000",
    # Whatever is not on this machine is not found, so a page that needs a CDN shows itself.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dump-dom",
)


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian: apt-get install chromium)")
def test_the_page_shows_every_operation_without_a_console_error(tmp_path: Path) -> None:
    with running_gateway(tmp_path / "data") as gateway:
        done = subprocess.run(
            [
                str(BROWSER),
                *FLAGS,
                f"--user-data-dir={tmp_path / 'browser'}",
                f"{gateway.url}/docs",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )

    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    for entry in open_catalogue("generated").entries:
        assert f'data-path="{entry.operation.route}"' in done.stdout
