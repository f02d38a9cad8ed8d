"""The rules of policies: of agents, and of what tools declare for every caller."""

from typing import Final

from gateway.contract.operation import JOB_AFTER_SECONDS
from gateway.contracts.finding import Severity
from gateway.lint.rules.rule import Rule

_NOTE: Final = Severity.NOTE

POLICIES: Final = (
    Rule(
        "policy/administrator",
        "The policies have an agent `administrator`, which the first key belongs to.",
        'Add it, such as `administrator: {description: Operators., grants: ["*"]}`.',
    ),
    Rule(
        "policy/unknown-tool",
        "Grants name tools, tags and effects that exist.",
        "Correct or remove the grant.",
    ),
    Rule(
        "policy/grant",
        "A condition of a grant can be met, restricts something, and is about arguments that the"
        " tools have. No other grant of the agent makes it void.",
        "Correct the condition, or remove it.",
    ),
    Rule(
        "policy/optional-argument",
        "A call cannot leave out an argument that a condition of a grant is about.",
        "Add the argument to `required` of the condition.",
        _NOTE,
    ),
    Rule(
        "policy/unknown-profile",
        "An agent's client profile exists.",
        "Write one of the profiles in docs/reference/client-profiles.md, or remove it.",
    ),
    Rule(
        "policy/redundant",
        "No grant repeats what `*` or `<connector>.*` grants: these leave out what destroys.",
        "Remove the grant, or the one that includes it.",
        _NOTE,
    ),
    Rule(
        "policy/unused-error",
        "An HTTP binding uses every declared error.",
        "Use it as a reason under x-binding.errors, or remove it.",
        _NOTE,
    ),
    Rule(
        "policy/attempts",
        "A tool with attempts is a read, sends a GET, or sends an idempotency key.",
        "Remove attempts, or send the header that x-idempotency-header names.",
    ),
    Rule("policy/cached-write", "Only results of reads are cached.", "Remove the cache."),
    Rule(
        "policy/cached-call",
        "No cached result reads the facts of a call (`$call.…`).",
        "Remove it, or the cache.",
    ),
    Rule(
        "policy/stale",
        "Only a tool with an upstream has staleIfErrorSeconds.",
        "Remove it, or name the upstream in x-binding.",
    ),
    Rule(
        "policy/public-cache",
        "No tool with sensitive arguments has a public cache.",
        "Remove `scope: public`.",
    ),
    Rule(
        "policy/limits",
        "Each limit can be reached: no other limit of the tool or agent is always used up first.",
        "Correct the numbers, or remove the limit that is never reached.",
    ),
    Rule(
        "policy/budget",
        "The budget of an agent pays for at least one call of each tool that it is granted.",
        "Raise the budget, lower the cost of the tool, or remove the grant.",
    ),
    Rule(
        "policy/task",
        "A tool whose calls may become jobs has no cached results. With `auto`, it may take longer"
        f" than {JOB_AFTER_SECONDS:g} s.",
        "Remove the cache or `task`, or raise timeoutSeconds.",
    ),
    Rule(
        "policy/escalation",
        "Only a read has an escalation.",
        "Remove it, or write `effect: read`.",
    ),
    Rule(
        "policy/escalation-grant",
        "An escalation names a tool that writes or destroys.",
        "Name the tool whose grant the caller needs.",
    ),
    Rule(
        "policy/escalation-argument",
        "`when` names a boolean argument that is not true by default. `requires` names optional"
        " arguments.",
        "Correct the name, or the input schema.",
    ),
)
