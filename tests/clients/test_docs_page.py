"""`/docs` in a real browser: everything it needs comes from the gateway itself."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.contract.operation import Effect
from tests.clients.browser import BROWSER, Browser, Page, open_browser
from tests.clients.contracts import catalogue
from tests.gateway_process import RunningGateway

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium: run apt-get install chromium"),
    pytest.mark.asyncio(loop_scope="module"),
]
STATUS = "document.getElementById('key-status').textContent"
PATHS = "[...document.querySelectorAll('[data-path]')].map((each) => each.dataset.path)"
FILTER = "document.querySelector('.operation-filter-input')"
ENTER = """(() => {
  document.getElementById('key').value = %s;
  document.getElementById('key-form').requestSubmit();
})()"""


@pytest.fixture(scope="module")
def routes() -> set[str]:
    """What an administrator may call."""
    return {
        entry.operation.route
        for entry in catalogue().entries
        if entry.operation.effect is not Effect.DESTROY
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, gateway: RunningGateway) -> AsyncIterator[Page]:
    """The page as a new visitor has it, when it has loaded the document."""
    async with browser.page() as page:
        await page.open(f"{gateway.url}/docs")
        await page.shows("document.querySelector('.information-container .title') !== null")
        yield page


async def enter(page: Page, key: str) -> None:
    await page.run(ENTER % json.dumps(key))


async def shown_paths(page: Page) -> set[str]:
    return set(await page.shows(f"{PATHS}.length && {PATHS}"))


async def test_without_a_key_the_page_says_what_to_do(page: Page) -> None:
    assert await page.shows(STATUS) == "Enter a key to see its tools."
    assert await page.run(PATHS) == []
    assert "gateway keys create AGENT" in await page.run("document.body.innerText")
    assert page.console == []


async def test_a_key_shows_what_it_may_call_and_is_kept_over_a_reload(
    page: Page, gateway: RunningGateway, routes: set[str]
) -> None:
    await enter(page, gateway.key)
    assert await shown_paths(page) >= routes
    assert await page.run(STATUS) == f"With this key you may call {len(routes)} tools."

    await page.open(f"{gateway.url}/docs")
    assert await shown_paths(page) >= routes
    assert await page.run("document.getElementById('key').value") == ""
    assert page.console == []


async def test_the_key_of_an_agent_shows_the_tools_of_the_agent(
    page: Page, gateway: RunningGateway, routes: set[str]
) -> None:
    await enter(page, gateway.create_key("client_data"))
    shown = await shown_paths(page) & routes
    assert "/v1/sheets/search_client" in shown
    assert not any(path.startswith("/v1/gmail/") for path in shown)
    assert await page.run(STATUS) == f"With this key you may call {len(shown)} tools."


async def test_a_wrong_key_is_named_as_such_and_not_kept(
    page: Page, gateway: RunningGateway, routes: set[str]
) -> None:
    await enter(page, "gw_nobody-0123456789")
    await page.shows(f"{STATUS} === 'The gateway does not accept this key.'")
    assert await page.run("sessionStorage.length") == 0

    await enter(page, gateway.key)
    await shown_paths(page)
    await enter(page, "gw_nobody-0123456789")
    await page.shows(f"{STATUS} === 'The gateway does not accept this key.'")
    assert await shown_paths(page) >= routes


async def test_a_key_that_is_forgotten_shows_nothing_any_more(
    page: Page, gateway: RunningGateway
) -> None:
    await enter(page, gateway.key)
    await shown_paths(page)

    await page.run("document.getElementById('key-forget').click()")

    await page.shows(f"{PATHS}.length === 0")
    assert await page.run(STATUS) == "Enter a key to see its tools."
    assert await page.run("sessionStorage.length") == 0


async def test_the_filter_finds_tools_by_connector_and_path(
    page: Page, gateway: RunningGateway
) -> None:
    await enter(page, gateway.key)
    await shown_paths(page)
    for text, found in (("golf", "/v1/golf/"), ("search_airports", "/v1/avinode/search_airports")):
        await page.run(f"{FILTER}.focus()")
        await page.run(f"{FILTER}.select()")
        await page.command("Input.insertText", text=text)
        is_found = f"(each) => each.startsWith({json.dumps(found)})"
        tools = f"{PATHS}.filter((each) => each.startsWith('/v1/'))"
        assert await page.shows(f"{tools}.length > 0 && {tools}.every({is_found})")


async def test_a_tool_is_tried_out_with_the_key(page: Page, gateway: RunningGateway) -> None:
    await enter(page, gateway.key)
    await shown_paths(page)
    tool = "document.querySelector('[data-path=\"/v1/avinode/search_airports\"]')"
    block = f"{tool}.closest('.opblock')"

    await page.run(f"{tool}.click()")
    await page.shows(f"{block}.querySelector('.try-out__btn') !== null")
    await page.run(f"{block}.querySelector('.try-out__btn').click()")
    await page.shows(f"{block}.querySelector('button.execute') !== null")
    await page.run(f"{block}.querySelector('button.execute').click()")

    answered = (
        f"{block}.querySelector('.live-responses-table tbody .response-col_status')?.innerText"
    )
    assert (await page.shows(answered)).startswith("200")
    assert page.console == []
