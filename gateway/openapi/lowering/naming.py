"""Names of tools: from the operationId, else from the method and the path.

A name depends on its own operation, and on other operations only if their names are equal. So a
new operation does not rename the others, unless its name is equal to theirs. The names of the
gateway's own tools are taken.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.contract.agent_view import OWN_TOOLS
from gateway.openapi.lowering.records import OperationSource

MAX_NAME: Final = 60
"""The longest `<connector>_<tool>`, so that a client can add its own prefix within 64."""
_DIGEST: Final = 6
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[a-z0-9]+")

_Naming = Callable[[OperationSource], str]


def snake_case(text: str) -> str:
    """The ASCII letters and digits of `text` as lower-case words, joined with `_`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "_".join(_WORD.findall(_HUMP.sub("_", plain).lower()))


def own_name(operation: OperationSource) -> str:
    """The name from the operationId alone. Empty if it has no letters or digits."""
    name = snake_case(operation.operation_id or "")
    return f"{operation.method.lower()}_{name}" if name[:1].isdigit() else name


def path_name(operation: OperationSource) -> str:
    """The name from the method and the path."""
    return f"{operation.method.lower()}_{snake_case(operation.path) or 'root'}"


def tool_names(
    operations: Sequence[OperationSource], connector: str, given: Mapping[str, str]
) -> dict[str, str]:
    """The name of each tool by operation key. `given` names have precedence.

    Operations with equal names are named by their paths instead, and with a digest of the path if
    these are equal too.
    """
    names = dict(given)
    waiting = [each for each in operations if each.key not in given]
    ways: tuple[_Naming, ...] = (lambda each: own_name(each) or path_name(each), path_name)
    for way in ways:
        found = {each.key: fitted(way(each), each.key, connector) for each in waiting}
        counts = Counter([*names.values(), *found.values(), *reserved(connector)])
        names |= {key: name for key, name in found.items() if counts[name] == 1}
        waiting = [each for each in waiting if each.key not in names]
    return names | {
        each.key: _with_digest(path_name(each), each.key, connector) for each in waiting
    }


def reserved(connector: str) -> frozenset[str]:
    """The names that no tool of `connector` may have: each would be that of an own tool."""
    return OWN_TOOLS | {name.removeprefix(f"{connector}_") for name in OWN_TOOLS}


def fitted(name: str, key: str, connector: str) -> str:
    """`name`. If `<connector>_<name>` is too long, its beginning with a digest of `key`."""
    return name if len(name) <= _room(connector) else _with_digest(name, key, connector)


def _with_digest(name: str, key: str, connector: str) -> str:
    digest = hashlib.sha256(key.encode()).hexdigest()[:_DIGEST]
    return f"{name[: _room(connector) - _DIGEST - 1].rstrip('_')}_{digest}"


def _room(connector: str) -> int:
    return MAX_NAME - len(connector) - 1
