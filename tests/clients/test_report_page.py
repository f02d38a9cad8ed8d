"""The page of a report in a real browser, as a person has it who opens the file."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import pytest_asyncio

from gateway.cli.reports.forms import write
from gateway.cli.reports.record import Report
from tests.clients.browser import BROWSER, Browser, Page, open_browser
from tests.reports import HOSTILE, hostile, usual

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium: run apt-get install chromium"),
    pytest.mark.asyncio(loop_scope="module"),
]
SCHEMES: Final = ("light", "dark")
FOCUSED: Final = """(() => {
  const cell = document.activeElement.closest('th, td');
  return cell && [cell.parentNode.sectionRowIndex, cell.cellIndex];
})()"""
CONTRAST: Final = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => channels(colour).slice(0, 3)
    .map((each) => each / 255)
    .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (channels(colour)[3] === 255) return colour;
    }
    return 'white';
  };
  const texts = [...document.querySelectorAll('body *')].filter((each) =>
    !/^(SCRIPT|STYLE|OPTION)$/.test(each.tagName) && each.checkVisibility() &&
    [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((each) => {
    const [a, b] = [luminance(getComputedStyle(each).color), luminance(ground(each))];
    const name = each.tagName + '.' + each.className;
    return [name, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
})()"""
"""The contrast of each visible text to what is behind it (WCAG 2.2 §1.4.3)."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with browser.page() as opened:
        yield opened


async def show(page: Page, folder: Path, report: Report) -> str:
    """Write the report and open its page."""
    path = folder / "report.html"
    write(report, path)
    await page.open(path.as_uri())
    return path.as_uri()


async def press(page: Page, key: str, **more: Any) -> None:
    for kind in ("keyDown", "keyUp"):
        text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        code = {"Tab": 9, "Enter": 13, "Home": 36, "End": 35}.get(key, 0)
        await page.command(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=key,
            windowsVirtualKeyCode=code,
            **text,
            **more,
        )


async def prefer(page: Page, scheme: str) -> None:
    preference = {"name": "prefers-color-scheme", "value": scheme}
    await page.command("Emulation.setEmulatedMedia", features=[preference])


async def resize(page: Page, width: int) -> None:
    await page.command(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=700,
        deviceScaleFactor=1,
        mobile=False,
    )


@pytest.mark.parametrize("of", ["checks", "changes"])
@pytest.mark.parametrize("kind", HOSTILE)
async def test_no_text_of_a_contract_runs_or_asks_for_anything(
    page: Page, tmp_path: Path, kind: str, of: Any
) -> None:
    url = await show(page, tmp_path, hostile(HOSTILE[kind], of))
    loaded = "performance.getEntriesByType('resource').map((each) => each.name)"
    assert [each for each in await page.run(loaded) if not each.startswith("data:")] == []
    assert await page.run("document.querySelectorAll('img, iframe, object, form').length") == 0
    assert await page.run("location.href") == url
    assert page.console == []


async def test_a_script_that_is_added_does_not_run(page: Page, tmp_path: Path) -> None:
    """The policy holds also if the escaping would not."""
    await show(page, tmp_path, usual())
    await page.run(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hit=1\">');"
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.hit = 1'}))"
    )
    assert await page.run("window.hit ?? null") is None
    await page.run("1")
    assert any("Content Security Policy" in each for each in page.console)


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_every_text_has_enough_contrast(page: Page, tmp_path: Path, scheme: str) -> None:
    await prefer(page, scheme)
    await show(page, tmp_path, hostile("name"))
    await page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found = await page.run(CONTRAST)
    assert len(found) > 30
    assert [each for each in found if each[1] < 4.5] == []


async def test_the_colours_are_those_of_the_system_until_they_are_chosen(
    page: Page, tmp_path: Path
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    await prefer(page, "dark")
    await show(page, tmp_path, usual())
    assert await page.run(ground) == "rgb(21, 24, 28)"
    await page.run("document.getElementById('theme').click()")
    assert await page.run(ground) == "rgb(255, 255, 255)"
    assert await page.run("document.getElementById('theme').ariaLabel") == "Use dark colours"
    await page.command("Page.reload")
    await page.shows(f"document.readyState === 'complete' && {ground} === 'rgb(255, 255, 255)'")


async def test_the_first_stop_of_the_keyboard_skips_to_the_contracts(
    page: Page, tmp_path: Path
) -> None:
    await show(page, tmp_path, usual())
    await press(page, "Tab")
    assert await page.run("document.activeElement.className") == "skip"
    assert await page.run("document.activeElement.getBoundingClientRect().left >= 0")
    await press(page, "Enter")
    assert await page.shows("document.activeElement.id === 'contracts'")


async def test_the_matrix_is_one_stop_and_arrows_move_in_it(page: Page, tmp_path: Path) -> None:
    await show(page, tmp_path, usual())
    stops = "document.querySelectorAll('#matrix [tabindex=\"0\"]').length"
    assert await page.run(stops) == 1
    await page.run("document.querySelector('#matrix [tabindex=\"0\"]').focus()")
    places = []
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "End", "Home", "ArrowUp"):
        await press(page, key)
        places.append(await page.run(FOCUSED))
    assert places == [[1, 0], [1, 1], [0, 1], [0, 3], [0, 0], [0, 0]]
    assert await page.run(stops) == 1
    assert await page.run("document.activeElement.matches(':focus-visible')")
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert await page.run(outline) == "3px"


async def test_enter_on_a_cell_goes_to_its_finding(page: Page, tmp_path: Path) -> None:
    await show(page, tmp_path, usual())
    await page.run("document.querySelector('#matrix .is-failed a').focus()")
    await page.run("document.querySelector('.contract').open = false")
    await press(page, "Enter")
    await page.shows("document.activeElement.matches('.finding.of-failed')")
    assert await page.run("document.activeElement.checkVisibility()")
    await press(page, "Tab")
    assert await page.run("document.activeElement.closest('.finding') !== null")


async def test_the_filter_hides_rows_and_contracts_and_says_how_many(
    page: Page, tmp_path: Path
) -> None:
    await show(page, tmp_path, usual())
    visible = """[...document.querySelectorAll('.contract h3, #matrix tbody th')]
      .filter((each) => each.checkVisibility()).map((each) => each.textContent)"""
    await press(page, "/")
    await page.command("Input.insertText", text="GMAIL")
    assert await page.run(visible) == ["gmail/send_email"] * 2
    assert await page.run("document.getElementById('count').textContent") == "1 of 2 contracts"
    await press(page, "Escape")
    assert len(await page.run(visible)) == 4
    await page.run(
        "const box = document.getElementById('outcome'); box.value = 'undecided-undecided';"
        "box.dispatchEvent(new Event('change'))"
    )
    assert await page.run(visible) == ["golf/search_tee_times"] * 2


async def test_a_link_to_a_finding_opens_its_contract(page: Page, tmp_path: Path) -> None:
    url = await show(page, tmp_path, usual())
    anchor = await page.run("document.querySelector('.finding').id")
    await page.run("document.querySelector('.contract').open = false")
    await page.run(f"location.hash = {json.dumps(anchor)}")
    await page.shows("document.querySelector('.contract').open")
    assert re.match(rf"{re.escape(url)}#c-golf", await page.run("location.href"))


async def test_a_line_is_copied_whole(page: Page, tmp_path: Path) -> None:
    await show(page, tmp_path, usual())
    await page.run(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; };"
        "document.querySelector('[aria-label=\"Copy curl\"]').click()"
    )
    assert await page.shows("window.copied") == usual().checks[1].replay.curl
    assert await page.shows("document.getElementById('said').textContent") == "Copied"


@pytest.mark.parametrize("kind", ["long", "image"])
async def test_nothing_is_wider_than_a_narrow_screen(page: Page, tmp_path: Path, kind: str) -> None:
    await resize(page, 320)
    await show(page, tmp_path, hostile(HOSTILE[kind].replace(" ", "")[:2000]))
    await page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert await page.run("document.documentElement.scrollWidth") <= 320


async def test_print_has_all_contracts_open_and_no_controls(page: Page, tmp_path: Path) -> None:
    await show(page, tmp_path, usual())
    await page.command("Emulation.setEmulatedMedia", media="print")
    await page.run("dispatchEvent(new Event('beforeprint'))")
    assert await page.run("document.querySelectorAll('.contract:not([open])').length") == 0
    controls = "[...document.querySelectorAll('button, input, select')]"
    assert await page.run(f"{controls}.filter((each) => each.checkVisibility()).length") == 0


async def test_many_contracts_are_filtered_and_opened(page: Page, tmp_path: Path) -> None:
    failed = usual().checks[1]
    checks = tuple(
        msgspec.structs.replace(
            failed,
            subject=f"tool/{tool}",
            check=f"check-{check}",
            cause="",
            outcome="failed" if (tool + check) % 8 == 0 else "passed",
        )
        for tool in range(200)
        for check in range(20)
    )
    await show(page, tmp_path, Report(command="c", seconds=1.0, checks=checks))
    assert await page.run("document.querySelectorAll('#matrix tbody td').length") == 4000
    await press(page, "/")
    await page.command("Input.insertText", text="tool/199")
    assert await page.run("document.getElementById('count').textContent") == "1 of 200 contracts"
    assert page.console == []
