"""The rules of `gateway diff`: what each change is called, how severe it is, and why."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.authoring.diff.changes import Level, Severity


class Rule(Struct, frozen=True):
    """One kind of change."""

    id: str
    """Stable. Files of acknowledgements and settings name it."""
    level: Level
    """The first rung of the ladder, from `wire` up to `files`, on which it has its severity.

    Below it is information.
    """
    severity: Severity
    reason: str
    """Why it matters, or why it does not. One sentence."""


STRUCTURE: Final = (
    Rule("input-narrowed", "wire", "error", "A value that was accepted is refused now."),
    Rule("input-widened", "wire", "info", "All that was accepted is accepted still."),
    Rule("output-widened", "wire", "error", "Readers get a value that was never sent before."),
    Rule("output-narrowed", "wire", "info", "All that is sent was allowed before."),
    Rule("input-required-added", "wire", "error", "Requests without the new member are refused."),
    Rule("output-required-lost", "wire", "error", "Readers may miss a member they rely on."),
    Rule("output-member-lost", "wire", "error", "Readers may rely on the member's schema."),
    Rule(
        "input-member-declared",
        "files",
        "error",
        "Only senders of members that were not declared are refused.",
    ),
    Rule("schema-rewritten", "wire", "error", "Neither a proof nor a witness was found."),
    Rule("part-unreadable", "wire", "error", "What cannot be read cannot be compared."),
    Rule("tool-removed", "wire", "error", "Agents that call it get an error."),
    Rule("tool-added", "wire", "info", "Nobody calls it yet."),
    Rule("operation-removed", "wire", "error", "Requests to it are refused."),
    Rule("operation-added", "wire", "info", "Nobody calls it yet."),
    Rule("parameter-removed", "wire", "error", "Requests with it are refused or misunderstood."),
    Rule("parameter-added", "wire", "info", "Requests need not have it."),
    Rule("parameter-style", "wire", "error", "The same value is written in another way."),
    Rule("body-added", "wire", "info", "Requests need not have it."),
    Rule("body-removed", "wire", "error", "A body that was read is not read any more."),
    Rule("request-type-removed", "wire", "error", "Requests of this media type are refused."),
    Rule("request-type-added", "wire", "info", "Requests need not be of this media type."),
    Rule("reply-type-removed", "wire", "error", "Readers of this media type get another one."),
    Rule("reply-type-added", "wire", "info", "Only who asks for it gets it."),
    Rule("success-removed", "wire", "error", "Readers wait for a status that never comes."),
    Rule("success-added", "api", "warning", "Readers may not expect the status."),
    Rule("failure-removed", "files", "warning", "Readers handle a status that never comes."),
    Rule("failure-added", "files", "warning", "Readers may not expect the status."),
    Rule("webhook-removed", "wire", "error", "Its messages are refused, or never come."),
    Rule("webhook-added", "wire", "info", "Nobody needs it yet."),
    Rule("event-removed", "wire", "error", "Subscribers wait for events that never come."),
    Rule("event-added", "wire", "info", "Nobody is subscribed yet."),
    Rule("callback-removed", "wire", "error", "Callers wait for messages that never come."),
    Rule("callback-added", "wire", "info", "Nobody waits for it yet."),
    Rule("security-narrowed", "wire", "error", "Credentials that were enough are refused."),
    Rule("security-widened", "wire", "info", "Credentials that were enough still are."),
    Rule("file-moved", "files", "warning", "Who reads the file by its path does not find it."),
)
"""Those of `gateway.authoring.diff.compare`: what is proved, and what is there or is not."""

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in STRUCTURE}
"""All rules by their id."""

_RUNGS: Final[tuple[Level, ...]] = ("wire", "api", "files")


def severity_at(rule: Rule, level: Level) -> Severity:
    """The severity of `rule` on one rung of the ladder."""
    return rule.severity if _RUNGS.index(rule.level) <= _RUNGS.index(level) else "info"
