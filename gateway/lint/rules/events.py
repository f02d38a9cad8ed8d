"""The rules of what arrives and what is published: webhooks, events, and the rows between them."""

from typing import Final

from gateway.lint.rules.rule import Rule

WEBHOOKS: Final = (
    Rule("webhook/name", "operationId is <provider>.webhook.", "Correct the id, or the folder."),
    Rule(
        "webhook/payload-file",
        "An event has the payload file <event>.payload.json beside it; `.` and `-` become `_`.",
        "Refer to that file.",
    ),
    Rule(
        "webhook/request-body",
        "The request body is any of the payloads, each of them once.",
        "Write `anyOf` with one reference per event.",
    ),
    Rule(
        "webhook/closed-payload",
        "Objects of payloads are open: senders add members without asking.",
        "Remove additionalProperties and unevaluatedProperties.",
    ),
    Rule("webhook/unknown-profile", "Events name profiles of their file.", "Correct the name."),
    Rule("webhook/unused-profile", "Every profile has an event.", "Name it in an event."),
    Rule(
        "webhook/message-id",
        "Where a message id is, the payload always has a text.",
        "Require the text in the payload, or correct the pointer.",
    ),
    Rule(
        "webhook/event-type",
        "Where an event type is, the payload always has a text, and it may be the event's.",
        "Require it in the payload, as `const`.",
    ),
    Rule(
        "webhook/occurred-at",
        "Where the time of an event is, the payload always has a date-time.",
        "Require it in the payload, with `format: date-time`, or leave occurredAt out.",
    ),
    Rule(
        "webhook/scheme",
        "A proof names a signature scheme of this gateway, with what that scheme reads.",
        "Name one of the schemes, and give it what it reads.",
    ),
    Rule(
        "webhook/kept-proof",
        "Headers that prove who sends are not kept.",
        "Remove the header from keepHeaders.",
    ),
    Rule(
        "webhook/setting-refused",
        "A setting's pattern is one, and admits its default.",
        "Correct the pattern or the default.",
    ),
    Rule(
        "webhook/taken-setting",
        "A setting is not called like one of the gateway's: allow, or <profile>_secrets.",
        "Rename it.",
    ),
    Rule("webhook/unknown-entity", "Effects write kinds of rows that exist.", "Correct the name."),
    Rule("webhook/unknown-event", "What is emitted or derived exists.", "Correct the name."),
    Rule("webhook/unknown-tool", "Notifications call tools that exist.", "Correct the name."),
    Rule(
        "webhook/fetch",
        "A fetch is a GET that answers JSON.",
        "Name an operation that reads.",
    ),
)

EVENTS: Final = (
    Rule("event/name", "operationId is the event's type.", "Correct the id, or the file's name."),
    Rule(
        "event/schema-file",
        "An event uses its own schema file, of the same name.",
        "Refer to ./<entity>.<verb>.v<n>.json.",
    ),
    Rule(
        "event/envelope",
        "An event is a CloudEvent 1.0 in the structured JSON format, every member required.",
        "Write the members as the other events do.",
    ),
    Rule("event/no-example", "Every event has an example.", "Add an example."),
    Rule("event/example-refused", "Examples of events are valid.", "Correct the example."),
)

ENTITIES: Final = (
    Rule(
        "entity/unknown-column",
        "x-entity names columns that the kind has.",
        "Correct the name, or declare the column.",
    ),
    Rule(
        "entity/two-owners",
        "A column has one owner: the webhook, agents or the gateway; and one rule writes it.",
        "Name the column once, and not one of the key.",
    ),
    Rule(
        "entity/states",
        "A state machine's states are those of its column, and its log is a read-only list that "
        "admits what the states carry.",
        "Let `next` have one member for each value of the column's enum, and the log's items one "
        "of `values` for each column that is carried.",
    ),
    Rule(
        "entity/retyped",
        "A column keeps its type, and a kind its key: rows that are there could not follow.",
        "Add a new property, or a new kind, and leave the old one.",
    ),
    Rule(
        "entity/standard-column",
        "A kind has the columns that every row has, read-only and required.",
        "Declare id, webhook_id (uuid), occurred_at, created_at and updated_at (date-time).",
    ),
    Rule(
        "entity/key",
        "Columns of the key are required texts or integers of the row's own.",
        "Require the column, without null.",
    ),
    Rule(
        "entity/filter",
        "Filters are columns with one scalar type.",
        "Correct the name, or remove it from the filters.",
    ),
    Rule(
        "entity/required-column",
        "Only the key and the standard columns are required: messages arrive in any order.",
        "Let the column be null, and take it out of `required`.",
    ),
    Rule(
        "entity/column",
        "A column has one type, and null unless it is of the key.",
        'Write `type: [string, "null"]`, or the like.',
    ),
)
