"""Generated code declares: it says where it comes from and holds no branch."""

import ast
import re
from typing import Final

HEADER: Final = re.compile(
    r"# Generated from schemas/\S*\. DO NOT EDIT\.\n"
    r"# Regenerate with: gateway generate\n"
    r"# Source closure sha256: [0-9a-f]{32,64}; generator \S+\n"
)
BRANCHES: Final = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.TryStar,
    ast.Match,
    ast.With,
    ast.AsyncWith,
)


def without_header(sources):
    """Each file that does not open with its source, its command and its hash."""
    return [source.path for source in sources if not HEADER.match(source.text)]


def branches(sources):
    """Each statement that decides something."""
    return [
        f"{source.path}:{node.lineno} {type(node).__name__.lower()}"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, BRANCHES)
    ]


def test_every_generated_file_has_its_header(generated):
    assert generated
    assert without_header(generated) == []


def test_no_generated_file_branches(generated):
    assert branches(generated) == []


def test_generated_data_names_no_time_and_no_machine(root):
    """The same contracts give the same bytes anywhere."""
    files = [file for file in (root / "generated").rglob("*") if file.suffix in {".json", ".py"}]
    assert files
    offenders = [file for file in files if str(root) in file.read_text("utf-8")]
    assert offenders == []


def test_a_missing_header_is_found(planted):
    headed = (
        "# Generated from schemas/tools/a/b.yaml. DO NOT EDIT.\n"
        "# Regenerate with: gateway generate\n"
        f"# Source closure sha256: {'0' * 64}; generator 0.1.0\n"
    )
    assert without_header(planted(headed)) == []
    assert without_header(planted("X = 1\n")) == ["gateway/planted.py"]


def test_a_branch_is_found(planted):
    """A conditional expression declares; a statement decides."""
    assert branches(planted("x = 1 if __debug__ else 2\n")) == []
    assert branches(planted("if __debug__:\n    x = 1\n")) == ["gateway/planted.py:1 if"]
