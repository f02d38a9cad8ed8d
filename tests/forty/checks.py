"""Compares an import and its calls with what a case expects."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.contract.values.schema import Validator
from tests.forty.imports import ImportSite, Outcome, connector_of
from tests.recording import Received


def check_case(site: ImportSite, name: str, case: Mapping[str, Any]) -> None:
    """The report and all calls of the case `name` are what it says."""
    connector = connector_of(name)
    check_report(site, connector, case)
    for call in case["calls"]:
        ask = site.mcp if call.get("over") == "mcp" else site.rest
        given = (call["tool"], call["arguments"], call.get("reply"), call.get("given"))
        outcome = ask(connector, *given)
        check_call(call, outcome)
        if outcome.status == 200:
            check_published(site, connector, call["tool"], outcome.value)


def check_call(call: Mapping[str, Any], outcome: Outcome) -> None:
    if "refused" in call:
        assert {each["pointer"] for each in outcome.value["errors"]} == {*call["refused"]}
        assert outcome.received == []
        return
    received = list(outcome.received)
    if before := call.get("before"):
        check_request(before, received.pop(0))
    assert received, outcome.value
    check_request(call, received[0])
    assert outcome.status == call.get("status", 200), outcome.value
    if "status" not in call:
        assert outcome.value == call.get("result", {})


def check_published(site: ImportSite, connector: str, tool: str, result: Any) -> None:
    """A result is valid by the gateway's own OpenAPI document and by its list of tools."""
    success = site.document["paths"][f"/v1/{connector}/{tool}"]["post"]["responses"]["200"]
    schema = success["content"]["application/json"]["schema"]
    whole = {**schema, "components": site.document["components"]}
    # A name that is too long for clients is listed under a shorter one.
    for published in (whole, site.listed.get(f"{connector}_{tool}", {})):
        assert Validator(published).admits(result), (tool, result)


def check_request(expected: Mapping[str, Any], received: Received) -> None:
    assert received.line == expected["request"]
    for header, value in expected.get("headers", {}).items():
        assert received.headers.get(header) == value
    if "parts" in expected:
        assert received.body == multipart(expected["parts"], received.headers["content-type"])
    elif "body_base64" in expected:
        assert received.body == base64.b64decode(expected["body_base64"])
    else:
        assert received.body.decode() == expected.get("body", "")


def multipart(parts: Sequence[Sequence[str]], content_type: str) -> bytes:
    """The body with these parts, by the boundary in the content type."""
    boundary = content_type.removeprefix("multipart/form-data; boundary=").encode()
    written = []
    for lines in parts:
        *head, content = lines
        data = content.encode()
        if content.startswith("base64:"):
            data = base64.b64decode(content.removeprefix("base64:"))
        written.append(b"\r\n".join([b"--" + boundary, *(each.encode() for each in head), data]))
    return b"\r\n".join([*written, b"--" + boundary + b"--", b""])


def check_report(site: ImportSite, connector: str, case: Mapping[str, Any]) -> None:
    """The refused operations, notes, credentials, descriptions and links are those of the case."""
    outcome = site.imports[connector]
    report = outcome.report
    refused = [
        {"operation": e.operation, "rule": e.finding.rule, "pointer": e.finding.pointer}
        for e in report.refused
    ]
    assert refused == case.get("refused", [])
    assert report.operations == case.get("operations", report.operations)
    notes = {(each.rule, each.pointer) for each in report.notes}
    assert {(each["rule"], each["pointer"]) for each in case.get("notes", ())} <= notes
    if "credentials" in case:
        assert {each.slot: each.kind for each in report.credentials} == case["credentials"]
    described = {each.tool: each.description for each in outcome.connector.operations}
    assert case.get("descriptions", {}).items() <= described.items()
    links = {each.tool: each.links for each in outcome.connector.operations if each.links}
    assert case.get("links", {}) == {
        tool: {each.name: each.problem or each.target for each in found}
        for tool, found in links.items()
    }
