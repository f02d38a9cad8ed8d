"""The parts of `openapi.json` for jobs: the answer 202, and the paths of the jobs themselves."""

from typing import Any, Final

from gateway.authoring.codegen.ir import Contracts
from gateway.contract.operation import JOBS

_JOB: Final = {"$ref": "#/components/schemas/job"}
_PROBLEM: Final = {
    "description": "The request failed.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}},
}
_ID: Final = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "description": "The id of a job.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 64},
}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_STATUSES: Final = ["queued", "running", "input_required", "succeeded", "failed", "cancelled"]
_SCHEMA: Final[dict[str, Any]] = {
    "title": "Job",
    "description": "A call that goes on after its request has ended.",
    "type": "object",
    "required": ["id", "operation", "status", "created_at", "updated_at"],
    "properties": {
        "id": {"description": "The id of the job.", "type": "string"},
        "operation": {"description": "The operation that is called.", "type": "string"},
        "status": {
            "description": "queued and running go on. input_required waits for its client. The"
            " others are final.",
            "enum": _STATUSES,
        },
        "created_at": {"description": "When the call became a job.", **_MOMENT},
        "updated_at": {"description": "When the status changed.", **_MOMENT},
        "expires_at": {
            "description": "Until when an ended job is kept. Then it is answered with 410.",
            **_MOMENT,
        },
        "progress": {
            "description": "How far the call is, if it reports this.",
            "type": "object",
            "required": ["done", "message"],
            "properties": {
                "done": {"description": "A number that grows.", "type": "number"},
                "message": {"description": "What it counts.", "type": "string"},
            },
        },
        "input_requests": {
            "description": "The open questions by key, as MCP has them.",
            "type": "object",
        },
        "result": {
            "description": "The result of a job that succeeded, as the tool would answer it.",
            "type": "object",
        },
        "mocked": {
            "description": "The upstreams of the call for which a mock answered, while another one"
            " was live.",
            "type": "array",
            "items": {"type": "string"},
        },
        "left_out": {
            "description": "How many rows the result lacks, because they break the upstream's"
            " contract.",
            "type": "integer",
        },
        "problem": {
            "description": "Why the job failed, as the tool would answer it.",
            "$ref": "#/components/schemas/problem",
        },
    },
}


def job_paths(contracts: Contracts) -> dict[str, Any]:
    """The paths of jobs. None if no call becomes a job."""
    if not _has_jobs(contracts):
        return {}
    page = {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"description": "Newest first.", "type": "array", "items": _JOB},
            "next": {
                "description": "The parameter `after` of the next page. null on the last one.",
                "type": ["string", "null"],
            },
        },
    }
    cancelled = _operation("jobs.cancel", "Cancel a job", "Cancel a job that has not ended.", _JOB)
    shown = "Show one of your jobs, with its result or problem when it has ended."
    return {
        "/v1/jobs": {"get": _operation("jobs.list", "List jobs", "List your jobs.", page, _PAGE)},
        "/v1/jobs/{job_id}": {"get": _operation("jobs.show", "Show a job", shown, _JOB, [_ID])},
        "/v1/jobs/{job_id}/result": {"get": _RESULT},
        "/v1/jobs/{job_id}/events": {"get": _EVENTS},
        "/v1/jobs/{job_id}/cancel": {"post": cancelled | {"parameters": [_ID]}},
    }


def job_schemas(contracts: Contracts) -> dict[str, Any]:
    """The schema of jobs, by its name. None if no call becomes a job."""
    return {"job": _SCHEMA} if _has_jobs(contracts) else {}


def job_tags(contracts: Contracts) -> list[dict[str, str]]:
    """The tag of the paths of jobs. None if no call becomes a job."""
    text = "Calls that go on after their requests have ended."
    return [{"name": JOBS, "description": text}] if _has_jobs(contracts) else []


def with_accepted(operation: dict[str, Any]) -> dict[str, Any]:
    """The Operation Object of a call that may become a job."""
    location = {"description": "The path of the job.", "schema": {"type": "string"}}
    accepted = {
        "description": "The call goes on as a job.",
        "headers": {"Location": location},
        "content": {"application/json": {"schema": _JOB}},
    }
    return operation | {"responses": operation["responses"] | {"202": accepted}}


_RESULT: Final = {
    "operationId": "jobs.result",
    "tags": [JOBS],
    "summary": "Get the result of a job",
    "description": "Get what the tool would have answered. 409 until the job has ended.",
    "parameters": [_ID],
    "responses": {
        "200": {"description": "The result.", "content": {"application/json": {}}},
        "default": _PROBLEM,
    },
}
_EVENTS: Final = {
    "operationId": "jobs.events",
    "tags": [JOBS],
    "summary": "Follow a job",
    "description": "Get the job as an event `job` whenever it has changed, until it has ended.",
    "parameters": [_ID],
    "responses": {
        "200": {
            "description": "A stream of events.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        "default": _PROBLEM,
    },
}
_PAGE: Final = [
    {
        "name": "limit",
        "in": "query",
        "description": "The most jobs of the page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
    },
    {
        "name": "after",
        "in": "query",
        "description": "The id of the last job of the page before.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 64},
    },
]


def _operation(
    name: str, summary: str, description: str, schema: Any, parameters: list[Any] | None = None
) -> dict[str, Any]:
    ok = {"description": summary, "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": name,
        "tags": [JOBS],
        "summary": summary,
        "description": description,
        **({"parameters": parameters} if parameters else {}),
        "responses": {"200": ok, "default": _PROBLEM},
    }


def _has_jobs(contracts: Contracts) -> bool:
    imported = (each.policy.task for found in contracts.imported for each in found.operations)
    return any(mode != "never" for mode in (*(tool.task for tool in contracts.tools), *imported))
