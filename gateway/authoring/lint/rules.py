"""All rules, and the rules of files, references, schemas, the index and tools."""

from typing import Final

from gateway.authoring.contracts.finding import Severity
from gateway.authoring.lint.behaviour_rules import (
    BINDINGS,
    ENTITIES,
    EVENTS,
    UPSTREAMS,
    WEBHOOKS,
    Rule,
)
from gateway.contract.offered import LARGEST
from gateway.contract.operation import JOB_AFTER_SECONDS

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
        "Write one of the profiles that `gateway tools --help` names, or remove it.",
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


OFFERED: Final = (
    Rule(
        "resource/uri",
        "A URI is absolute (RFC 3986) and has no placeholders, and its scheme is not `gateway`. A"
        " URI template is of level 1 (RFC 6570), and each of its URIs has one reading.",
        "Write a URI such as `charter://terms`, or a template such as `charter://rfps/{rfp_id}`.",
    ),
    Rule(
        "resource/duplicate",
        "No URI is that of two resources, whatever values the variables of templates have.",
        "Change one of them.",
    ),
    Rule(
        "resource/variable",
        "The variables of a template are described, and a tool gets each of them.",
        "Describe the variable under `variables`, or remove it.",
    ),
    Rule(
        "resource/tool",
        "A resource comes from a tool that exists, has the effect read without an escalation,"
        " needs nothing of clients, makes no jobs, and answers with a JSON object. The media type"
        " is one of JSON.",
        "Name another tool, correct `mimeType`, or write a Python function.",
    ),
    Rule(
        "resource/argument",
        "A resource gives its tool the arguments that it requires and no unknown ones. Variables"
        " are for texts, numbers and booleans.",
        "Correct `arguments`.",
    ),
    Rule(
        "resource/handler",
        "Only resources with `uriTemplate` have variables, and files are not templates.",
        "Write `uri`, or take the contents from a tool or a function.",
    ),
    Rule(
        "resource/file",
        f"A file that is sent exists, has at most {LARGEST // 1024} KiB, and if its media type is a"
        " text, is UTF-8 without invisible characters. Each file is sent by a contract beside it.",
        "Correct the name or the file.",
    ),
    Rule(
        "prompt/placeholder",
        "Each placeholder is an argument or the id of a tool, and each argument has one.",
        "Declare the argument, correct the placeholder, or remove the argument.",
    ),
    Rule(
        "prompt/value",
        "The default of an argument is one of its values, and required arguments have none. Neither"
        " the default nor a value is longer than `maxLength`.",
        "Correct the value or `maxLength`, or remove it.",
    ),
    Rule(
        "offered/name",
        "A resource or prompt belongs to a connector that has tools, and its name on `/mcp` is"
        " unique among its kind.",
        "Put the file into the folder of a connector, or rename it.",
    ),
)


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


def _shape(name: str, subject: str) -> Rule:
    """The rule that `subject` is valid by the meta-schema `name`."""
    file = f"_meta/{name}.schema.json"
    return Rule(f"shape/{name}", f"{subject} is valid by {file}.", f"Correct it to match {file}.")


FILES: Final = (
    Rule("file/not-regular", "A contract is a regular file.", "Put the file itself here."),
    Rule("file/unreadable", "A contract is readable.", "Check the file's permissions."),
    Rule("file/too-large", "A contract is at most 1 MiB.", "Split the file."),
    Rule("file/encoding", "A contract is UTF-8 without a byte order mark.", "Save it as UTF-8."),
    Rule("file/unknown-kind", "Contracts are .yaml and .json files.", "Rename or move the file."),
    Rule("json/malformed", "JSON files hold one strict JSON value.", "Fix the JSON."),
    Rule("yaml/malformed", "YAML files are well-formed.", "Fix the YAML."),
    Rule("yaml/empty", "A YAML file holds a value.", "Write the contract or delete the file."),
    Rule("yaml/directive", "YAML files hold no % directives.", "Delete the line."),
    Rule("yaml/several-documents", "A YAML file holds one document.", "Split the file."),
    Rule("yaml/too-deep", "YAML nests at most 64 levels.", "Reduce the nesting."),
    Rule("yaml/key", "Names in YAML are text.", "Put the name in quotes."),
    Rule("yaml/merge-key", "YAML merge keys are not used.", "Copy the members."),
    Rule("yaml/duplicate-key", "A name occurs once in an object.", "Keep one of them."),
    Rule("yaml/ambiguous-scalar", "All YAML parsers read a plain scalar alike.", "Use quotes."),
    Rule("yaml/anchor", "YAML anchors and aliases are not used.", "Use $ref."),
    Rule("yaml/tag", "YAML tags are not used.", "Delete the tag."),
)

REFERENCES: Final = (
    Rule("ref/remote", "No $ref is a URL.", "Copy the schema to common/."),
    Rule("ref/absolute", "Every $ref is a relative path.", "Write it relative to this file."),
    Rule("ref/escapes", "No $ref leaves the schemas folder.", "Move the target into the folder."),
    Rule("ref/malformed", "A $ref is a path and a JSON Pointer.", "Write `file.json#/pointer`."),
    Rule("ref/dangling", "The target of a $ref exists.", "Correct the path or the pointer."),
    Rule(
        "ref/recursive",
        "No $ref leads back to itself for the same value.",
        "Let one of the references lead to a property or to items.",
    ),
    Rule(
        "ref/recursive-row",
        "No row of an entity or a table contains itself.",
        "Write each level as a separate schema: columns are stored one by one.",
    ),
    Rule(
        "ref/common-cycle",
        "Files of common/ do not refer to each other in a circle: their models cannot be imported.",
        "Move the definitions to one file.",
    ),
    Rule(
        "ref/same-name",
        "Schemas that one schema refers to have different published names.",
        "Rename one of the definitions, or its file.",
    ),
    Rule(
        "ref/sibling",
        "Beside $ref there are only annotations (title, description, default, …).",
        "Move the constraint into the target, or copy the target here.",
    ),
)

SCHEMAS: Final = (
    Rule(
        "contract/hidden-text",
        "Names and texts have no invisible characters and no terminal commands. Names and titles"
        " are one line.",
        "Delete the characters.",
    ),
    Rule(
        "contract/number-too-large",
        "Numbers have at most 64 bits. Lengths and counts have at most 31 bits.",
        "Write a smaller number, or remove the limit.",
    ),
    Rule("schema/pattern-too-long", "A pattern has at most 2,000 characters.", "Shorten it."),
    Rule(
        "schema/too-large",
        "A contract with all its references has at most 10,000 objects.",
        "Use fewer nested references.",
    ),
    Rule("schema/too-deep", "A contract nests at most 32 objects.", "Reduce the nesting."),
    Rule("schema/too-many-definitions", "$defs holds at most 1,000 schemas.", "Split the file."),
    Rule("schema/dialect", "$schema is JSON Schema 2020-12.", "Name the 2020-12 dialect."),
    Rule("schema/invalid", "Every schema is valid JSON Schema 2020-12.", "Fix the keyword."),
    Rule("schema/unknown-keyword", "Every keyword is known.", "Correct or remove the keyword."),
    Rule(
        "schema/red-keyword",
        "Only keywords that all tools support are used.",
        "Use another keyword.",
    ),
    Rule(
        "schema/amber-keyword",
        "The keyword is checked at run time. The generated models do not contain it.",
        "No change is needed.",
        _NOTE,
    ),
    Rule("schema/unknown-format", "Every format is known.", "Use a known format or a pattern."),
    Rule(
        "schema/fractional-multiple-of",
        "multipleOf is an integer, because binary floating point cannot represent most fractions.",
        "Use decimal text with a pattern.",
    ),
    Rule(
        "schema/pattern-invalid",
        "Every pattern can be matched in linear time.",
        "Rewrite the pattern.",
    ),
    Rule(
        "schema/pattern-unportable",
        "Every pattern means the same in Python, Rust and ECMAScript.",
        "Write a character class such as [0-9].",
    ),
    Rule(
        "schema/required-undeclared",
        "A closed object declares every property that it requires.",
        "Declare the property, or correct the name.",
    ),
    Rule("schema/unsatisfiable", "Every schema allows some value.", "Fix the contradiction."),
    Rule("schema/default-refused", "A default is valid under its schema.", "Correct the default."),
    Rule(
        "schema/example-refused", "Examples are valid under their schema.", "Correct the example."
    ),
    Rule(
        "schema/enum-refused",
        "The values of enum and const are valid under their schema.",
        "Remove the value.",
    ),
    Rule("schema/sensitive-mark", "x-sensitive is a boolean.", "Write true or false."),
    Rule(
        "schema/header-parameter",
        "x-mcp-header names the header of an argument at the root: a string, integer or boolean.",
        "Write a name that no other argument has, or remove the keyword.",
    ),
    Rule("schema/unbounded-unique", "A list with uniqueItems has maxItems.", "Add maxItems."),
)

INDEX: Final = (
    Rule("index/missing", "openapi.yaml and policies/agents.yaml exist.", "Write the file."),
    Rule("index/misplaced", "Every file is in the folder of its kind.", "Move or rename it."),
    Rule("index/unlisted", "The index lists every contract.", "Add it to the index."),
    Rule(
        "index/wrong-path",
        "The index lists tools, webhooks and events under the names of their files.",
        "Correct the name.",
    ),
    Rule("index/wrong-file", "The index lists files of the right kind.", "Correct the path."),
    Rule("index/unreferenced", "Every file is used.", "Refer to the file or delete it."),
)

SHAPES: Final = (
    _shape("index", "The index"),
    _shape("tool", "A tool file"),
    _shape("x-mcp", "x-mcp"),
    _shape("x-policy", "x-policy"),
    _shape("x-binding", "x-binding"),
    _shape("upstream", "An upstream file"),
    _shape("webhook", "A webhook file"),
    _shape("x-webhook", "x-webhook"),
    _shape("event", "An event file"),
    _shape("entity", "An entity file"),
    _shape("x-entity", "x-entity"),
    _shape("resource", "A resource file"),
    _shape("prompt", "A prompt file"),
    _shape("policies", "The policy file"),
    _shape("workflow", "A workflow file"),
    Rule(
        "meta/stale",
        "schemas/_meta, and schemas/common/content.json if there is one, are those of this version"
        " of the gateway.",
        "Run `python -m gateway.authoring.contracts.meta schemas`.",
    ),
)

TOOLS: Final = (
    Rule(
        "tool/name",
        "No connector or tool is a Python keyword, and no connector is named jobs.",
        "Rename the file.",
    ),
    Rule("tool/operation-id", "operationId is <connector>.<tool>.", "Correct the id."),
    Rule("tool/schema-file", "A tool uses its own schema files.", "Refer to <tool>.input.json."),
    Rule("tool/tag", "A tool's tags include its connector.", "Add the connector."),
    Rule("tool/unknown-tag", "The index describes every tag.", "Add the tag to the index."),
    Rule("tool/summary", "A summary begins with a capital and has no full stop.", "Reword it."),
    Rule(
        "tool/description",
        "A description begins with a verb in the imperative and ends with a full stop.",
        "Begin with what the tool does: `Find …`, `Create …`.",
    ),
    Rule("tool/mcp-name", "x-mcp.name is <connector>_<tool>.", "Correct the name."),
    Rule(
        "tool/name-collision",
        "MCP names and aliases are unique, and no names of the gateway's own tools.",
        "Rename one of them.",
    ),
    Rule(
        "tool/deprecation",
        "A deprecated tool names another tool as its successor, and ends after it is deprecated.",
        "Name a tool that is there, or a later day.",
    ),
    Rule(
        "tool/replaces",
        "x-replaces names tools that are gone, each in one contract.",
        "Remove the id.",
    ),
    Rule("tool/annotations", "The hints match x-policy.effect.", "Correct the hint."),
    Rule(
        "tool/query",
        "A tool with x-query is a read whose arguments are scalars.",
        "Remove x-query, or the argument that is an array or an object.",
    ),
    Rule(
        "tool/too-few-examples",
        "A tool has two examples of arguments and one of a result.",
        "Add an example.",
    ),
    Rule(
        "tool/requires",
        "A tool that requires tasks has x-policy.task required. Its binding asks what it requires."
        " If its calls are jobs and it requires answers, it requires tasks.",
        "Write `task: required`, name the kind in x-binding.asks, add `tasks`, or remove the"
        " requirement.",
    ),
    Rule(
        "tool/asks",
        "Results of a handler that asks its client are not cached.",
        "Remove x-policy.cache or x-binding.asks.",
    ),
    Rule(
        "tool/waiver",
        "Each waiver of a tool waives a finding in a file of this tool.",
        "Remove the waiver.",
    ),
    Rule(
        "tool/plain-text",
        "A result that is served as text/plain is a closed object with one required string.",
        "Keep only that member, require it, and write `additionalProperties: false`.",
    ),
    Rule(
        "tool/file",
        "A result that is a file is made by a Python handler. Its schema has `content_type` (an"
        " enum of exactly the declared media types), `size` (with a maximum) and `data`.",
        "Write the schema as docs/call/results.md shows.",
    ),
    Rule(
        "tool/blocks",
        "A result of content blocks is a closed object with one required list `content`, of blocks"
        " of common/content.json as the gateway ships it.",
        'Write `"content": {"$ref": "../../common/content.json#/$defs/Blocks"}` in its schema.',
    ),
    Rule("tool/example-refused", "Examples of arguments are valid.", "Correct the example."),
    Rule("tool/result-refused", "Examples of results are valid.", "Correct the example."),
    Rule(
        "tool/personal-argument",
        "An argument that identifies a person or is secret says whether it is sensitive.",
        "Write `x-sensitive: true` to keep it out of the audit, or `x-sensitive: false`.",
        _NOTE,
    ),
)

VERSIONS: Final = (
    Rule(
        "version/bump-missing",
        "The version of a contract changes with its facets, which `contracts.lock` has hashes of.",
        "Run `gateway release --write`, or write the version in contracts.lock and run it then.",
    ),
    Rule(
        "version/bump-too-small",
        "A version is raised as far as the change needs: a breaking one is major, an addition is"
        " minor.",
        "Run `gateway release --write`, or take the change back.",
    ),
    Rule(
        "version/entry-missing",
        "Each tool, webhook and event has an entry in `contracts.lock`, if the file is there.",
        "Run `gateway release --write`.",
    ),
    Rule(
        "version/entry-unknown",
        "Each entry of `contracts.lock` is that of a tool, webhook or event.",
        "Restore the contract, or run `gateway release --write` to take the entry out.",
    ),
    Rule(
        "version/lock-edited",
        "Hashes in `contracts.lock` are those of the contract, or those of the last release.",
        "Run `gateway release --write`, which writes the hashes.",
    ),
    Rule(
        "version/lock-damaged",
        "`contracts.lock` is as `gateway release --write` writes it, without marks of a conflict.",
        "Keep one side of the conflict, or restore the file from version control; then run"
        " `gateway release --write`.",
    ),
)
"""Rules of `contracts.lock`. A project without the file keeps them all."""

WORKFLOWS: Final = (
    Rule(
        "workflow/name",
        "Each workflow has a name of its own, and each of its steps, too.",
        "Rename one of them.",
    ),
    Rule(
        "workflow/operation",
        "A step calls a tool by its operationId, or by the path that the gateway serves. Of headers"
        " it sends only Idempotency-Key, which MCP has too.",
        "Correct the name.",
    ),
    Rule(
        "workflow/argument",
        "A step gives a tool arguments that it has, and all that it needs.",
        "Correct the name, or add the argument.",
    ),
    Rule(
        "workflow/input",
        "Each input of a workflow has a default or an example, which its schema allows: the suite"
        " has no others.",
        "Give each input a default or examples.",
    ),
    Rule(
        "workflow/expression",
        "Each expression is one that a workflow can use at its place.",
        "Write $inputs.name, $steps.id.outputs.name or, in a step's criteria and outputs,"
        " $response.body#/pointer or $statusCode.",
    ),
    Rule(
        "workflow/condition",
        "Each condition can be read, and reads something of the run.",
        "Write a simple condition, or give it a type (regex, jsonpath) and a context.",
    ),
    Rule(
        "workflow/unknown-step",
        "The steps, outputs and workflows that are named exist, and no workflow waits for itself.",
        "Correct the name.",
    ),
)

RULES: Final = (
    *FILES,
    *REFERENCES,
    *SCHEMAS,
    *PUBLICATION,
    *CLIENTS,
    *INDEX,
    *SHAPES,
    *TOOLS,
    *POLICIES,
    *UPSTREAMS,
    *BINDINGS,
    *WEBHOOKS,
    *EVENTS,
    *ENTITIES,
    *OFFERED,
    *VERSIONS,
    *WORKFLOWS,
)
BY_ID: Final = {rule.id: rule for rule in RULES}
