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
    Rule("tool-removed", "wire", "error", "Agents that call it get an error."),
    Rule("tool-added", "wire", "info", "Nobody calls it yet."),
    Rule("operation-removed", "wire", "error", "Requests to it are refused."),
    Rule("operation-added", "wire", "info", "Nobody calls it yet."),
    Rule("parameter-removed", "wire", "error", "Requests with it are refused or misunderstood."),
    Rule("parameter-style", "wire", "error", "The same value is written in another way."),
    Rule("body-added", "wire", "info", "Requests need not have it."),
    Rule("body-required", "wire", "error", "Requests without a body are refused."),
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
)
"""Those of `gateway.authoring.diff.compare`: what is proved, and what is there or is not."""

POLICY: Final = (
    # Names.
    Rule(
        "tool-renamed-without-alias",
        "wire",
        "error",
        "Agents and programs know the tool by its former name, and no alias answers to it.",
    ),
    Rule("tool-alias-removed", "wire", "error", "Calls by the alias get an error."),
    Rule("query-route-removed", "wire", "error", "GET requests of the tool get an error."),
    Rule("resource-removed", "wire", "error", "Clients that read the resource get an error."),
    Rule("prompt-removed", "wire", "error", "Clients that use the prompt get an error."),
    Rule("tag-removed", "api", "warning", "Grants and lists that select by the tag lose the tool."),
    # Texts.
    Rule("title-changed", "files", "info", "Clients show people another title."),
    Rule(
        "tool-description-changed",
        "files",
        "warning",
        "Models choose a tool by its description, so its text is reviewed like code.",
    ),
    Rule(
        "param-description-changed",
        "files",
        "warning",
        "Models fill an argument by its description, so its text is reviewed like code.",
    ),
    Rule("output-description-changed", "files", "info", "Models read results by these texts."),
    Rule("webhook-description-changed", "files", "info", "Senders read another text."),
    Rule("event-description-changed", "files", "info", "Subscribers read another text."),
    # Hints.
    Rule(
        "readonly-hint-dropped",
        "api",
        "error",
        "Hosts that call readers without asking their user ask now, or refuse.",
    ),
    Rule(
        "destructive-hint-added",
        "api",
        "error",
        "Hosts ask before each call, and may refuse a tool that was called freely.",
    ),
    Rule(
        "idempotent-hint-dropped",
        "api",
        "error",
        "A client that repeats a call after a failure may now do it twice.",
    ),
    Rule("open-world-hint-changed", "api", "warning", "Hosts trust results of outside otherwise."),
    Rule("hint-relaxed", "api", "info", "Hosts may call the tool with fewer questions."),
    Rule("effect-raised", "wire", "error", "Grants by effect no longer hold for the tool."),
    # What is called, and what is answered.
    Rule(
        "output-schema-removed",
        "api",
        "error",
        "Clients that read results by their schema have none to rely on.",
    ),
    Rule("output-schema-added", "api", "warning", "Results are now held to a schema."),
    Rule("result-form-changed", "wire", "error", "Results come in another media type or form."),
    Rule(
        "default-changed",
        "wire",
        "error",
        "A call that leaves the argument out now means something else.",
    ),
    Rule("error-type-added", "api", "warning", "Callers meet a failure that they do not know."),
    Rule("error-type-removed", "api", "info", "What callers do about the failure is not used."),
    Rule("error-status-changed", "wire", "error", "Callers know the failure by another status."),
    Rule(
        "client-requirement-added",
        "wire",
        "error",
        "Clients that do not declare it no longer see the tool.",
    ),
    Rule(
        "client-profile-violated",
        "api",
        "error",
        "A client in the table of profiles refuses the tool, or a list with it.",
    ),
    Rule(
        "tools-list-grew",
        "files",
        "warning",
        "Each session pays for the list with its context, before the first call.",
    ),
    # Who may call, how often and for how long.
    Rule(
        "escalation-changed",
        "wire",
        "error",
        "Calls with the argument need another grant, or write where they read.",
    ),
    Rule("agent-removed", "wire", "error", "Keys of the agent may call nothing."),
    Rule("agent-grant-added", "api", "warning", "The agent can do more: someone has to want that."),
    Rule("agent-grant-removed", "wire", "error", "Calls of the agent are refused."),
    Rule(
        "rate-limit-lowered",
        "wire",
        "warning",
        "Callers that kept the former limit are refused with 429.",
    ),
    Rule("timeout-lowered", "wire", "warning", "Calls that took as long as before are cut off."),
    Rule("task-mode-changed", "wire", "error", "Calls are answered by a job, or no longer are."),
    Rule("cache-changed", "api", "info", "Results are older or newer than callers are used to."),
    Rule(
        "cache-made-public",
        "api",
        "warning",
        "Caches outside may give one caller's result to another.",
    ),
    Rule("attempts-changed", "files", "info", "Failures reach callers sooner or later."),
    Rule(
        "idempotency-header-dropped",
        "api",
        "error",
        "A repeated request may be done twice by the upstream.",
    ),
    Rule(
        "sensitive-argument-exposed",
        "api",
        "error",
        "Logs and audit records may now contain an argument that they left out.",
    ),
    # What is behind it.
    Rule(
        "binding-operation-changed",
        "files",
        "warning",
        "Another operation answers, so the same arguments may do something else.",
    ),
    Rule("binding-changed", "files", "info", "Requests or results are mapped otherwise."),
    Rule("upstream-address-changed", "files", "warning", "Credentials go to another host."),
    Rule("credential-added", "api", "warning", "Operators have to set it before they update."),
    Rule("setting-added", "api", "warning", "Operators have to set it before they update."),
    Rule("scope-added", "api", "warning", "Owners of the accounts have to consent again."),
    # Webhooks and events.
    Rule(
        "webhook-signature-changed",
        "wire",
        "error",
        "Messages that senders sign as before are refused.",
    ),
    Rule(
        "webhook-dedupe-changed",
        "wire",
        "error",
        "Repeated messages are taken for new ones, or new ones for repeated ones.",
    ),
    Rule(
        "webhook-reading-changed",
        "wire",
        "error",
        "Messages in the form of before are read otherwise, or refused.",
    ),
    Rule("webhook-limit-lowered", "wire", "warning", "Larger or more frequent ones are refused."),
    Rule("webhook-effects-changed", "files", "info", "A message changes other rows or calls."),
    Rule("event-source-lost", "wire", "error", "A message that published the event does not."),
    Rule(
        "event-subject-changed",
        "wire",
        "error",
        "Subscribers order and filter events by their subject.",
    ),
    Rule(
        "event-changed-without-version",
        "wire",
        "warning",
        "Subscribers know the form of the data by the version in the type.",
    ),
)
"""Those of `gateway.authoring.diff.policies`: what no schema can prove, and a team may forbid."""

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in (*STRUCTURE, *POLICY)}
"""All rules by their id."""

_RUNGS: Final[tuple[Level, ...]] = ("wire", "api", "files")


def severity_at(rule: Rule, level: Level) -> Severity:
    """The severity of `rule` on one rung of the ladder."""
    return rule.severity if _RUNGS.index(rule.level) <= _RUNGS.index(level) else "info"
