"""The rules of upstreams and bindings."""

from typing import Final

from gateway.contracts.finding import Severity
from gateway.lint.rules.rule import Rule

_NOTE: Final = Severity.NOTE

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
    Rule(
        "binding/python-reference",
        "Functions have the form package.module:function.",
        "Correct the name.",
    ),
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
    Rule("binding/path-template", "Paths and path parameters match.", "Declare the parameter."),
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
