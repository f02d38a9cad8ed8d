"""Functions stay small enough to be read in one go; a long file says why it is one matter."""

import ast
from typing import Final

FILE_LINES: Final = 700
FUNCTION_LINES: Final = 40
PIPELINE_LINES: Final = 100
EXEMPT: Final[dict[str, tuple[int, str]]] = {}
"""File -> (its lines, why it is one matter)."""


def long_files(sources, cap, exempt=EXEMPT):
    """Each file longer than `cap`, or than its exemption allows."""
    lengths = {source.path: source.text.count("\n") for source in sources}
    return [
        f"{path}: {length} lines, at most {exempt.get(path, (cap,))[0]}"
        for path, length in lengths.items()
        if length > exempt.get(path, (cap,))[0]
    ]


def long_functions(sources):
    """Each function with more lines than the cap, its docstring left out."""
    return [
        f"{source.path}:{node.lineno} {node.name}: {length} lines"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := function_lines(node)) > FUNCTION_LINES
    ]


def function_lines(node):
    """The lines of a function without its docstring."""
    docstring = ast.get_docstring(node, clean=False)
    documentation = docstring.count("\n") + 1 if docstring else 0
    return node.end_lineno - node.lineno + 1 - documentation


def test_a_long_file_has_its_reason(written, tested):
    assert long_files([*written, *tested], FILE_LINES) == []


def test_functions_fit_the_cap(written):
    assert long_functions(written) == []


def test_the_pipeline_fits_one_screen(written):
    """It is the product's front page."""
    pipeline = [source for source in written if source.path == "gateway/calls/pipeline.py"]
    assert pipeline
    assert long_files(pipeline, PIPELINE_LINES) == []


def test_no_reason_outlives_its_file(written, tested):
    needed = long_files([*written, *tested], FILE_LINES, exempt={})
    assert all(any(line.startswith(path) for line in needed) for path in EXEMPT)


def test_a_file_over_the_cap_is_found(planted):
    assert long_files(planted("pass\n" * 701), FILE_LINES) == [
        "gateway/planted.py: 701 lines, at most 700"
    ]


def test_a_function_over_the_cap_is_found(planted):
    """Forty lines of body and a head are one too many, whatever the docstring holds."""
    body = "    pass\n" * 40
    assert long_functions(planted(f"def long():\n{body}")) == [
        "gateway/planted.py:1 long: 41 lines"
    ]
    documented = '    """One.\n\n    Two."""\n' + "    pass\n" * 39
    assert long_functions(planted(f"def fits():\n{documented}")) == []
