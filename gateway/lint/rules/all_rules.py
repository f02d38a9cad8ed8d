"""Every rule by id: its severity, its meaning, and how to fix a violation."""

from typing import Final

from gateway.contracts.finding import Severity
from gateway.lint.rules.events import ENTITIES, EVENTS, WEBHOOKS
from gateway.lint.rules.rule import Rule
from gateway.lint.rules.runs import BINDINGS, POLICIES, UPSTREAMS

_NOTE: Final = Severity.NOTE

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
    Rule("yaml/too-deep", "YAML nests at most 64 levels.", "Flatten it."),
    Rule("yaml/key", "Names in YAML are text.", "Put the name in quotes."),
    Rule("yaml/merge-key", "YAML merge keys are not used.", "Write the members out."),
    Rule("yaml/duplicate-key", "A name occurs once in an object.", "Keep one of them."),
    Rule("yaml/ambiguous-scalar", "Plain scalars mean the same to all readers.", "Use quotes."),
    Rule("yaml/anchor", "YAML anchors and aliases are not used.", "Use $ref."),
    Rule("yaml/tag", "YAML tags are not used.", "Delete the tag."),
)

REFERENCES: Final = (
    Rule("ref/remote", "No $ref leads to a URL.", "Copy the schema under common/."),
    Rule("ref/absolute", "Every $ref is a relative path.", "Write it relative to this file."),
    Rule("ref/escapes", "No $ref leads out of the schemas folder.", "Move the target inside."),
    Rule("ref/malformed", "A $ref is a path and a JSON Pointer.", "Write `file.json#/pointer`."),
    Rule("ref/dangling", "What a $ref names exists.", "Correct the path or the pointer."),
    Rule("ref/recursive", "No $ref leads back to itself.", "Write the levels out."),
    Rule(
        "ref/sibling",
        "Beside $ref stand only words for people (title, description, default, …).",
        "Move the constraint into the target, or copy the target here.",
    ),
)

SCHEMAS: Final = (
    Rule(
        "contract/hidden-text",
        "Names and texts hold no characters that nobody sees or that command a terminal; names and"
        " titles are one line.",
        "Delete the characters.",
    ),
    Rule(
        "contract/number-too-large",
        "Numbers fit in 64 bits, and lengths and counts in 31.",
        "Write a limit that can be reached, or none.",
    ),
    Rule("schema/pattern-too-long", "A pattern has at most 2,000 characters.", "Shorten it."),
    Rule("schema/too-large", "A contract expands to at most 10,000 objects.", "Share less."),
    Rule("schema/too-deep", "A contract nests at most 32 objects.", "Flatten the shape."),
    Rule("schema/too-many-definitions", "$defs holds at most 1,000 schemas.", "Split the file."),
    Rule("schema/dialect", "$schema is JSON Schema 2020-12.", "Name the 2020-12 dialect."),
    Rule("schema/invalid", "Every schema is valid JSON Schema 2020-12.", "Fix the keyword."),
    Rule("schema/unknown-keyword", "Every keyword is known.", "Correct or remove the keyword."),
    Rule(
        "schema/red-keyword",
        "Only keywords that work everywhere are used.",
        "Say the same with another keyword.",
    ),
    Rule(
        "schema/amber-keyword",
        "This is checked at run time, and the generated models do not show it.",
        "Nothing has to change.",
        _NOTE,
    ),
    Rule("schema/unknown-format", "Every format is known.", "Use a known format or a pattern."),
    Rule(
        "schema/fractional-multiple-of",
        "multipleOf is an integer: fractions do not survive binary floating point.",
        "Use decimal text with a pattern.",
    ),
    Rule(
        "schema/pattern-invalid",
        "Every pattern compiles to an automaton of linear time.",
        "Rewrite the pattern.",
    ),
    Rule(
        "schema/pattern-unportable",
        "Every pattern means the same in Python, Rust and ECMAScript.",
        "Write the characters out as a class such as [0-9].",
    ),
    Rule(
        "schema/required-undeclared",
        "What a closed object requires is among its properties.",
        "Declare the property, or correct the name.",
    ),
    Rule("schema/unsatisfiable", "Every schema allows some value.", "Fix the contradiction."),
    Rule("schema/default-refused", "A default is valid under its schema.", "Correct the default."),
    Rule(
        "schema/example-refused", "Examples are valid under their schema.", "Correct the example."
    ),
    Rule(
        "schema/enum-refused",
        "Members of enum and const are allowed by their schema.",
        "Remove the member.",
    ),
    Rule("schema/unbounded-unique", "uniqueItems stands with maxItems.", "Add maxItems."),
)

PUBLICATION: Final = (
    Rule(
        "publish/root",
        "Arguments and results are plain objects: `type: object`, no composition at the root.",
        "Write `type: object` and move composition into members.",
    ),
    Rule(
        "publish/property-name",
        "Property names match ^[A-Za-z0-9_.-]{1,64}$, as MCP clients demand.",
        "Rename the property.",
    ),
    Rule("publish/open-object", "Objects are closed.", "Add `additionalProperties: false`."),
    Rule("publish/undescribed", "Every property has a description.", "Describe it."),
    Rule("publish/untitled", "Every schema file has title and description.", "Add both."),
)

INDEX: Final = (
    Rule("index/missing", "openapi.yaml and policies/agents.yaml exist.", "Write the file."),
    Rule("index/misplaced", "Every file is in the folder of its kind.", "Move or rename it."),
    Rule("index/unlisted", "The index names every contract.", "List it."),
    Rule(
        "index/wrong-path",
        "A tool, a webhook and an event are listed under the names that their files give them.",
        "Correct the name.",
    ),
    Rule("index/wrong-file", "The index names files of the right kind.", "Correct the path."),
    Rule("index/unreferenced", "Every file is used.", "Refer to the file or delete it."),
)

SHAPES: Final = (
    Rule(
        "shape/index",
        "The index keeps index.schema.json.",
        "Write it as _meta/index.schema.json says.",
    ),
    Rule(
        "shape/tool",
        "A tool file keeps tool.schema.json.",
        "Write it as _meta/tool.schema.json says.",
    ),
    Rule(
        "shape/x-mcp", "x-mcp keeps x-mcp.schema.json.", "Write it as _meta/x-mcp.schema.json says."
    ),
    Rule(
        "shape/x-policy",
        "x-policy keeps x-policy.schema.json.",
        "Write it as _meta/x-policy.schema.json says.",
    ),
    Rule(
        "shape/x-binding",
        "x-binding keeps x-binding.schema.json.",
        "Write it as _meta/x-binding.schema.json says.",
    ),
    Rule(
        "shape/upstream",
        "An upstream keeps upstream.schema.json.",
        "Write it as _meta/upstream.schema.json says.",
    ),
    Rule(
        "shape/webhook",
        "A webhook file keeps webhook.schema.json.",
        "Write it as _meta/webhook.schema.json says.",
    ),
    Rule(
        "shape/x-webhook",
        "x-webhook keeps x-webhook.schema.json.",
        "Write it as _meta/x-webhook.schema.json says.",
    ),
    Rule(
        "shape/event",
        "An event file keeps event.schema.json.",
        "Write it as _meta/event.schema.json says.",
    ),
    Rule(
        "shape/entity",
        "An entity keeps entity.schema.json.",
        "Write it as _meta/entity.schema.json says.",
    ),
    Rule(
        "shape/x-entity",
        "x-entity keeps x-entity.schema.json.",
        "Write it as _meta/x-entity.schema.json says.",
    ),
    Rule(
        "shape/policies",
        "Policies keep policies.schema.json.",
        "Write it as _meta/policies.schema.json says.",
    ),
    Rule(
        "meta/stale",
        "schemas/_meta holds the meta-schemas of this version of the gateway.",
        "Run `python -m gateway.contracts.meta schemas`.",
    ),
)

TOOLS: Final = (
    Rule("tool/name", "Connector and tool are Python module names.", "Rename the file."),
    Rule("tool/operation-id", "operationId is <connector>.<tool>.", "Correct the id."),
    Rule("tool/schema-file", "A tool uses its own schema files.", "Refer to <tool>.input.json."),
    Rule("tool/tag", "A tool's tags include its connector.", "Add the connector."),
    Rule("tool/unknown-tag", "The index describes every tag.", "Add the tag to the index."),
    Rule("tool/summary", "A summary begins with a capital, without full stop.", "Reword it."),
    Rule(
        "tool/description",
        "A description begins with a verb in the imperative and ends with a full stop.",
        "Begin with what the tool does: `Find …`, `Create …`.",
    ),
    Rule("tool/mcp-name", "x-mcp.name is <connector>_<tool>.", "Correct the name."),
    Rule("tool/name-collision", "MCP names and aliases are unique.", "Rename one of them."),
    Rule("tool/annotations", "The hints agree with x-policy.effect.", "Correct the hint."),
    Rule(
        "tool/query",
        "What GET asks as well is a read whose arguments are scalars.",
        "Remove x-query, or the argument that is an array or an object.",
    ),
    Rule("tool/too-few-examples", "A tool has two examples, and one result.", "Add an example."),
    Rule("tool/example-refused", "Examples of arguments are valid.", "Correct the example."),
    Rule("tool/result-refused", "Examples of results are valid.", "Correct the example."),
)

RULES: Final = (
    *FILES,
    *REFERENCES,
    *SCHEMAS,
    *PUBLICATION,
    *INDEX,
    *SHAPES,
    *TOOLS,
    *POLICIES,
    *UPSTREAMS,
    *BINDINGS,
    *WEBHOOKS,
    *EVENTS,
    *ENTITIES,
)
BY_ID: Final = {rule.id: rule for rule in RULES}
