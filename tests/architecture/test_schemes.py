"""What a signature scheme is, its own module knows; everybody else asks it."""

import ast
import re
from typing import Final

from gateway.signatures.registry import SCHEMES

ROOM: Final = "gateway/signatures/"
VENDORS: Final = (
    "gateway/backends/mock/credentials.py",
    "gateway/backends/slots.py",
    "gateway/connectors/",
    "gateway/contract/slots.py",
    "gateway/authoring/openapi/",
)
"""Vendors have words of their own: a traveller may be "standard". So has OpenAPI: a credential of
an upstream may be "basic" (RFC 7617)."""
MODULES: Final = {each.__module__ for each in SCHEMES.values()}
CLASSES: Final = {each.__name__ for each in SCHEMES.values()}
MARKS: Final = re.compile(r"webhook-(?:id|timestamp|signature)(?![\w-])|whsec_", re.IGNORECASE)
"""Texts by which a scheme is recognised."""


def knowing(sources):
    """Each place outside the room that names a scheme, its class, its module or its headers."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        if source.path.startswith("gateway/") and not source.path.startswith(ROOM)
        for node in ast.walk(source.tree)
        if names_a_scheme(node, is_vendor=source.path.startswith(VENDORS))
    ]


def names_a_scheme(node, *, is_vendor=False):
    match node:
        case ast.Constant(value=str(text)) if text in SCHEMES:
            return not is_vendor
        case ast.Constant(value=str(text)):
            return MARKS.search(text) is not None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in CLASSES
        case ast.Import(names=names):
            return any(each.name in MODULES for each in names)
        case ast.ImportFrom(module=str(module), names=names):
            return module in MODULES or any(f"{module}.{each.name}" in MODULES for each in names)
    return False


def test_nobody_outside_the_room_names_a_scheme(written):
    assert knowing(written) == []


def test_each_of_these_mistakes_is_found(planted):
    for text in (
        'if rules["scheme"] == "basic": ...\n',
        'match scheme:\n    case "hmac": ...\n',
        "if isinstance(scheme, signatures.HmacSignature): ...\n",
        "from gateway.signatures import standard\n",
        "from gateway.signatures.basic import AUTHORIZATION\n",
        "import gateway.signatures.hmac_header\n",
        'NEVER_KEPT = {"webhook-signature"}\n',
    ):
        assert knowing(planted(text)), text
    assert knowing(planted('UNITS = "standard"\n', path="gateway/connectors/x/y.py")) == []
    assert knowing(planted('KIND = "basic"\n', path="gateway/authoring/openapi/x.py")) == []
    assert knowing(planted('KEPT = {"webhook-signature"}\n', path="gateway/authoring/openapi/x.py"))
    assert knowing(
        planted("from gateway.signatures import basic\n", path="gateway/authoring/openapi/x.py")
    )
    assert knowing(planted('NAME = "standard"\n', path="gateway/signatures/z.py")) == []
