"""Compare FastMCP `from_openapi` with this gateway by the seventeen probes of `tests/forty/probes`.

Each probe is a document and calls. A probe is passed if the vendor's server receives exactly the
requests that the document demands, refused arguments are not sent, and results are what the
document allows. FastMCP is installed into an environment of its own on first use. Exits with 1 if
the gateway fails a probe.
"""

import json
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from machine import description
from peer import FASTMCP
from processes import BenchError

from tests.forty.checks import check_case
from tests.forty.imports import cases, completed, connector_of, import_site
from tests.recording import Received, recording_vendor

ROOT: Final = Path(__file__).resolve().parents[2]
PROBES: Final = ROOT / "tests" / "forty" / "probes"
LONGEST_SECONDS: Final = 60
_PEER: Final = Path(__file__).with_name("fastmcp_probes.py")


def main() -> int:
    try:
        python = FASTMCP.program()
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    probes = cases(PROBES)
    with tempfile.TemporaryDirectory(prefix="gateway-probes-") as folder:
        own = own_outcomes(Path(folder), probes)
        theirs = {name: peer_outcome(python, Path(folder), probes[name]) for name in probes}
    width = max(len(case["title"]) for case in probes.values())
    print(f"{'probe':{width + 4}}FastMCP {FASTMCP.version}  gateway")
    for name, case in probes.items():
        row = f"{name[:2]}  {case['title']:{width}}{theirs[name] or 'passed':>14}"
        print(f"{row}  {own[name] or 'passed'}")
    passed = [sum(not each for each in found.values()) for found in (theirs, own)]
    print(f"{'passed':{width + 4}}{passed[0]:>14}  {passed[1]} of {len(probes)}")
    found = description()
    print(f"{found['command']}, {found['date']}, {found['machine']}")
    return int(passed[1] < len(probes))


def own_outcomes(folder: Path, probes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is wrong with the gateway by probe. Empty: nothing."""
    found = {}
    with import_site(folder, probes) as site:
        listed = {each["name"]: each for each in site.ask("tools/list", {})["tools"]}
        for name, case in probes.items():
            connector = connector_of(name)
            try:
                check_case(site, name, case)
                check_tools(
                    case, {name.removeprefix(f"{connector}_"): e for name, e in listed.items()}
                )
            except AssertionError:
                found[name] = "failed"
            else:
                found[name] = ""
    return found


def peer_outcome(python: Path, folder: Path, case: Mapping[str, Any]) -> str:
    """What is wrong with FastMCP in this probe. Empty: nothing."""
    reply: dict[str, Any] = next((c["reply"] for c in case["calls"] if "reply" in c), {})
    with recording_vendor(lambda *_: answer(reply)) as vendor:
        document, calls = folder / "document.json", folder / "calls.json"
        text = json.dumps(completed(case["document"])).replace("VENDOR", vendor.url)
        document.write_text(text, "utf-8")
        calls.write_text(json.dumps(case["calls"]), "utf-8")
        done = subprocess.run(
            [str(each) for each in (python, _PEER, document, calls, vendor.url)],
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if done.returncode:
            return "refused"
        try:
            check_peer(case, json.loads(done.stdout.splitlines()[-1]), list(vendor.received))
        except (AssertionError, IndexError):
            return "failed"
        return ""


def check_peer(case: Mapping[str, Any], found: Mapping[str, Any], received: list[Received]) -> None:
    """Raise `AssertionError` or `IndexError` for what differs from `case`."""
    for call, result in zip(case["calls"], found["results"], strict=True):
        is_failure = "refused" in call or call.get("status", 200) >= 400
        check(bool(result.get("isError")) == is_failure)
        if "refused" not in call:
            check_same(call, received.pop(0))
    check(received == [])
    check_tools(case, {each["name"]: each for each in found["tools"]})


def check_same(expected: Mapping[str, Any], received: Received) -> None:
    """Raise `AssertionError` if the requests differ in more than escapes and the form of JSON."""
    check(unquote(received.line) == unquote(expected["request"]))
    for header, value in expected.get("headers", {}).items():
        check(received.headers.get(header) == value)
    check(bool(received.body) == ("body" in expected))
    if received.body:
        check(json.loads(received.body) == json.loads(expected["body"]))


def check_tools(case: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `AssertionError` if the listed tools have other hints or required arguments."""
    for tool, hints in case.get("annotations", {}).items():
        check(hints.items() <= (tools[tool].get("annotations") or {}).items())
    for tool, required in case.get("required", {}).items():
        check(tools[tool]["inputSchema"].get("required", []) == required)


def answer(reply: Mapping[str, Any]) -> tuple[int, str, bytes]:
    """The reply of the vendor, as that of `import_site`."""
    body = reply.get("body", "{}").encode()
    if "body_base64" in reply:
        body = b64decode(reply["body_base64"])
    return reply.get("status", 200), reply.get("type", "application/json"), body


def check(is_true: bool) -> None:
    if not is_true:
        raise AssertionError


if __name__ == "__main__":
    sys.exit(main())
