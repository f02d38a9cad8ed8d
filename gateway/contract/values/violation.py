"""One way in which a value breaks a schema, and the branch that it was most likely meant for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from jsonschema_rs import ValidationError, ValidationErrorKind
from msgspec import Struct

# One way in which a value breaks a schema.

MAX_VIOLATIONS: Final = 20
"""The most violations that are reported for one value. `common/problem.json` declares the same
limit."""


class Violation(Struct, frozen=True, kw_only=True):
    """The place, the keyword and the reason of one error. It never contains the value."""

    pointer: str
    """JSON Pointer (RFC 6901) to the value, or to the missing or surplus property."""
    keyword: str
    """The JSON Schema keyword that failed, such as `pattern` or `required`."""
    detail: str

    def under(self, pointer: str) -> "Violation":
        """The same violation, for a value that is at `pointer` in a larger value."""
        return Violation(pointer=pointer + self.pointer, keyword=self.keyword, detail=self.detail)


# Finds the branch of `anyOf` or `oneOf` that an invalid value was most likely meant for.

_Branches = Sequence[Sequence[ValidationError]]
_DEEPEST: Final = 8
"""How many references and `allOf` a branch is followed through."""
_DEFINITIONS: Final = "#/$defs/"


class Tag(Struct, frozen=True):
    """The member whose value names the branch."""

    name: str
    values: Sequence[Sequence[Any]]
    """Those of each branch."""

    @classmethod
    def of(cls, around: Mapping[str, Any], root: Any) -> "Tag | None":
        """The tag of the branches of `around`, a schema within `root`. None if they have none.

        Each branch has a constant or an `enum` for it, and no two branches share a value.
        """
        branches = around.get("oneOf", around.get("anyOf"))
        if not isinstance(branches, list) or len(branches) < 2:
            return None
        known = [dict(_constants(branch, root, _DEEPEST)) for branch in branches]
        for name in known[0]:
            values = [each[name] for each in known if name in each]
            keys = [_key(value) for each in values for value in each]
            if len(values) == len(branches) and len(keys) == len(set(keys)):
                return cls(name, values)
        return None

    def branch(self, value: Mapping[str, Any]) -> int | None:
        """The index of the branch that `value` names."""
        given = _key(value[self.name])
        named = (at for at, each in enumerate(self.values) if given in map(_key, each))
        return next(named, None)


def _key(value: Any) -> tuple[bool, Any]:
    """Equal for values that are equal in JSON, where `true` is not `1`, and `1.0` is."""
    plain = isinstance(value, str | int | float | None)
    return isinstance(value, bool), value if plain else repr(value)


def _constants(schema: Any, root: Any, depth: int) -> Iterator[tuple[str, Sequence[Any]]]:
    """The members with few possible values, with those values."""
    if not isinstance(schema, dict) or not depth:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(_DEFINITIONS):
        target = root.get("$defs", {}).get(reference.removeprefix(_DEFINITIONS))
        yield from _constants(target, root, depth - 1)
    for each in schema.get("allOf", ()):
        yield from _constants(each, root, depth - 1)
    for name, member in schema.get("properties", {}).items():
        if isinstance(member, dict) and "const" in member:
            yield name, [member["const"]]
        elif isinstance(member, dict) and isinstance(member.get("enum"), list):
            yield name, member["enum"]


def relevant(errors: Sequence[ValidationError]) -> Iterator[ValidationError]:
    """`errors` without the errors about branches that another error explains better.

    An error about branches is left out if another error is at or below the same place, and that
    error is inside a branch that a constant selects. If no branch of the first error is likely, any
    clear error is enough.
    """
    found = [(error, branches_of(error)) for error in errors]
    selected = _paths(inner for _, branches in found for inner in _selected(branches))
    clear = _paths(error for error, branches in found if _is_clear(error, branches))
    for error, branches in found:
        better = selected if _is_clear(error, branches) else clear
        if not branches or _selected(branches) or tuple(error.instance_path) not in better:
            yield error


def branches_of(error: ValidationError) -> _Branches:
    """The errors of each branch. Empty if `error` is not about `anyOf` or `oneOf`."""
    match error.kind:
        case (
            ValidationErrorKind.AnyOf(context=branches)
            | ValidationErrorKind.OneOfNotValid(context=branches)
        ):
            return branches
    return ()


def nearest(branches: _Branches, path: list[str | int]) -> Sequence[ValidationError]:
    """The errors of the branch that was most likely meant. Empty if that is not clear.

    That branch has the fewest errors of those that accept values of this type.
    """
    likely = sorted((branch for branch in branches if not _is_of_other_kind(branch, path)), key=len)
    is_clear = len(likely) == 1 or (len(likely) > 1 and len(likely[0]) < len(likely[1]))
    return likely[0] if is_clear else ()


def needed(branches: _Branches, path: list[str | int]) -> list[str]:
    """The missing properties, one per branch, if every branch fails only for a missing property."""
    names = [
        str(branch[0].kind.property)
        for branch in branches
        if len(branch) == 1
        and isinstance(branch[0].kind, ValidationErrorKind.Required)
        and list(branch[0].instance_path) == path
    ]
    return names if len(names) == len(branches) else []


def _selected(branches: _Branches) -> Sequence[ValidationError]:
    """The errors of the only branch whose constants the value has. Empty without such a branch."""
    left = [branch for branch in branches if not _has_other_constant(branch)]
    return left[0] if len(left) == 1 and len(branches) > 1 else ()


def _is_of_other_kind(branch: Sequence[ValidationError], path: list[str | int]) -> bool:
    """Whether the value has another type or another constant than the branch."""
    return _has_other_constant(branch) or any(
        error.kind.name in {"type", "enum"} and list(error.instance_path) == path
        for error in branch
    )


def _has_other_constant(branch: Sequence[ValidationError]) -> bool:
    return any(error.kind.name == "const" for error in branch)


def _is_clear(error: ValidationError, branches: _Branches) -> bool:
    """Whether the error shows what to change."""
    path = list(error.instance_path)
    return not branches or bool(nearest(branches, path) or needed(branches, path))


def _paths(errors: Iterable[ValidationError]) -> frozenset[tuple[str | int, ...]]:
    """The instance paths of `errors`, and all their parents."""
    paths = (list(error.instance_path) for error in errors)
    return frozenset(tuple(path[:length]) for path in paths for length in range(len(path) + 1))
