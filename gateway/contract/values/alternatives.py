"""Which of the alternatives of `anyOf` and `oneOf` a refused value was most likely meant for."""

from collections.abc import Iterable, Iterator, Sequence

from jsonschema_rs import ValidationError, ValidationErrorKind

_Branches = Sequence[Sequence[ValidationError]]


def relevant(errors: Sequence[ValidationError]) -> Iterator[ValidationError]:
    """`errors` without those alternatives about whose value another error says more.

    That is one whose alternative a constant decides, or any error where no alternative is near.
    """
    read = [(error, branches_of(error)) for error in errors]
    decided = _places(inner for _, branches in read for inner in _decided(branches))
    clear = _places(error for error, branches in read if _is_clear(error, branches))
    for error, branches in read:
        more = decided if _is_clear(error, branches) else clear
        if not branches or _decided(branches) or tuple(error.instance_path) not in more:
            yield error


def branches_of(error: ValidationError) -> _Branches:
    """What each alternative finds wrong; empty where `error` is not about alternatives."""
    match error.kind:
        case (
            ValidationErrorKind.AnyOf(context=branches)
            | ValidationErrorKind.OneOfNotValid(context=branches)
        ):
            return branches
    return ()


def nearest(branches: _Branches, path: list[str | int]) -> Sequence[ValidationError]:
    """What is wrong by the branch that was most likely meant; nothing when that is not clear.

    It is the one with the fewest errors among those for values of this kind.
    """
    meant = sorted((branch for branch in branches if not _is_of_other_kind(branch, path)), key=len)
    is_clear = len(meant) == 1 or (len(meant) > 1 and len(meant[0]) < len(meant[1]))
    return meant[0] if is_clear else ()


def needed(branches: _Branches, path: list[str | int]) -> list[str]:
    """The properties of which the value lacks one, if each alternative asks for nothing else."""
    names = [
        str(branch[0].kind.property)
        for branch in branches
        if len(branch) == 1
        and isinstance(branch[0].kind, ValidationErrorKind.Required)
        and list(branch[0].instance_path) == path
    ]
    return names if len(names) == len(branches) else []


def _decided(branches: _Branches) -> Sequence[ValidationError]:
    """What is wrong by the only branch whose constants the value has; nothing without one."""
    left = [branch for branch in branches if not _has_other_constant(branch)]
    return left[0] if len(left) == 1 and len(branches) > 1 else ()


def _is_of_other_kind(branch: Sequence[ValidationError], path: list[str | int]) -> bool:
    """Whether the value is of another type, or some constant says that it is for another branch."""
    return _has_other_constant(branch) or any(
        error.kind.name in {"type", "enum"} and list(error.instance_path) == path
        for error in branch
    )


def _has_other_constant(branch: Sequence[ValidationError]) -> bool:
    return any(error.kind.name == "const" for error in branch)


def _is_clear(error: ValidationError, branches: _Branches) -> bool:
    """Whether it can be said what to change."""
    path = list(error.instance_path)
    return not branches or bool(nearest(branches, path) or needed(branches, path))


def _places(errors: Iterable[ValidationError]) -> frozenset[tuple[str | int, ...]]:
    """Every place at which, or below which, one of `errors` lies."""
    paths = (list(error.instance_path) for error in errors)
    return frozenset(tuple(path[:length]) for path in paths for length in range(len(path) + 1))
