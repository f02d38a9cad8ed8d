"""The rules of what clients are shown."""

from typing import Final

from gateway.contracts.finding import Severity
from gateway.lint.rules.rule import Rule

_NOTE: Final = Severity.NOTE

PUBLICATION: Final = (
    Rule(
        "publish/root",
        "Arguments and results are plain objects: `type: object`, no composition at the root.",
        "Write `type: object` and move composition into members.",
    ),
    Rule(
        "publish/anchor",
        "No schema has $anchor: references of contracts are JSON Pointers, and MCP clients do not"
        " know it.",
        "Remove it, or waive the rule for the tool with `x-mcp.waive`.",
    ),
    Rule(
        "publish/property-name",
        "Property names match ^[A-Za-z0-9_.-]{1,64}$, as MCP clients require.",
        "Rename the property.",
    ),
    Rule("publish/open-object", "Objects are closed.", "Add `additionalProperties: false`."),
    Rule("publish/undescribed", "Every property has a description.", "Describe it."),
    Rule("publish/untitled", "Every schema file has title and description.", "Add both."),
)

CLIENTS: Final = (
    Rule(
        "client/refused",
        "Every client in the table of profiles accepts the schemas that it is shown.",
        "Make the schema smaller, or leave the tool out.",
    ),
    Rule(
        "client/narrowed",
        "The schema that a client is shown admits everything that the contract admits.",
        "Report it: the profile is wrong. Until then, set `profile: source` for its agents.",
    ),
    Rule(
        "client/long-list",
        "No agent may call more tools than clients list.",
        "Grant fewer, or write `list: search` for the agent.",
        _NOTE,
    ),
)
