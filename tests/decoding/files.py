"""Which parts of multipart bodies are files, from the vendor's document alone.

Written from OpenAPI 3.2 (Media Type Object, Considerations for File Uploads), OpenAPI 3.0.3
(`format: binary`), Swagger 2.0 (`type: file`; `format: binary` is "any sequence of octets") and
JSON Schema 2020-12. It shares no code with the import, so that a file which the import takes for
text shows as a difference.
"""

from collections.abc import Iterator
from typing import Any

TEXTS = ("text/", "application/json", "application/xml")


def file_parts(document: Any, pointer: str) -> frozenset[str]:
    """The names of the parts that may be files, of the operation at `pointer` of a document."""
    names: set[str] = set()
    operation = followed(document, f"#{pointer}")
    item = followed(document, f"#{pointer.rpartition('/')[0]}")
    for parameter in (*item.get("parameters", ()), *operation.get("parameters", ())):
        value = resolved(document, parameter)
        is_bytes = value.get("type") == "file" or is_file(document, value, frozenset())
        if value.get("in") == "formData" and is_bytes:
            names.add(value["name"])
    body = resolved(document, operation.get("requestBody", {}))
    for media_type, media in body.get("content", {}).items():
        if media_type.startswith("multipart/"):
            schemas = list(combined(document, media.get("schema", {}), frozenset()))
            names |= {
                name
                for each in schemas
                for name, member in each.get("properties", {}).items()
                if is_file(document, member, frozenset())
            }
    return frozenset(names)


def is_file(document: Any, schema: Any, passed: frozenset[str]) -> bool:
    """Whether values of the schema, or the items of its lists, may be bytes."""
    for part in combined(document, schema, passed):
        if part.get("format") == "binary" or part.get("contentEncoding") == "binary":
            return True
        media_type = part.get("contentMediaType", "text/plain")
        if not media_type.startswith(TEXTS) and "contentEncoding" not in part:
            return True
        if isinstance(part.get("items"), dict) and is_file(document, part["items"], passed):
            return True
    return False


def combined(document: Any, schema: Any, passed: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The schema, and the schemas that it combines for the same value."""
    if not isinstance(schema, dict):
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in passed:
        yield from combined(document, followed(document, reference), passed | {reference})
    for keyword in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(keyword, ()):
            yield from combined(document, each, passed)


def resolved(document: Any, value: Any) -> Any:
    """What the value refers to, or the value."""
    return followed(document, value["$ref"]) if "$ref" in value else value


def followed(document: Any, reference: str) -> Any:
    """What a reference into the document leads to. `{}` for one into another file."""
    if not reference.startswith("#"):
        return {}
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(name)]
        else:
            document = document.get(name, {}) if isinstance(document, dict) else {}
    return document
