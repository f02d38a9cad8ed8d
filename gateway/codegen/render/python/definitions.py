"""The definitions of models whose schemas contain themselves: each becomes a class too."""

from collections.abc import Iterable
from typing import Any, Final

from gateway.codegen.ir import Model
from gateway.codegen.render.published_definitions import renamed
from gateway.contracts.names import shortest_free
from gateway.contracts.sources.refs import published_name
from gateway.errors import ContractError

_DEFINITIONS: Final = "$defs"

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
