"""All rules, and the rules of files, references, schemas, the index and tools."""

from typing import Final

from gateway.contracts.finding import Severity
from gateway.lint.rules.events import ENTITIES, EVENTS, WEBHOOKS
from gateway.lint.rules.offered import OFFERED
from gateway.lint.rules.policies import POLICIES
from gateway.lint.rules.publishing import CLIENTS, PUBLICATION
from gateway.lint.rules.rule import Rule
from gateway.lint.rules.runs import BINDINGS, UPSTREAMS

_NOTE: Final = Severity.NOTE


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
    Rule(
        "meta/stale",
        "schemas/_meta, and schemas/common/content.json if there is one, are those of this version"
        " of the gateway.",
        "Run `python -m gateway.contracts.meta schemas`.",
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
        "Write the schema as docs/how-to/return-images-and-files.md shows.",
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
)
BY_ID: Final = {rule.id: rule for rule in RULES}
