"""The rules of what calls do: policies, upstreams, and the bindings that join them."""

from typing import Final

from gateway.contracts.finding import Severity
from gateway.lint.rules.rule import Rule

_NOTE: Final = Severity.NOTE

POLICIES: Final = (
    Rule("policy/unknown-tool", "Grants name tools that exist.", "Correct or remove the grant."),
    Rule(
        "policy/redundant",
        "Beside `*` only tools that destroy are listed.",
        "Remove what `*` grants already, or `*`.",
        _NOTE,
    ),
    Rule(
        "policy/unused-error",
        "Every declared error of an HTTP binding is a reason of the binding.",
        "Give it to a status under x-binding.errors, or remove it.",
        _NOTE,
    ),
    Rule(
        "policy/attempts",
        "Attempts stand where a request may be sent again: a read, a GET, or a key in a header.",
        "Remove attempts, or send the header that x-idempotency-header names.",
    ),
    Rule("policy/cached-write", "Only results of reads are cached.", "Remove the cache."),
    Rule("policy/escalation", "Only a read escalates.", "Remove it, or write `effect: read`."),
    Rule(
        "policy/escalation-grant",
        "An escalation names a tool that writes or destroys.",
        "Name the tool whose grant the caller needs.",
    ),
    Rule(
        "policy/escalation-argument",
        "An escalation names arguments: a boolean that is false by default, and optional ones.",
        "Correct the name, or the input schema.",
    ),
)

UPSTREAMS: Final = (
    Rule("upstream/name", "x-upstream.name is the folder's name.", "Rename one of them."),
    Rule(
        "upstream/address",
        "A base URL leads to no link-local, metadata, multicast or unspecified address.",
        "Write the vendor's address, or null and let the operator set GATEWAY_<NAME>_BASE_URL.",
    ),
    Rule(
        "upstream/header",
        "Headers are the request's own, not the connection's (Host, Cookie and the like).",
        "Use the header that the vendor reads the credential from.",
    ),
    Rule("upstream/duplicate-operation", "operationIds are unique.", "Rename one of them."),
    Rule("upstream/ambiguous-path", "A request matches one path only.", "Merge the paths."),
    Rule(
        "upstream/path-parameter",
        "Path templates and required path parameters agree.",
        "Declare the parameter with `required: true`, or correct the template.",
    ),
    Rule("upstream/duplicate-parameter", "A parameter is declared once.", "Remove one of them."),
    Rule(
        "upstream/no-reply-schema",
        "Every operation has a success reply, as JSON with a schema or as 204.",
        "Add the reply's schema.",
    ),
    Rule("upstream/no-example", "Every success reply has an example.", "Add an example."),
    Rule(
        "upstream/example-refused", "Examples are valid under their schema.", "Correct the example."
    ),
    Rule("upstream/unknown-credential", "Templates use declared credentials.", "Declare it."),
    Rule(
        "upstream/taken-setting",
        "Credentials and settings have their own names.",
        "Rename it.",
    ),
    Rule(
        "upstream/setting-refused",
        "A setting's pattern admits its default and its value for the mock.",
        "Correct the value or the pattern.",
    ),
    Rule(
        "upstream/token-unknown",
        "Where {token} stands, x-upstream.tokens says how to get one.",
        "Write tokens, or use a credential.",
    ),
    Rule(
        "upstream/token-unused",
        "Tokens are fetched for a header.",
        'Write a header such as `{name: Authorization, template: "Bearer {token}"}`.',
    ),
    Rule(
        "upstream/token-credential",
        "Tokens need credentials: client_id and client_secret, refresh_token, or"
        " service_account_key of kind json.",
        "Declare the credential, with `required: false` where there are several ways.",
    ),
    Rule(
        "upstream/token-operation",
        "Tokens come from a POST operation of this contract that takes a form.",
        "Describe the token endpoint as an operation.",
    ),
    Rule(
        "upstream/refusal-unreachable",
        "Every value of a refusal can decide.",
        "Remove one of the two.",
    ),
    Rule(
        "upstream/refusal-pointer",
        "A refusal reads what an error reply declares.",
        "Correct the pointer, or declare the member in the error's schema.",
    ),
    Rule(
        "upstream/idempotency-header",
        "x-idempotency-header names a header parameter of the operation.",
        "Declare the parameter.",
    ),
    Rule(
        "upstream/cached-write", "x-cache-seconds and x-failure-seconds stand at GET.", "Remove it."
    ),
    Rule("upstream/workspace", "A workspace has tables.", "Add x-upstream.tables."),
    Rule("upstream/table-file", "A table has its own file.", "Refer to ./tables/<name>.json."),
    Rule(
        "upstream/table-shape",
        "A row is a closed object of typed columns, one of which is `id`, its key.",
        "Say `additionalProperties: false`, a type for each column, and a required text `id`.",
    ),
)

BINDINGS: Final = (
    Rule("binding/unknown-upstream", "Bindings name an upstream that exists.", "Correct it."),
    Rule("binding/unknown-operation", "Bindings name its operations.", "Correct the id."),
    Rule(
        "binding/unknown-handler",
        "Python that contracts name is defined in its module, beside schemas/ or installed.",
        "Correct the name, or write the function.",
    ),
    Rule(
        "binding/foreign-handler",
        "Python that contracts name lies in a connector package, which `handler_packages` names.",
        "Move the code into a connector package, or add its package to `handler_packages`.",
    ),
    Rule(
        "binding/unmarked-handler",
        "Named Python is marked: @tool_handler, @mapping_function or mock_behaviours.",
        "Mark it, if contracts may name it; else name another.",
    ),
    Rule(
        "binding/handler-signature",
        "A handler is async and takes its arguments, and the context if it names what it uses.",
        "Write `async def f(arguments)`; with upstreams or entities `f(arguments, context)`.",
    ),
    Rule(
        "binding/error-code",
        "Codes in errors are read where x-upstream.softErrors says that they stand.",
        "Declare x-upstream.softErrors, or use the status.",
    ),
    Rule(
        "binding/fallback-effect",
        "A fallback of a read that is no GET says what it does; one that writes is escalated to.",
        "Write `effect: read`, or `effect: write` and x-policy.escalation.",
    ),
    Rule(
        "binding/shape",
        "Every part of a field map can be read.",
        "Write it in the form of the contract format.",
    ),
    Rule("binding/expression", "Expressions are well-formed.", "Use one of the known forms."),
    Rule("binding/python-reference", "Functions are package.module:function.", "Correct it."),
    Rule("binding/unknown-as", "Values are converted to known types.", "Use a known conversion."),
    Rule(
        "binding/unknown-source",
        "Expressions refer to something that exists.",
        "Correct the expression.",
    ),
    Rule("binding/unknown-entity", "References name kinds of rows.", "Correct the name."),
    Rule("binding/unknown-member", "Mapped members exist on the other side.", "Correct the name."),
    Rule("binding/unknown-status", "Mapped statuses are declared upstream.", "Declare it there."),
    Rule("binding/unknown-error", "Reasons are declared errors.", "Declare it in x-policy.errors."),
    Rule("binding/status-unmapped", "Every success status is mapped.", "Map the status."),
    Rule("binding/member-unmapped", "Every required member is mapped.", "Map the member."),
    Rule("binding/path-template", "Paths and their parameters agree.", "Declare the parameter."),
    Rule("binding/unsupported-style", "Parameter styles can be written.", "Use form or simple."),
    Rule("binding/optional-unhandled", "Optional sources are handled.", "Say omitIfAbsent."),
    Rule("binding/required-may-be-absent", "Required members are always there.", "Add a default."),
    Rule("binding/absent-item", "Items of lists are always there.", "Filter with when or where."),
    Rule("binding/skip-outside-each", "skip-item stands inside each.", "Use omit or error."),
    Rule("binding/gap-in-request", "onGap stands in responses.", "Complete the map instead."),
    Rule(
        "binding/const-not-admitted",
        "Fixed values are allowed by the schema.",
        "Correct the value.",
    ),
    Rule(
        "binding/never-admitted",
        "The target schema allows some value of the source.",
        "Convert or map it.",
    ),
    Rule("binding/map-unreachable", "Every entry of a map can occur.", "Remove the entry."),
    Rule("binding/where-unreachable", "Every value of where can occur.", "Remove the value."),
    Rule("binding/not-text", "Parameters are scalars.", "Send it in the body."),
    Rule("binding/not-a-list", "each and count read lists.", "Read a list."),
    Rule("binding/unsendable", "Every argument can be sent.", "Narrow the input schema."),
    Rule(
        "binding/gap-without-ongap",
        "Values that the upstream may send and the output schema does not allow have an onGap.",
        "Say onGap, or widen the output schema.",
    ),
)
