"""Definitions of schemas that contain themselves: components of documents, classes of models."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway.authoring.codegen.ir import Model
from gateway.authoring.contracts.names import shortest_free
from gateway.authoring.contracts.refs import published_name
from gateway.contract.values.schema import DATA, MAPS, PREFIX
from gateway.errors import ContractError

# The definitions of schemas that contain themselves, as components of a published document.

_COMPONENTS: Final = "#/components/schemas/"
_DEFINITIONS: Final = "$defs"


class SharedDefinitions:
    """Takes definitions out of schemas, because `#` is the whole document there."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        """The definitions by name, which refer to each other as components."""

    def without(self, value: Any, *, is_map: bool = False) -> Any:
        """`value` with references to components. `is_map`: its members are no keywords."""
        if isinstance(value, list):
            return [self.without(each) for each in value]
        if not isinstance(value, dict):
            return value
        if is_map:
            return {name: self.without(each) for name, each in value.items()}
        for name, each in value.get(_DEFINITIONS, {}).items():
            if name not in self.found:
                self.found[name] = None
                self.found[name] = self.without(each)
        return {
            keyword: _COMPONENTS + member.removeprefix(PREFIX)
            if keyword == "$ref" and isinstance(member, str) and member.startswith(PREFIX)
            else member
            if keyword in DATA
            else self.without(member, is_map=keyword in MAPS)
            for keyword, member in value.items()
            if keyword != _DEFINITIONS
        }


def renamed(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """`schema` with other names for definitions. `names` has the new ones by the old ones."""
    if _DEFINITIONS not in schema:
        return schema
    found: dict[str, Any] = _renamed(schema, names)
    definitions = found[_DEFINITIONS]
    return {**found, _DEFINITIONS: {names.get(k, k): each for k, each in definitions.items()}}


def _renamed(node: Any, names: Mapping[str, str], *, is_map: bool = False) -> Any:
    if isinstance(node, list):
        return [_renamed(each, names) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _renamed(each, names) for name, each in node.items()}
    return {
        keyword: PREFIX + names.get(name := value.removeprefix(PREFIX), name)
        if keyword == "$ref" and isinstance(value, str) and value.startswith(PREFIX)
        else value
        if keyword in DATA
        else _renamed(value, names, is_map=keyword in MAPS)
        for keyword, value in node.items()
    }


# The definitions of models whose schemas contain themselves: each becomes a class too.

Schema = dict[str, Any]


def with_classes(models: Iterable[Model], reserved: Iterable[str]) -> dict[str, Schema]:
    """The schemas of `models` and of their definitions, by class name.

    References name classes. Raises `ContractError` if there is no name for a definition.
    """
    models = list(models)
    own = {published_name(model.path, model.pointer): model.name for model in models}
    taken = {*reserved, *own.values()}
    classes = dict(own)
    found: dict[str, Schema] = {}
    for model in models:
        for name in model.schema.get(_DEFINITIONS, {}):
            if name not in classes:
                classes[name] = _class_name(name, taken, model)
                taken.add(classes[name])
    for model in models:
        schema = dict(renamed(model.schema, classes))
        others: dict[str, Schema] = schema.pop(_DEFINITIONS, {})
        others.pop(model.name, None)
        found |= {**others, model.name: schema}
    return found


def _class_name(name: str, taken: Iterable[str], model: Model) -> str:
    """`Draft` for `forum.add_comment.input.Draft`, or more of it if that is taken."""
    found = shortest_free(name.split("."), [*taken])
    if found is None:
        raise ContractError(
            f"schemas/{model.path}: no free class name for {name}; rename the definition"
        )
    return found
