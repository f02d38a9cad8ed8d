"""The rules of upstreams, bindings, webhooks, published events and entities."""

from typing import Final

from msgspec import Struct

from gateway.authoring.contracts.finding import Severity

# The record of a lint rule.


class Rule(Struct, frozen=True):
    """A rule that contracts must follow, and how to fix a violation."""

    id: str
    meaning: str
    """What is true for every contract that follows the rule, in one or two sentences."""
    fix: str
    severity: Severity = Severity.ERROR


# The rules of upstreams and bindings.

UPSTREAMS: Final = (
    Rule("upstream/name", "x-upstream.name is the name of the folder.", "Rename one of them."),
    Rule(
        "upstream/address",
        "No base URL has a link-local, metadata, multicast or unspecified address.",
        "Write the vendor's address, or null and let the operator set GATEWAY_<NAME>_BASE_URL.",
    ),
    Rule(
        "upstream/header",
        "No header belongs to the connection or a session (Host, Cookie and others).",
        "Use the header that the vendor documents for the credential.",
    ),
    Rule("upstream/duplicate-operation", "operationIds are unique.", "Rename one of them."),
    Rule("upstream/ambiguous-path", "A request matches only one path.", "Merge the paths."),
    Rule(
        "upstream/path-parameter",
        "Path templates and path parameters match, and path parameters are required.",
        "Declare the parameter with `required: true`, or correct the template.",
    ),
    Rule("upstream/duplicate-parameter", "A parameter is declared once.", "Remove one of them."),
    Rule(
        "upstream/no-reply-schema",
        "Every operation has a success reply: JSON with a schema, or a status without body.",
        "Add the reply's schema.",
    ),
    Rule("upstream/no-example", "Every success reply has an example.", "Add an example."),
    Rule(
        "upstream/example-refused", "Examples are valid under their schema.", "Correct the example."
    ),
    Rule(
        "upstream/unknown-credential",
        "Templates use declared credentials, and `security` names declared security schemes.",
        "Declare it.",
    ),
    Rule(
        "upstream/taken-setting",
        "The names of credentials, settings and those of security schemes are unique and not"
        " reserved.",
        "Rename it.",
    ),
    Rule(
        "upstream/setting-refused",
        "A setting's default and its value for the mock match its pattern.",
        "Correct the value or the pattern.",
    ),
    Rule(
        "upstream/token-unknown",
        "An upstream that uses {token} has x-upstream.tokens.",
        "Add x-upstream.tokens, or use a credential.",
    ),
    Rule(
        "upstream/token-unused",
        "An upstream with x-upstream.tokens uses {token} in a header.",
        'Write a header such as `{name: Authorization, template: "Bearer {token}"}`.',
    ),
    Rule(
        "upstream/token-credential",
        "Each grant has its credentials: client_id and client_secret (and refresh_token), or"
        " service_account_key of kind json.",
        "Declare the credential, with `required: false` where there are several ways.",
    ),
    Rule(
        "upstream/token-operation",
        "Tokens come from a POST operation of this contract with a form as its body.",
        "Describe the token endpoint as an operation.",
    ),
    Rule(
        "upstream/encoding",
        "`encoding` describes declared members of a form.",
        "Correct the name, or remove the entry.",
    ),
    Rule(
        "upstream/refusal-unreachable",
        "No refusal repeats a value of an earlier one with the same status and pointer.",
        "Remove one of the two values.",
    ),
    Rule(
        "upstream/refusal-pointer",
        "An error reply declares the member at the pointer of a refusal, or of errorsAt.",
        "Correct the pointer, or declare the member in the error's schema.",
    ),
    Rule(
        "upstream/rows",
        "x-rows points to a list that the success of the operation declares.",
        "Correct the pointer, or remove x-rows.",
    ),
    Rule(
        "upstream/idempotency-header",
        "x-idempotency-header names a header parameter of the operation.",
        "Declare the parameter.",
    ),
    Rule(
        "upstream/cached-write", "Only GET has x-cache-seconds or x-failure-seconds.", "Remove it."
    ),
    Rule("upstream/workspace", "A workspace has tables.", "Add x-upstream.tables."),
    Rule("upstream/table-file", "A table has its own file.", "Refer to ./tables/<name>.json."),
    Rule(
        "upstream/table-shape",
        "A row is a closed object of typed columns with the key `id`. x-table names an entity that"
        " has these columns.",
        "Write `additionalProperties: false`, a type for each column, and a required text `id`.",
    ),
)

BINDINGS: Final = (
    Rule("binding/unknown-upstream", "Bindings name an upstream that exists.", "Correct the name."),
    Rule(
        "binding/unknown-operation", "Bindings name operations of the upstream.", "Correct the id."
    ),
    Rule(
        "binding/field-map",
        "A binding to an operation of a contract has a field map. One to an operation of an import"
        " has none, and its errors are reasons for statuses of the caller's mistakes.",
        "Map the request and the response, or remove both.",
    ),
    Rule(
        "binding/unknown-handler",
        "The module that a contract names exists and defines the function itself.",
        "Correct the name, or write the function.",
    ),
    Rule(
        "binding/foreign-handler",
        "The module that a contract names is in a package of the setting `handler_packages`.",
        "Move the code into a connector package, or add its package to `handler_packages`.",
    ),
    Rule(
        "binding/unmarked-handler",
        "Code that contracts name is marked: @tool_handler, @mapping_function or mock_behaviours.",
        "Mark it if contracts may name it, or name other code.",
    ),
    Rule(
        "binding/handler-signature",
        "A handler is async, of the arguments, and with upstreams, asks or entities the context.",
        "Write `async def f(arguments)`, or `async def f(arguments, context)`.",
    ),
    Rule(
        "binding/error-code",
        "A binding with codes in `errors` has an upstream with x-upstream.softErrors.",
        "Declare x-upstream.softErrors, or use the status. For not_found, declare a refusal.",
    ),
    Rule(
        "binding/fallback-effect",
        "In a read, a fallback that is not a GET declares its effect, and a fallback that writes"
        " needs an escalation.",
        "Write `effect: read`, or `effect: write` and x-policy.escalation.",
    ),
    Rule(
        "binding/shape",
        "Every part of a field map has a known form.",
        "Write it as docs/reference/contract-format.md describes.",
    ),
    Rule("binding/expression", "Expressions are well-formed.", "Use one of the known forms."),
    Rule("binding/unknown-as", "`as` names a known conversion.", "Use a known conversion."),
    Rule(
        "binding/unknown-source",
        "Expressions refer to declared values.",
        "Correct the expression.",
    ),
    Rule("binding/unknown-entity", "References name entities that exist.", "Correct the name."),
    Rule(
        "binding/unknown-member",
        "The target schema declares every mapped member.",
        "Correct the name.",
    ),
    Rule(
        "binding/unknown-status",
        "The upstream declares every mapped status.",
        "Declare it in the upstream's contract.",
    ),
    Rule("binding/unknown-error", "Reasons are declared errors.", "Declare it in x-policy.errors."),
    Rule("binding/status-unmapped", "Every success status is mapped.", "Map the status."),
    Rule("binding/member-unmapped", "Every required member is mapped.", "Map the member."),
    Rule(
        "binding/unsupported-style",
        "Mapped parameters have a supported style.",
        "Use form in queries, simple in paths and headers.",
    ),
    Rule(
        "binding/optional-unhandled",
        "Every source that may be absent has a rule for absence.",
        "Write omitIfAbsent, default, when or onGap.",
    ),
    Rule(
        "binding/required-may-be-absent",
        "The value of a required member is never absent.",
        "Add a default.",
    ),
    Rule(
        "binding/absent-item",
        "The value of a list's item is never absent.",
        "Filter with when or where.",
    ),
    Rule("binding/skip-outside-each", "skip-item is used inside each.", "Use omit or error."),
    Rule("binding/gap-in-request", "onGap is used only for replies.", "Narrow the input schema."),
    Rule(
        "binding/const-not-admitted",
        "Fixed values are valid under the target schema.",
        "Correct the value.",
    ),
    Rule(
        "binding/never-admitted",
        "The target schema allows some value of the source.",
        "Convert or map it.",
    ),
    Rule("binding/map-unreachable", "Every entry of a map can occur.", "Remove the entry."),
    Rule("binding/where-unreachable", "Every value of where can occur.", "Remove the value."),
    Rule("binding/not-text", "Parameters are scalars.", "Send the value in the body."),
    Rule("binding/not-a-list", "each and count read lists.", "Read a list."),
    Rule("binding/unsendable", "Every argument can be sent.", "Narrow the input schema."),
    Rule(
        "binding/gap-without-ongap",
        "A value that the upstream may send and the output schema does not allow has an onGap.",
        "Write onGap, or widen the output schema.",
    ),
)


# The rules of webhooks, published events and entities.

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
