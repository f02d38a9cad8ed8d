"""Runs the tools of a gateway, all of whose upstreams are live, against the fakes."""

import copy
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct

from gateway.app import Gateway
from gateway.calls.upstreams import SharedState
from gateway.catalogue import open_catalogue
from gateway.clock import SystemClock
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import GatewayError, ToolFailed
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.served import UNLIMITED
from gateway.transports.http.problems import problem_of
from tests.fakes.avinode import AvinodeFake
from tests.fakes.cases import BOOK, Case, Refused
from tests.fakes.golf import GolfFake
from tests.fakes.google import GmailFake, SheetsFake
from tests.fakes.postgrest import PostgrestFake
from tests.fakes.travel import AmadeusFake, FrankfurterFake, NtfyFake, WeatherFake
from tests.fakes.wire import Answer, Fake, World

ROW = {
    "id": "wf-1",
    "request_id": "req-1",
    "state": "CREATED",
    "priority": "high",
    "metadata": {},
    "created_at": "2026-11-01T09:30:00+00:00",
    "updated_at": "2026-11-01T09:30:00.123456+00:00",
}
BASES = {"avinode": "/api", "supabase": "/rest/v1", "frankfurter": "/v1"}
CREDENTIALS = {
    "GATEWAY_AVINODE_API_TOKEN": "9f5bb1bc",
    "GATEWAY_AVINODE_ACCESS_TOKEN": "eyJhbGciOi",
    "GATEWAY_SUPABASE_SECRET_KEY": "sb_secret_fake",
    "GATEWAY_WEATHER_API_KEY": "5d2e0b8a",
    "GATEWAY_NTFY_TOPIC": "alerts",
    "GATEWAY_GOLF_COURSE_ID": "course-1",
    "GATEWAY_GOLF_USER_ID": "user-1",
    "GATEWAY_SHEETS_SPREADSHEET_ID": "book-1",
    **{
        f"GATEWAY_{name}_{each}": f"{name.lower()}-{each.lower()}"
        for name in ("GMAIL", "SHEETS", "AMADEUS", "GOLF")
        for each in ("CLIENT_ID", "CLIENT_SECRET")
    },
    "GATEWAY_GMAIL_REFRESH_TOKEN": "1//refresh",
    "GATEWAY_SHEETS_REFRESH_TOKEN": "1//refresh",
}


class Verdict(Struct, frozen=True, kw_only=True):
    """What became of one tool."""

    tool: str
    request: tuple[str, ...] = ()
    """What the vendor's documents do not allow of its requests. Empty: they are exact."""
    reply: str = ""
    """What is wrong with the result. Empty: it is mapped."""
    errors: Mapping[str, str] = {}
    """Of each way to a declared error, what is wrong with it. Empty: it is useful."""

    @property
    def is_right(self) -> bool:
        return not (self.request or self.reply or any(self.errors.values()))


class Trial:
    """A gateway and the fakes."""

    def __init__(self, gateway: Gateway, fakes: Mapping[str, Fake]) -> None:
        self._gateway = gateway
        self.fakes = fakes

    async def of(self, case: Case) -> Verdict:
        """Call the tool as it should be, then once for each declared error."""
        self._reset()
        try:
            result = await self._gateway.call(case.tool, case.arguments)
        except GatewayError as error:
            reply = f"{type(error).__name__}: {error.detail}"
        else:
            reply = missing(result, case.result)
        wrong = [text for fake in self.fakes.values() for text in fake.wrong]
        errors = {
            f"{each.reason} {number}": await self._refused(case, each)
            for number, each in enumerate(case.errors)
        }
        wrong += [text for fake in self.fakes.values() for text in fake.wrong]
        request = tuple(dict.fromkeys(wrong))
        return Verdict(tool=case.tool, request=request, reply=reply, errors=errors)

    async def _refused(self, case: Case, refused: Refused) -> str:
        self._reset()
        fake = self.fakes[case.tool.partition(".")[0]]
        if refused.answer is not None:
            fake.refusals[refused.at] = refused.answer
        if refused.sheets is not None and isinstance(fake, SheetsFake):
            fake.sheets = copy.deepcopy(dict(refused.sheets))
        try:
            await self._gateway.call(case.tool, refused.arguments or case.arguments)
        except ToolFailed as error:
            if error.reason != refused.reason:
                return f"it is {error.reason}"
            return self._useless(error, refused)
        except GatewayError as error:
            return f"{type(error).__name__}: {error.detail}"
        return "the call succeeded"

    async def at_another(self, case: Case, foreign: Answer) -> Any:
        """What a call ends with while something else answers in place of the vendor."""
        self._reset()
        self.fakes[case.tool.partition(".")[0]].foreign = foreign
        try:
            return await self._gateway.call(case.tool, case.arguments)
        except GatewayError as error:
            return error

    def _useless(self, error: ToolFailed, refused: Refused) -> str:
        """What the caller lacks to do better. Empty: nothing."""
        problem = problem_of(error, "request-1")
        is_theirs = refused.answer is not None and refused.answer.status >= 400
        if is_theirs and error.answer is not None and problem.upstream is UNSET:
            return "it keeps back what the vendor says"
        return "" if len(problem.detail) > 10 else "it has no text"

    def _reset(self) -> None:
        for fake in self.fakes.values():
            fake.refusals.clear()
            fake.foreign = None
            fake.wrong.clear()
            fake.asked.clear()
            if isinstance(fake, SheetsFake):
                fake.sheets = copy.deepcopy(dict(BOOK))
        self._gateway.parts.pipeline.dispatcher._shared = SharedState(SystemClock())


def missing(found: Any, expected: Any, at: str = "") -> str:
    """Where `found` lacks what is `expected`; empty if nowhere."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        pairs = ((name, found.get(name), each) for name, each in expected.items())
        return next(filter(None, (missing(f, e, f"{at}/{n}") for n, f, e in pairs)), "")
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{at}: {len(found)} items, not {len(expected)}"
        items = enumerate(zip(found, expected, strict=True))
        return next(filter(None, (missing(f, e, f"{at}/{n}") for n, (f, e) in items)), "")
    return "" if found == expected else f"{at}: {found!r}, not {expected!r}"


def every_fake() -> dict[str, Fake]:
    """A fake of each vendor, by the name of its connector."""
    return {
        "avinode": AvinodeFake(),
        "gmail": GmailFake(),
        "sheets": SheetsFake({}),
        "supabase": PostgrestFake(ROW),
        "amadeus": AmadeusFake(),
        "frankfurter": FrankfurterFake(),
        "weather": WeatherFake(),
        "ntfy": NtfyFake(),
        "golf": GolfFake(),
    }


def live_settings(url: str, names: Iterable[str]) -> dict[str, str]:
    """The variables that make the upstreams `names` live at their fakes below `url`."""
    settings = dict(CREDENTIALS)
    for name in names:
        upper = name.upper()
        settings[f"GATEWAY_BACKEND_{upper}"] = "live"
        settings[f"GATEWAY_{upper}_BASE_URL"] = f"{url}/{name}{BASES.get(name, '')}"
        if name in {"gmail", "sheets"}:
            settings[f"GATEWAY_{upper}_TOKEN_URL"] = f"{url}/{name}/token"
    return settings


@asynccontextmanager
async def open_trial(data: Path) -> AsyncIterator[Trial]:
    """The shipped catalogue, with every upstream live at its fake."""
    fakes = every_fake()
    async with serving(World(fakes)) as url:
        settings = {"GATEWAY_DATABASE_URL": "memory:", "GATEWAY_DATA": str(data)}
        settings |= live_settings(url, fakes) | UNLIMITED
        catalogue = open_catalogue("generated", HANDLER_PACKAGES)
        grants = {"administrator": frozenset(each.id for each in catalogue.entries)}
        async with Gateway.open(read_settings(settings, None, {}), grants=grants) as gateway:
            yield Trial(gateway, fakes)
