"""The attacks: each goes on until it is cancelled."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from gateways import ROOT
from hostile_client import Line, Target, address_of, crowd
from hostile_documents import RESULTS, chained
from hostile_strangers import STRANGERS, Kind
from hostile_upstream import ECHOES, ENDLESS, NAMES, STOLEN
from soak_load import HANDSHAKE, mcp, request

PROXY: Final = "127.0.0.2"
"""The address of the trusted proxy, which names the client's in a header."""
CANARY: Final = "CANARY"
_JOURNEY: Final = {
    "flight_details": {
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "passengers": 4,
        "departure_date": "2099-12-20T14:00:00Z",
    },
    "operator_ids": ["OP-001"],
}
_DOCUMENTS: Final = ("/openapi.json", "/asyncapi.json")
_UNSEEN: Final = ("\u202e", "\u200b", "\U000e0041", "\x1b")
_WAITS: Final = frozenset({"slow", "long_wait", "no_wait"})
"""They would keep the other misbehaviours from being asked for."""
_OTHERS: Final = tuple(name for name in NAMES if name not in ENDLESS and name not in _WAITS)


def journey(note: object) -> dict[str, Any]:
    """Arguments of a request for proposal that no other request has."""
    return {**_JOURNEY, "special_requirements": f"note {note}"}


def _calls(size: int, paths: Callable[[int], str], body: Callable[[int], Any], **more: str) -> Kind:
    """`size` connections that call one path after the other."""

    async def run(target: Target) -> None:
        turns = count()

        async def call(number: int) -> None:
            turn = next(turns)
            async with target.line(address_of(number)) as line:
                await target.call(line, paths(turn), body(turn), **more)

        await crowd(size, call)

    return run


def _in_turn(connector: str, names: tuple[str, ...]) -> Callable[[int], str]:
    return lambda turn: f"/v1/{connector}/{names[turn % len(names)]}"


def _evil(size: int, *names: str) -> Kind:
    return _calls(
        size, _in_turn("evil", names), lambda _: {}, Gateway_Max_Attempts="1", Gateway_Timeout="2"
    )


async def crossed(target: Target) -> None:
    """Two callers whose upstream answers late and twice: each may see its own reply only.

    Nobody can tell of a second reply that arrives after the next request (HTTP/1.1).
    """
    turns = count()

    async def call(number: int) -> None:
        agent, mark = ("hostile", "rival")[number % 2], f"{number}-{next(turns)}"
        name = ("good", "stray", "soon", "soon")[number // 2 % 4]
        limit = "0.1" if number // 2 % 4 == 3 else "5"
        async with target.line(address_of(number)) as line:
            path, body = f"/v1/evil/{name}", {"q": mark}
            answer = await target.call(line, path, body, agent=agent, Gateway_Timeout=limit)
        if answer is None:
            return
        if STOLEN.encode() in answer.body:
            target.find(f"crossed: {agent} was answered with a reply to nobody's request")
        seen = answer.values.get("text") if answer.status == 200 else None
        if name == "soon" and seen not in {None, mark}:
            target.find(f"crossed: {agent} was answered with the reply to another request")

    await crowd(16, call)


async def injection(target: Target) -> None:
    """Text of documents that wants to be code, or that only a model sees."""

    async def look(number: int) -> None:
        async with target.line(address_of(number)) as line:
            listed = mcp(HANDSHAKE, "tools/list", {}, **target.key("hostile"))
            answers = [await target.ask(line, listed)]
            answers += [await target.get(line, path) for path in _DOCUMENTS]
        for answer in answers:
            text = "" if answer is None else json.dumps(answer.values, ensure_ascii=False)
            if any(character in text for character in _UNSEEN):
                target.find("injection: a list of tools holds text that nobody sees")
        for path in ("PWNED", "data/PWNED"):
            if (target.folder / path).exists():
                target.find("injection: text of a document was run")

    await crowd(2, look)


async def tenancy(target: Target) -> None:
    """What is another's looks like what does not exist, and nothing tells who asked before."""
    turns = count()
    async with target.line(address_of(0)) as line:
        made = await target.call(line, "/v1/avinode/create_rfp", journey("of hostile"))
        theirs = f"/v1/jobs/{made.values.get('id') if made else None}"
        while True:
            turn = next(turns)
            await _same(target, line, f"GET {theirs}", f"GET /v1/jobs/job_{turn:012x}")
            await _same(
                target, line, f"GET {theirs}/result", f"GET /v1/jobs/job_{turn:012x}/result"
            )
            await _same(target, line, "POST /v1/evil/good", f"POST /v1/evil/none{turn}")
            query = {"query": f"lamp {turn}"}
            await target.call(line, "/v1/store/find_products", query)
            known = await target.call(line, "/v1/store/find_products", query, agent="rival")
            new = await target.call(
                line, "/v1/store/find_products", {"query": f"desk {turn}"}, agent="rival"
            )
            if known and new and _names(known.head) != _names(new.head):
                target.find("tenancy: headers tell that another asked the same")


async def _same(target: Target, line: Line, theirs: str, unknown: str) -> None:
    """Both are answered alike to an agent that may see neither."""
    found = []
    for each in (theirs, unknown):
        method, path = each.split()
        body: Any = {} if method == "POST" else None
        answer = await target.ask(line, request(method, path, body, **target.key("lesser")))
        values = answer.values if answer else {}
        found.append((answer.status if answer else None, values.get("code"), values.get("title")))
    if found[0] != found[1]:
        target.find(f"tenancy: {theirs.split()[1].split('/')[2]}: {found[0]}, unknown {found[1]}")


def _names(head: str) -> set[str]:
    return {line.partition(":")[0].lower() for line in head.split("\r\n")[1:]}


async def watches(target: Target) -> None:
    """One agent follows its job on many connections."""
    async with target.line(address_of(0)) as line:
        made = await target.call(line, "/v1/avinode/create_rfp", journey("to watch"))
    job = made.values.get("id") if made else None
    text = request("GET", f"/v1/jobs/{job}/events", **target.key("hostile"))
    await crowd(400, lambda number: target.hold(address_of(number), text))


async def sessions(target: Target) -> None:
    """One agent opens streams of events without end."""
    text = request("GET", "/events", Accept="text/event-stream", **target.key("hostile"))
    await crowd(400, lambda number: target.hold(address_of(number), text))


async def behind_a_proxy(target: Target) -> None:
    """One agent takes all connections of the proxy that others use too, with slow calls."""

    async def call(number: int) -> None:
        async with target.line(PROXY) as line:
            await target.call(
                line, "/v1/evil/slow", {"q": str(number)}, X_Forwarded_For="10.0.0.66"
            )

    await crowd(1200, call)


async def canaries(target: Target) -> None:
    """Credentials that an upstream repeats in every place where it can."""
    names = (*ECHOES, "oauth_echo")
    pages = ("/readyz", "/healthz", "/metrics", "/openapi.json", "/operator/audit?limit=200")
    async with target.line(address_of(0)) as line:
        while True:
            for name in names:
                answer = await target.call(line, f"/v1/secretive/{name}", {"q": "x"})
                if answer and CANARY.encode() in answer.body + answer.head.encode():
                    target.find(f"canary: the result of {name} has a credential")
            for page in pages:
                answer = await target.get(line, page, "administrator")
                if answer and CANARY.encode() in answer.body:
                    target.find(f"canary: {page} has a credential")
            if CANARY in (target.folder / "log").read_text(errors="replace"):
                target.find("canary: the log has a credential")
            await asyncio.sleep(0.2)


async def reload(target: Target) -> None:
    """An import that takes as long as it may, and reloads."""
    document = target.folder / "hanging.json"
    argv = ("import", str(document), "--as", "hanging", "--yes", "--dry-run")
    while True:
        process = await asyncio.create_subprocess_exec(
            *("nice", sys.executable, "-m", "gateway", *argv),
            cwd=target.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        target.answers["import begun"] += 1
        try:
            async with asyncio.timeout(60):
                target.answers[f"import {await process.wait()}"] += 1
        except TimeoutError:
            target.find("import: it did not end within a minute")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        os.kill(target.process, signal.SIGHUP)
        await asyncio.sleep(2)


def _body(turn: int) -> dict[str, Any]:
    return {"a": (5, "x", {"x": {"x": {"x": 5}}})[turn % 3]}


KINDS: Final[Mapping[str, Kind]] = {
    "schema": _calls(8, _in_turn("chains", tuple(chained())), _body),
    "mock": _calls(4, _in_turn("patterns", tuple(RESULTS)), lambda _: {}),
    "injection": injection,
    "endless": _evil(100, "endless_chunks", "endless_length", "endless_events", "extensions"),
    "one-byte": _evil(3, "one_byte"),
    "large-values": _evil(10, "many_names", "many_items", "long_number", "deep"),
    "bombs": _evil(10, "bomb", "bomb_that_lies", "bomb_of_members"),
    "slow-replies": _evil(50, "drip_body", "drip_head", "drip_infos"),
    "heads": _evil(10, "many_infos", "endless_trailers", "many_headers", "large_header"),
    "misbehaviours": _evil(5, *_OTHERS),
    "waits": _evil(5, "long_wait", "no_wait"),
    "crossed": crossed,
    "tenancy": tenancy,
    "proxy": behind_a_proxy,
    "jobs": _calls(8, lambda _: "/v1/avinode/create_rfp", journey),
    "watches": watches,
    "streams": sessions,
    "canaries": canaries,
    "import": reload,
    **STRANGERS,
}
"""By name, in the order of a run."""
SKIPPED: Final = {
    "update": "a changed document is no load: tests/functional tries `import --update`",
}
LASTING: Final = frozenset({"jobs"})
"""What they began goes on when they have ended: they are tried once, after the time alone."""
