"""What each vendor's documented errors mean: whose matter, whether repeatable, and the fix."""

import json
from typing import Any

import pytest

from gateway.calls.replies import ReplyReader
from gateway.contract.upstream import Reply
from gateway.errors import (
    GatewayError,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.unit import shipped
from tests.unit.tables import each_of


def google(status: int, message: str, word: str, reason: str = "", *details: Any) -> Any:
    """An error of a Google API. Newer ones have no `errors`."""
    facts: dict[str, Any] = {"code": status, "message": message, "status": word}
    if reason:
        facts["errors"] = [{"message": message, "domain": "global", "reason": reason}]
    if details:
        facts["details"] = list(details)
    return {"error": facts}


def detail(reason: str) -> dict[str, str]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}


def avinode(code: str) -> Any:
    return {"meta": {"errors": [{"title": "No.", "code": code}], "warnings": [], "infos": []}}


def amadeus(status: int, code: int | str) -> Any:
    return {"errors": [{"status": status, "code": code, "title": "NO", "detail": "No."}]}


def postgrest(code: str, message: str = "No.") -> Any:
    return {"code": code, "message": message, "details": None, "hint": None}


def ntfy(code: int) -> Any:
    return {"code": code, "http": code // 100, "error": "no", "link": "https://ntfy.sh/docs"}


LINK = {"@type": "type.googleapis.com/google.rpc.Help", "links": []}
DISABLED = google(
    403, "Gmail API has not been used", "PERMISSION_DENIED", "accessNotConfigured", LINK
)
SCOPES = "Request had insufficient authentication scopes."
PAGE = b"<!DOCTYPE html><title>404</title>"
NO_ROUTE = {"message": "no Route matched with those values"}


@each_of(
    ("upstream", "status", "body", "error", "says"),
    [
        ("gmail", 403, DISABLED, UpstreamNotSetUp, "Enable the Gmail API"),
        (
            "gmail",
            403,
            google(403, SCOPES, "P", "insufficientPermissions"),
            UpstreamNotSetUp,
            "grant the scopes",
        ),
        ("gmail", 403, google(403, "No.", "P", "domainPolicy"), UpstreamNotSetUp, "Workspace"),
        (
            "gmail",
            400,
            google(400, "Precondition", "P", "failedPrecondition"),
            UpstreamNotSetUp,
            "no mailbox",
        ),
        (
            "gmail",
            401,
            google(401, "Invalid Credentials", "UNAUTHENTICATED"),
            UpstreamRefusedCredentials,
            "credentials",
        ),
        (
            "gmail",
            403,
            google(403, "Slow", "P", "userRateLimitExceeded"),
            UpstreamRateLimited,
            "limits",
        ),
        (
            "gmail",
            404,
            google(404, "Requested entity was not found.", "NOT_FOUND"),
            UpstreamRejected,
            "404",
        ),
        ("gmail", 404, PAGE, UpstreamNotSetUp, "GATEWAY_GMAIL_BASE_URL"),
        (
            "sheets",
            403,
            google(403, "The caller does not have permission", "PERMISSION_DENIED"),
            UpstreamNotSetUp,
            "Share the spreadsheet",
        ),
        (
            "sheets",
            403,
            google(403, "Off", "PERMISSION_DENIED", "", LINK, detail("SERVICE_DISABLED")),
            UpstreamNotSetUp,
            "Enable the Google Sheets API",
        ),
        (
            "sheets",
            403,
            google(403, SCOPES, "PERMISSION_DENIED", "", detail("ACCESS_TOKEN_SCOPE_INSUFFICIENT")),
            UpstreamNotSetUp,
            "scope of spreadsheets",
        ),
        (
            "sheets",
            400,
            google(400, "This operation is not supported for this document", "FAILED_PRECONDITION"),
            UpstreamNotSetUp,
            "Excel",
        ),
        (
            "sheets",
            400,
            google(400, "Invalid value at 'x'", "INVALID_ARGUMENT"),
            UpstreamRejected,
            "INVALID_ARGUMENT",
        ),
        ("sheets", 404, PAGE, UpstreamNotSetUp, "GATEWAY_SHEETS_BASE_URL"),
        ("avinode", 401, avinode("NOT_AUTHORIZED"), UpstreamRefusedCredentials, "NOT_AUTHORIZED"),
        (
            "avinode",
            403,
            avinode("AUTHENTICATION_COMPANY_ACCESS"),
            UpstreamNotSetUp,
            "COMPANY_ACCESS",
        ),
        ("avinode", 404, avinode("NOT_FOUND"), UpstreamRejected, "NOT_FOUND"),
        ("avinode", 404, NO_ROUTE, UpstreamNotSetUp, "GATEWAY_AVINODE_BASE_URL"),
        ("avinode", 404, avinode("SOMETHING_ELSE"), UpstreamNotSetUp, "GATEWAY_AVINODE_BASE_URL"),
        ("avinode", 401, {"message": "Unauthorized"}, UpstreamNotSetUp, "GATEWAY_AVINODE_BASE_URL"),
        ("amadeus", 401, amadeus(401, 38190), UpstreamRefusedCredentials, "38190"),
        ("amadeus", 401, amadeus(401, "38191"), UpstreamRefusedCredentials, "38191"),
        ("amadeus", 403, amadeus(403, 38197), UpstreamNotSetUp, "Amadeus portal"),
        ("amadeus", 404, amadeus(404, 38196), UpstreamNotSetUp, "GATEWAY_AMADEUS_BASE_URL"),
        ("amadeus", 404, amadeus(404, 1797), UpstreamRejected, "1797"),
        ("amadeus", 429, amadeus(429, 38195), UpstreamRateLimited, "used up"),
        ("frankfurter", 404, {"message": "not found"}, UpstreamRejected, "404"),
        ("frankfurter", 404, NO_ROUTE, UpstreamNotSetUp, "GATEWAY_FRANKFURTER_BASE_URL"),
        ("frankfurter", 422, {"message": "bad currency pair"}, UpstreamRejected, "422"),
        (
            "weather",
            401,
            {"cod": 401, "message": "Invalid API key. Please see the FAQ."},
            UpstreamRefusedCredentials,
            "credentials",
        ),
        (
            "weather",
            401,
            {"cod": 401, "message": "This needs another subscription."},
            UpstreamNotSetUp,
            "does not permit",
        ),
        (
            "weather",
            404,
            {"cod": "404", "message": "Internal error"},
            UpstreamNotSetUp,
            "GATEWAY_WEATHER_BASE_URL",
        ),
        ("weather", 404, {"cod": "404", "message": "city not found"}, UpstreamRejected, "404"),
        ("ntfy", 401, ntfy(40101), UpstreamRefusedCredentials, "40101"),
        ("ntfy", 403, ntfy(40301), UpstreamNotSetUp, "GATEWAY_NTFY_TOKEN"),
        ("ntfy", 429, ntfy(42908), UpstreamRateLimited, "used up"),
        ("golf", 401, {"code": "invalid_token"}, UpstreamRefusedCredentials, "invalid_token"),
        ("golf", 403, {"code": "insufficient_scope"}, UpstreamNotSetUp, "scopes"),
        ("golf", 404, {"detail": "Not Found"}, UpstreamNotSetUp, "GATEWAY_GOLF_BASE_URL"),
        ("supabase", 401, postgrest("PGRST301"), UpstreamRefusedCredentials, "PGRST301"),
        (
            "supabase",
            401,
            {"message": "Invalid API key", "hint": "Double check"},
            UpstreamRefusedCredentials,
            "credentials",
        ),
        ("supabase", 404, postgrest("PGRST205"), UpstreamNotSetUp, "tables.sql"),
        ("supabase", 404, postgrest("PGRST202"), UpstreamNotSetUp, "functions.sql"),
        ("supabase", 400, postgrest("42703"), UpstreamNotSetUp, "other columns"),
        ("supabase", 403, postgrest("42501"), UpstreamNotSetUp, "Row-level security"),
        ("supabase", 404, postgrest("PGRST125"), UpstreamNotSetUp, "/rest/v1"),
        ("supabase", 404, NO_ROUTE, UpstreamNotSetUp, "GATEWAY_SUPABASE_BASE_URL"),
        ("supabase", 400, postgrest("23502"), UpstreamRejected, "23502"),
        ("supabase", 400, postgrest("23514"), UpstreamRejected, "23514"),
        ("supabase", 500, postgrest("57014"), UpstreamUnavailable, "57014"),
    ],
)
def test_a_documented_error_means_what_the_vendor_says(
    upstream: str, status: int, body: Any, error: type[GatewayError], says: str
) -> None:
    found = ReplyReader(shipped.upstream(upstream)).failure(reply(status, body))

    assert type(found) is error
    assert says in found.detail
    blames = "credentials" in found.detail and "refused" in found.detail
    assert blames is (error is UpstreamRefusedCredentials)


@pytest.mark.parametrize(
    ("status", "code", "may_have_happened"),
    [
        (500, "40001", False),
        (500, "40P01", False),
        (500, "57014", False),
        (503, "53300", False),
        (503, "PGRST002", False),
        (504, "PGRST003", False),
        (500, "57P01", True),
        (503, "08006", True),
    ],
)
def test_what_postgresql_rolled_back_has_not_happened(
    status: int, code: str, may_have_happened: bool
) -> None:
    found = ReplyReader(shipped.upstream("supabase")).failure(reply(status, postgrest(code)))

    assert isinstance(found, UpstreamUnavailable)
    assert found.is_retryable
    assert found.is_sent is may_have_happened


def reply(status: int, body: Any) -> Reply:
    is_page = isinstance(body, bytes)
    kind = "text/html" if is_page else "application/json"
    text = body if is_page else json.dumps(body).encode()
    return Reply(status=status, headers={"content-type": kind}, body=text)
