"""Files against their meta-schemas, and the copies of those against this version's."""

from collections.abc import Iterator
from typing import Final

from gateway.codegen import meta
from gateway.codegen.finding import Finding
from gateway.codegen.lint.rules import BY_ID
from gateway.codegen.lint.workspace import Workspace, meta_schema_of

_RULES: Final = {
    "index.schema.json": "shape/index",
    "policies.schema.json": "shape/policies",
    "upstream.schema.json": "shape/upstream",
    "tool.schema.json": "shape/tool",
}
_EXTENSIONS: Final = ("x-mcp", "x-policy", "x-binding")
_FORMS: Final = {
    ("shape/x-binding", "oneOf"): (
        "must hold exactly one of value, const, object, array, each, count and python"
    ),
    ("shape/x-binding", "pattern"): (
        "is not a text that is known here: expressions are `$inputs.name`, "
        "`$response.body#/pointer`, `@/pointer`, …; a fixed value is `{const: …}`"
    ),
}
"""Said instead of the validator's own words, where those speak of the meta-schema's inside."""


def check_shapes(workspace: Workspace) -> Iterator[Finding]:
    """shape/*"""
    for path, violations in workspace.misshapen.items():
        document = workspace.tree.documents[path]
        for violation in violations:
            rule = _rule(meta_schema_of(path) or "", violation.pointer)
            message = _FORMS.get((rule, violation.keyword), violation.detail)
            yield workspace.finding(rule, document, violation.pointer, message)


def _rule(name: str, pointer: str) -> str:
    if name == "tool.schema.json":
        for extension in _EXTENSIONS:
            if f"{pointer}/".startswith(f"/post/{extension}/"):
                return f"shape/{extension}"
    return _RULES[name]


def check_meta_copies(workspace: Workspace) -> Iterator[Finding]:
    """meta/stale"""
    rule = BY_ID["meta/stale"]
    for name in meta.stale_copies(workspace.tree.root):
        yield Finding(
            path=f"_meta/{name}",
            line=1,
            pointer="",
            rule=rule.id,
            message="is missing or not what this version of the gateway ships",
            fix=rule.fix,
        )
