"""A page in headless Chromium, driven over the Chrome DevTools Protocol."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.eventually import PATIENCE_SECONDS, eventually

BROWSER: Final = shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,900",
    "--remote-debugging-port=0",
    # Whatever is not on this machine is not found, so a page that needs a CDN shows itself.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


class Page:
    """One tab, and what its console said."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = count(1)
        self.console: list[str] = []

    async def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command of the protocol; events that come before it are recorded."""
        own = next(self._ids)
        await self._socket.send_json({"id": own, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json(timeout=PATIENCE_SECONDS)
            if message.get("id") == own:
                assert "error" not in message, message
                return dict(message["result"])
            self._record(message)

    async def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        done = await self.command("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def shows(self, script: str) -> Any:
        """The value of an expression as soon as it is true: what the page will show."""

        async def look() -> Any:
            return await self.run(script) or None

        return await eventually(look)

    async def open(self, url: str) -> None:
        """Load `url`, also when the tab is there already."""
        await self.command("Page.navigate", url=url)
        await self.shows(
            f"location.href === {json.dumps(url)} && document.readyState == 'complete'"
        )

    def _record(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Log.entryAdded":
            self.console.append(message["params"]["entry"]["text"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(message["params"]["exceptionDetails"]))


class Browser:
    """A browser that runs."""

    def __init__(self, http: aiohttp.ClientSession, address: str) -> None:
        self._http = http
        self._address = address

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """An empty tab of a visitor of whom nothing is known."""
        async with self._http.get(f"http://{self._address}/json/version") as answer:
            own = (await answer.json())["webSocketDebuggerUrl"]
        async with self._http.ws_connect(own, max_msg_size=0) as socket:
            browser = Page(socket)
            visitor = await browser.command("Target.createBrowserContext")
            tab = await browser.command("Target.createTarget", url="about:blank", **visitor)
            url = f"ws://{self._address}/devtools/page/{tab['targetId']}"
            async with self._http.ws_connect(url, max_msg_size=0) as tab_socket:
                page = Page(tab_socket)
                for domain in ("Page", "Runtime", "Log"):
                    await page.command(f"{domain}.enable")
                yield page
            await browser.command("Target.disposeBrowserContext", **visitor)


@asynccontextmanager
async def open_browser(folder: Path) -> AsyncIterator[Browser]:
    """A browser whose profile is in `folder`."""
    profile = f"--user-data-dir={folder}"
    process = await asyncio.create_subprocess_exec(
        str(BROWSER),
        *_FLAGS,
        profile,
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as http:
            yield Browser(http, await _address(folder))
    finally:
        process.kill()
        await process.wait()


async def _address(folder: Path) -> str:
    """Where the browser is driven: it writes its port to its profile."""
    file = folder / "DevToolsActivePort"

    async def look() -> str | None:
        lines = file.read_text("ascii").splitlines() if file.exists() else []
        return f"127.0.0.1:{lines[0]}" if len(lines) > 1 else None

    return await eventually(look)
