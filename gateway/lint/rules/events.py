"""The rules of webhooks, published events and entities."""

from typing import Final

from gateway.lint.rules.rule import Rule

WEBHOOKS: Final = (
    Rule("webhook/name", "operationId is <provider>.webhook.", "Correct the id, or the folder."),
    Rule(
        "webhook/payload-file",
        "The payload of an event is in <event>.payload.json, in lower case; other characters than"
        " letters and digits become `_`.",
        "Refer to that file, or rename the event.",
    ),
    Rule(
        "webhook/request-body",
        "The request body refers to the payload of each event once.",
        "Write `anyOf` with one reference per event.",
    ),
    Rule(
        "webhook/closed-payload",
        "Objects of payloads are open, because senders may add members.",
        "Remove additionalProperties and unevaluatedProperties.",
    ),
    Rule("webhook/unknown-profile", "Events name profiles of their file.", "Correct the name."),
    Rule("webhook/unused-profile", "An event names each profile.", "Name it in an event."),
    Rule(
        "webhook/message-id",
        "The payload always has a text or a whole number at the pointer of messageId.",
        "Require the text in the payload, or correct the pointer.",
    ),
    Rule(
        "webhook/event-type",
        "The payload always has a text at the pointer of eventType, which may be the event's type.",
        "Require it in the payload, as `const`.",
    ),
    Rule(
        "webhook/occurred-at",
        "The payload always has a date-time at the pointer of occurredAt.",
        "Require it in the payload, with `format: date-time`, or remove occurredAt.",
    ),
    Rule(
        "webhook/scheme",
        "`authentication` names a known signature scheme, has what it needs, and signs its time.",
        "Name one of the schemes, and add its members.",
    ),
    Rule(
        "webhook/sample",
        "A profile's sample is authentic; a signature with its own content or time has one.",
        "Copy a signed request from the sender's documentation, with the secret that signed it.",
    ),
    Rule(
        "webhook/challenge",
        "The challenges of two profiles differ in their method or in `when`.",
        "Put one of the senders on a path of its own: webhooks/<provider>/webhook.yaml.",
    ),
    Rule(
        "webhook/ignore",
        "A pattern of ignore is a regular expression, and matches no declared event.",
        "Correct the pattern, or remove the event.",
    ),
    Rule(
        "webhook/stored-credentials",
        "Headers that authenticate the sender are not stored.",
        "Remove the header from storedHeaders.",
    ),
    Rule(
        "webhook/setting-refused",
        "A setting's pattern is a regular expression that its default matches.",
        "Correct the pattern or the default.",
    ),
    Rule(
        "webhook/taken-setting",
        "A setting does not have a reserved name: allow, or <profile>_secrets.",
        "Rename it.",
    ),
    Rule("webhook/unknown-entity", "Effects name entities that exist.", "Correct the name."),
    Rule("webhook/unknown-event", "emits and derives name events that exist.", "Correct the name."),
    Rule("webhook/unknown-tool", "Notifications name tools that exist.", "Correct the name."),
    Rule(
        "webhook/fetch",
        "A fetch is a GET with a JSON reply.",
        "Name an operation that reads.",
    ),
)

EVENTS: Final = (
    Rule("event/name", "operationId is the event's type.", "Correct the id, or the file's name."),
    Rule(
        "event/schema-file",
        "The schema of an event is in the file of the same name.",
        "Refer to ./<entity>.<verb>.v<n>.json.",
    ),
    Rule(
        "event/envelope",
        "An event is a CloudEvent 1.0 in the structured JSON format, with all members required"
        " except `traceparent`.",
        "Write the members as the other events do.",
    ),
    Rule("event/no-example", "Every event has an example.", "Add an example."),
    Rule("event/example-refused", "Examples of events are valid.", "Correct the example."),
)

ENTITIES: Final = (
    Rule(
        "entity/unknown-column",
        "x-entity names columns of the entity.",
        "Correct the name, or declare the column.",
    ),
    Rule(
        "entity/two-owners",
        "A column has one owner (the webhook, agents or the gateway), and one rule writes it.",
        "Name the column once. Do not name a column of the key.",
    ),
    Rule(
        "entity/calls",
        "A row that a call reports has the key, and columns that messages or agents may set, from "
        "arguments and results that the tool declares.",
        "Correct the name of the tool, the column or the pointer.",
    ),
    Rule(
        "entity/inherits",
        "A column of agents inherits from the column of the same name of another entity.",
        "Name a column of `agent`, the kind that has it too, and the column with that row's id.",
    ),
    Rule(
        "entity/states",
        "The states of `next` are the values of the column's enum. The log is a read-only list "
        "whose items allow the values of all carried columns.",
        "Write one member of `next` for each value of the enum, and one member of the log items' "
        "`values` for each carried column.",
    ),
    Rule(
        "entity/retyped",
        "The type of a column and the key of an entity never change, because stored rows cannot be "
        "converted.",
        "Add a new property or a new entity, and keep the old one.",
    ),
    Rule(
        "entity/standard-column",
        "An entity declares the standard columns, read-only and required.",
        "Declare id, webhook_id (uuid), occurred_at, created_at and updated_at (date-time).",
    ),
    Rule(
        "entity/key",
        "Columns of the key are required texts or integers, and not standard columns.",
        "Require the column, without null.",
    ),
    Rule(
        "entity/filter",
        "Filters are columns of one scalar type.",
        "Correct the name, or remove it from the filters.",
    ),
    Rule(
        "entity/required-column",
        "Only the key and the standard columns are required, because messages arrive in any order.",
        "Allow null in the column, and remove it from `required`.",
    ),
    Rule(
        "entity/column",
        "A column has one type. It also allows null, unless it is a column of the key.",
        'Write `type: [string, "null"]`, or another type with null.',
    ),
    Rule(
        "entity/tool",
        "The arguments of a generated tool are columns with a `type` of their own, those of `get` "
        "with two examples, and the tool has its name alone.",
        "Write the column's `type` and `examples` in the entity.",
    ),
)
