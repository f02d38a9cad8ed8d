"""Makes texts of files from templates, and YAML of values."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files as resources
from typing import Any, Final

_MARK: Final = re.compile(r"@([A-Z_]+)@")
_LINE: Final = re.compile(r"( *)@([A-Z_]+)@")


def rendered(template: str, values: Mapping[str, str]) -> str:
    """The template with `values` for its marks.

    A mark on a line of its own stands for any number of lines, which get its indentation.
    """
    file = resources(__package__) / "templates" / f"{template}.template"
    lines: list[str] = []
    for line in file.read_text("utf-8").splitlines():
        alone = _LINE.fullmatch(line)
        if alone is not None:
            lines += [f"{alone[1]}{each}" for each in values[alone[2]].splitlines()]
        else:
            lines.append(_MARK.sub(lambda mark: values[mark[1]], line))
    return "\n".join([*lines, ""])


def inline(value: Any) -> str:
    """`value` on one line of YAML: names without quotes, all texts with them."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {inline(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(inline(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)


def schema_text(schema: Mapping[str, Any]) -> bytes:
    """The text of a JSON Schema file."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return f"{json.dumps({**dialect, **schema}, indent=2, ensure_ascii=False)}\n".encode()
