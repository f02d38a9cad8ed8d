"""The path of a request: path templates and the styles `simple`, `label` and `matrix`."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from msgspec import Struct

from gateway.contract.imported import ImportedParameter
from gateway.contract.upstream import PATH_PARAMETER
from gateway.contract.values.pointers import child
from gateway.encoding.escapes import PATH, path_text, refusal
from gateway.encoding.joining import Joint
from gateway.encoding.texts import content_text
from gateway.errors import ContractError, InvalidArguments, MalformedRequest

_LITERAL_SAFE: Final = "!$&'()*+,;=:@%"
"""What the fixed text of a template may contain (RFC 3986 §3.3). Templates are percent-encoded."""

_PREFIXES: Final = {"label": ".", "matrix": ";"}


class PathValue(Struct, frozen=True):
    """One parameter in the path."""

    parameter: ImportedParameter
    joint: Joint
    pointer: str

    @property
    def prefix(self) -> str:
        """The character that each expansion begins with."""
        is_content = self.parameter.media_type is not None
        return "" if is_content else _PREFIXES.get(self.parameter.style, "")

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The expansion of the parameter (RFC 6570 §3.2.2, §3.2.5, §3.2.7).

        Raises `InvalidArguments` and `MalformedRequest`.
        """
        member = self.parameter.member
        if member not in arguments:
            raise InvalidArguments.at(self.pointer, "required", "is required")
        value = arguments[member]
        if self.parameter.media_type is not None:
            content = content_text(value, self.parameter.media_type, self.pointer)
            return path_text(content, self.pointer)
        if value is None or value in ([], {}):
            raise refusal(self.pointer, "it is a part of the address: give it a value")
        if self.parameter.style == "matrix":
            return self._matrix(value)
        return self.prefix + self.joint.joined(value, self.pointer)

    def _matrix(self, value: Any) -> str:
        name = path_text(self.parameter.name, self.pointer)
        if self.parameter.explode and type(value) is dict:
            members = self.joint.members(value, self.pointer)
            return "".join(_matrix_pair(key, text) for key, text in members)
        if self.parameter.explode and type(value) is list:
            return "".join(
                _matrix_pair(name, text) for text in self.joint.items(value, self.pointer)
            )
        return _matrix_pair(name, self.joint.joined(value, self.pointer))


class PathSegment(Struct, frozen=True):
    """What is between two slashes. Texts and values alternate, beginning and ending with a text."""

    texts: tuple[str, ...]
    values: tuple[PathValue, ...]

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The encoded segment. Raises `InvalidArguments` and `MalformedRequest`.

        The segments `.` and `..` have a meaning of their own (RFC 3986 §5.2.4), which percent-
        encoding would not change.
        """
        if not self.values:
            return self.texts[0]
        found = [value.text(arguments) for value in self.values]
        if "" in found:
            raise MalformedRequest(_unusable(self.values[found.index("")]))
        if len(found) > 1:
            self._refuse_ambiguity(found)
        later = zip(found, self.texts[1:], strict=True)
        segment = self.texts[0] + "".join([f"{text}{after}" for text, after in later])
        if unquote(segment) in {".", ".."}:
            raise MalformedRequest(_unusable(self.values[0]))
        return segment

    def _refuse_ambiguity(self, found: list[str]) -> None:
        """Raise `InvalidArguments` if the segment could also be divided into other values."""
        for index, separator in enumerate(self.texts[1:-1]):
            after = self.values[index + 1]
            mark = separator + after.prefix
            both = f"{found[index]}{separator}{found[index + 1]}"
            place = len(found[index])
            if not mark or both.find(mark) != place or both.rfind(mark) != place:
                detail = "it contains the text that separates it from another argument"
                raise refusal(after.pointer, detail)


class PathTemplate:
    """A compiled path template (OpenAPI 3.2, Path Templating).

    Raises `ContractError` if the template and the path parameters do not match.
    """

    def __init__(self, path: str, parameters: tuple[ImportedParameter, ...]) -> None:
        known = {each.name: each for each in parameters if each.location == "path"}
        self._segments = tuple(_segment(text, known, path) for text in path.split("/")[1:])

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The encoded path. Raises `InvalidArguments` and `MalformedRequest`."""
        return "/" + "/".join([segment.text(arguments) for segment in self._segments])


def _segment(text: str, known: Mapping[str, ImportedParameter], path: str) -> PathSegment:
    names = PATH_PARAMETER.findall(text)
    texts = tuple(
        quote(part, safe=_LITERAL_SAFE) for part in PATH_PARAMETER.sub("\0", text).split("\0")
    )
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ContractError(f"{path}: {{{unknown[0]}}} is not a path parameter of the operation.")
    return PathSegment(texts, tuple(_value(known[name]) for name in names))


def _value(parameter: ImportedParameter) -> PathValue:
    delimiter, between = ",", ","
    if parameter.explode:
        between = "="
        delimiter = {"label": ".", "matrix": ";"}.get(parameter.style, ",")
    joint = Joint(PATH, delimiter, between)
    return PathValue(parameter, joint, child("", parameter.member))


def _matrix_pair(name: str, text: str) -> str:
    return f";{name}={text}" if text else f";{name}"


def _unusable(value: PathValue) -> str:
    return (
        "An argument cannot be used in the address of the upstream, because it is empty or a "
        f"dot segment: {value.pointer}."
    )
