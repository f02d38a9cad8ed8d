"""The rules of `gateway diff`: what each change is called, how severe it is, and why."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.authoring.diff.changes import Level, Severity


class ChangeRule(Struct, frozen=True):
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
    ChangeRule("input-narrowed", "wire", "error", "A value that was accepted is refused now."),
    ChangeRule("input-widened", "wire", "info", "All that was accepted is accepted still."),
    ChangeRule(
        "output-widened", "wire", "error", "Readers get a value that was never sent before."
    ),
    ChangeRule("output-narrowed", "wire", "info", "All that is sent was allowed before."),
    ChangeRule(
        "input-required-added", "wire", "error", "Requests without the new member are refused."
    ),
    ChangeRule("output-required-lost", "wire", "error", "Readers may miss a member they rely on."),
    ChangeRule("output-member-lost", "wire", "error", "Readers may rely on the member's schema."),
    ChangeRule(
        "input-member-declared",
        "files",
        "error",
        "Only senders of members that were not declared are refused.",
    ),
    ChangeRule("schema-rewritten", "wire", "error", "Neither a proof nor a witness was found."),
    ChangeRule("tool-removed", "wire", "error", "Agents that call it get an error."),
    ChangeRule("tool-added", "wire", "info", "Nobody calls it yet."),
    ChangeRule("operation-removed", "wire", "error", "Requests to it are refused."),
    ChangeRule("operation-added", "wire", "info", "Nobody calls it yet."),
    ChangeRule(
        "server-removed",
        "files",
        "warning",
        "Callers may know this address of the API or its keys.",
    ),
    ChangeRule("server-added", "wire", "info", "Callers need not use the address."),
    ChangeRule(
        "parameter-removed", "wire", "error", "Requests with it are refused or misunderstood."
    ),
    ChangeRule("parameter-style", "wire", "error", "The same value is written in another way."),
    ChangeRule("body-added", "wire", "info", "Requests need not have it."),
    ChangeRule("body-required", "wire", "error", "Requests without a body are refused."),
    ChangeRule("body-removed", "wire", "error", "A body that was read is not read any more."),
    ChangeRule("request-type-removed", "wire", "error", "Requests of this media type are refused."),
    ChangeRule("request-type-added", "wire", "info", "Requests need not be of this media type."),
    ChangeRule(
        "reply-type-removed", "wire", "error", "Readers of this media type get another one."
    ),
    ChangeRule("reply-type-added", "wire", "info", "Only who asks for it gets it."),
    ChangeRule("success-removed", "wire", "error", "Readers wait for a status that never comes."),
    ChangeRule("status-narrowed", "wire", "info", "What is answered now was a part of it."),
    ChangeRule("success-added", "api", "warning", "Readers may not expect the status."),
    ChangeRule("failure-removed", "files", "warning", "Readers handle a status that never comes."),
    ChangeRule("failure-added", "files", "warning", "Readers may not expect the status."),
    ChangeRule("webhook-removed", "wire", "error", "Its messages are refused, or never come."),
    ChangeRule("webhook-added", "wire", "info", "Nobody needs it yet."),
    ChangeRule("event-removed", "wire", "error", "Subscribers wait for events that never come."),
    ChangeRule("event-added", "wire", "info", "Nobody is subscribed yet."),
    ChangeRule("callback-removed", "wire", "error", "Callers wait for messages that never come."),
    ChangeRule("callback-added", "wire", "info", "Nobody waits for it yet."),
    ChangeRule("security-narrowed", "wire", "error", "Credentials that were enough are refused."),
    ChangeRule("security-widened", "wire", "info", "Credentials that were enough still are."),
    ChangeRule(
        "input-default-changed",
        "wire",
        "warning",
        "Requests that leave the member out are valid still, and may mean something else.",
    ),
    ChangeRule(
        "output-default-changed",
        "api",
        "info",
        "Readers that fill in what is left out fill in something else.",
    ),
    ChangeRule("deprecated", "api", "warning", "It works as before, and callers should leave it."),
    ChangeRule("deprecation-withdrawn", "api", "info", "What should be left may stay in use."),
)
"""Those of `gateway.authoring.diff.compare`: what is proved, and what is there or is not."""

POLICY: Final = (
    # Names.
    ChangeRule(
        "tool-renamed-without-alias",
        "wire",
        "error",
        "Agents and programs know the tool by its former name, and no alias answers to it.",
    ),
    ChangeRule("tool-alias-removed", "wire", "error", "Calls by the alias get an error."),
    ChangeRule("query-route-removed", "wire", "error", "GET requests of the tool get an error."),
    ChangeRule("resource-removed", "wire", "error", "Clients that read the resource get an error."),
    ChangeRule("prompt-removed", "wire", "error", "Clients that use the prompt get an error."),
    ChangeRule(
        "tag-removed", "api", "warning", "Grants and lists that select by the tag lose the tool."
    ),
    # Texts.
    ChangeRule("title-changed", "files", "info", "Clients show people another title."),
    ChangeRule(
        "tool-description-changed",
        "files",
        "warning",
        "Models choose a tool by its description, so its text is reviewed like code.",
    ),
    ChangeRule(
        "param-description-changed",
        "files",
        "warning",
        "Models fill an argument by its description, so its text is reviewed like code.",
    ),
    ChangeRule(
        "output-description-changed", "files", "info", "Models read results by these texts."
    ),
    ChangeRule("webhook-description-changed", "files", "info", "Senders read another text."),
    ChangeRule("event-description-changed", "files", "info", "Subscribers read another text."),
    # Hints.
    ChangeRule(
        "readonly-hint-dropped",
        "api",
        "error",
        "Hosts that call readers without asking their user ask now, or refuse.",
    ),
    ChangeRule(
        "destructive-hint-added",
        "api",
        "error",
        "Hosts ask before each call, and may refuse a tool that was called freely.",
    ),
    ChangeRule(
        "idempotent-hint-dropped",
        "api",
        "error",
        "A client that repeats a call after a failure may now do it twice.",
    ),
    ChangeRule(
        "open-world-hint-changed", "api", "warning", "Hosts trust results of outside otherwise."
    ),
    ChangeRule("hint-relaxed", "api", "info", "Hosts may call the tool with fewer questions."),
    ChangeRule("effect-raised", "wire", "error", "Grants by effect no longer hold for the tool."),
    # What is called, and what is answered.
    ChangeRule(
        "output-schema-removed",
        "api",
        "error",
        "Clients that read results by their schema have none to rely on.",
    ),
    ChangeRule("output-schema-added", "api", "warning", "Results are now held to a schema."),
    ChangeRule(
        "result-form-changed", "wire", "error", "Results come in another media type or form."
    ),
    ChangeRule(
        "default-changed",
        "wire",
        "error",
        "A call that leaves the argument out now means something else.",
    ),
    ChangeRule(
        "sunset-earlier", "api", "error", "Callers were told that it works until a later day."
    ),
    ChangeRule(
        "error-type-added", "api", "warning", "Callers meet a failure that they do not know."
    ),
    ChangeRule(
        "error-type-removed", "api", "info", "What callers do about the failure is not used."
    ),
    ChangeRule(
        "error-status-changed", "wire", "error", "Callers know the failure by another status."
    ),
    ChangeRule(
        "client-requirement-added",
        "wire",
        "error",
        "Clients that do not declare it no longer see the tool.",
    ),
    ChangeRule(
        "client-profile-violated",
        "api",
        "error",
        "A client in the table of profiles refuses the tool, or a list with it.",
    ),
    ChangeRule(
        "tools-list-grew",
        "files",
        "warning",
        "Each session pays for the list with its context, before the first call.",
    ),
    # Who may call, how often and for how long.
    ChangeRule(
        "escalation-changed",
        "wire",
        "error",
        "Calls with the argument need another grant, or write where they read.",
    ),
    ChangeRule("agent-removed", "wire", "error", "Keys of the agent may call nothing."),
    ChangeRule(
        "agent-grant-added", "api", "warning", "The agent can do more: someone has to want that."
    ),
    ChangeRule("agent-grant-removed", "wire", "error", "Calls of the agent are refused."),
    ChangeRule(
        "rate-limit-lowered",
        "wire",
        "warning",
        "Callers that kept the former limit are refused with 429.",
    ),
    ChangeRule(
        "timeout-lowered", "wire", "warning", "Calls that took as long as before are cut off."
    ),
    ChangeRule(
        "task-mode-changed", "wire", "error", "Calls are answered by a job, or no longer are."
    ),
    ChangeRule(
        "cache-changed", "api", "info", "Results are older or newer than callers are used to."
    ),
    ChangeRule(
        "cache-made-public",
        "api",
        "warning",
        "Caches outside may give one caller's result to another.",
    ),
    ChangeRule("attempts-changed", "files", "info", "Failures reach callers sooner or later."),
    ChangeRule(
        "idempotency-header-dropped",
        "api",
        "error",
        "A repeated request may be done twice by the upstream.",
    ),
    ChangeRule(
        "sensitive-argument-exposed",
        "api",
        "error",
        "Logs and audit records may now contain an argument that they left out.",
    ),
    # What is behind it.
    ChangeRule(
        "binding-operation-changed",
        "files",
        "warning",
        "Another operation answers, so the same arguments may do something else.",
    ),
    ChangeRule("binding-changed", "files", "info", "Requests or results are mapped otherwise."),
    ChangeRule("upstream-address-changed", "files", "warning", "Credentials go to another host."),
    ChangeRule(
        "credential-added", "api", "warning", "Operators have to set it before they update."
    ),
    ChangeRule("setting-added", "api", "warning", "Operators have to set it before they update."),
    ChangeRule("scope-added", "api", "warning", "Owners of the accounts have to consent again."),
    # Webhooks and events.
    ChangeRule(
        "webhook-signature-changed",
        "wire",
        "error",
        "Messages that senders sign as before are refused.",
    ),
    ChangeRule(
        "webhook-dedupe-changed",
        "wire",
        "error",
        "Repeated messages are taken for new ones, or new ones for repeated ones.",
    ),
    ChangeRule(
        "webhook-reading-changed",
        "wire",
        "error",
        "Messages in the form of before are read otherwise, or refused.",
    ),
    ChangeRule(
        "webhook-limit-lowered", "wire", "warning", "Larger or more frequent ones are refused."
    ),
    ChangeRule(
        "webhook-effects-changed", "files", "info", "A message changes other rows or calls."
    ),
    ChangeRule(
        "event-source-lost", "wire", "error", "A message that published the event does not."
    ),
    ChangeRule(
        "event-subject-changed",
        "wire",
        "error",
        "Subscribers order and filter events by their subject.",
    ),
    ChangeRule(
        "event-changed-without-version",
        "wire",
        "warning",
        "Subscribers know the form of the data by the version in the type.",
    ),
)
"""Those of `gateway.authoring.diff.policies`: what no schema can prove, and a team may forbid."""

RULES: Final[Mapping[str, ChangeRule]] = {rule.id: rule for rule in (*STRUCTURE, *POLICY)}
"""All rules by their id."""

_RUNGS: Final[tuple[Level, ...]] = ("wire", "api", "files")


def severity_at(rule: ChangeRule, level: Level) -> Severity:
    """The severity of `rule` on one rung of the ladder."""
    return rule.severity if _RUNGS.index(rule.level) <= _RUNGS.index(level) else "info"
