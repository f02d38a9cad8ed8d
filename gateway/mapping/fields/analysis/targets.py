"""The parameters, path templates and settings of the upstream that a binding uses."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.algebra import Schema
from gateway.contract.upstream import Upstream, UpstreamOperation
from gateway.mapping.fields.language.nodes import HttpMap

GROUPS: Final = ("path", "query", "header")
_DEFAULT_STYLES: Final = {"path": "simple", "query": "form", "header": "simple"}
DEEP: Final = "deepObject"
"""The style of query parameters whose value may be an object or a list."""
_TEMPLATE: Final = re.compile(r"\{([^{}/]+)\}")


class Parameter(Struct, frozen=True, kw_only=True):
    """The parts of an OpenAPI Parameter Object that bindings need."""

    name: str
    group: str
    is_required: bool
    schema: Schema
    style: str
    is_exploded: bool


def settings_of(upstream: Upstream | None) -> dict[str, Schema]:
    """Schemas of the upstream's settings, by name."""
    rules = upstream.settings if upstream else ()
    return {rule.name: {"type": "string", "pattern": rule.pattern} for rule in rules}


def parameters_of(operation: UpstreamOperation, group: str) -> dict[str, Parameter]:
    """The parameters of one group, by name. Header names are in lower case."""
    found = (_parameter(raw) for raw in operation.parameters if raw.get("in") == group)
    return {parameter.name: parameter for parameter in found}


def parameter_key(group: str, name: str) -> str:
    """The key of the parameter `name` in `parameters_of`."""
    return name.lower() if group == "header" else name


def template_parts(template: str) -> Iterator[tuple[tuple[bool, str], ...]]:
    """The segments of a path template, each as parts: whether it is a parameter, and its text.

    The root `/` has no segments.
    """
    for segment in template.split("/")[1:] if template != "/" else ():
        parts = _TEMPLATE.split(segment)
        yield tuple((index % 2 == 1, part) for index, part in enumerate(parts) if part)


def template_names(template: str) -> tuple[str, ...]:
    """The parameters that a path template names."""
    return tuple(_TEMPLATE.findall(template))


def unsupported_styles(operation: UpstreamOperation, written: HttpMap) -> Iterator[str]:
    """`group/name` of each mapped parameter whose style field maps do not support."""
    groups = {"path": written.path, "query": written.query, "header": written.header}
    for group, members in groups.items():
        parameters = parameters_of(operation, group)
        for name in members.values:
            found = parameters.get(parameter_key(group, name))
            styles = (_DEFAULT_STYLES[group], *((DEEP,) if group == "query" else ()))
            if found is not None and found.style not in styles:
                yield f"{group}/{name}"


def maps(binding: HttpMap) -> Iterator[HttpMap]:
    """The binding and its fallback."""
    yield binding
    if binding.fallback is not None:
        yield binding.fallback


def _parameter(raw: dict[str, Any]) -> Parameter:
    group = str(raw["in"])
    style = raw.get("style", _DEFAULT_STYLES.get(group, "form"))
    return Parameter(
        name=parameter_key(group, str(raw["name"])),
        group=group,
        is_required=bool(raw.get("required", False)),
        schema=raw.get("schema", {}),
        style=style,
        is_exploded=bool(raw.get("explode", style == "form")),
    )
