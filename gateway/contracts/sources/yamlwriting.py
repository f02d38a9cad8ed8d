"""Writes values as the YAML that contracts may use: what `yamltext` decodes to the same value."""

from typing import Any, Final

import yaml

from gateway.contracts.sources.yamltext import is_plain_text

_STRING: Final = "tag:yaml.org,2002:str"


def written(value: Any, width: int = 100) -> str:
    """`value` in block style, in lines of about `width` characters."""
    return yaml.dump(value, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=width)


class _Writer(yaml.SafeDumper):
    """Writes no anchors, and quotes each text that could be read as something else.

    PyYAML quotes what YAML 1.1 would read as something else. `1e5` and `012345678` are text there.
    """

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def represent_text(self, data: str) -> yaml.ScalarNode:
        """`data` as a scalar that is text for each parser."""
        style = None if is_plain_text(data) else "'"
        return self.represent_scalar(_STRING, data, style=style)


_Writer.add_representer(str, _Writer.represent_text)
