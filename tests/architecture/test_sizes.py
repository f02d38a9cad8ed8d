"""Files and functions stay small enough to be read in one go."""

import ast
from typing import Final

FILE_LINES: Final = 300
TEST_FILE_LINES: Final = 500
FUNCTION_LINES: Final = 40
PIPELINE_LINES: Final = 100
EXEMPT: Final[dict[str, tuple[int, str]]] = {}
"""File -> (its lines, why it may be longer). This table may only shrink."""
EXEMPT_AT_MOST: Final = 0


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


def test_hand_written_files_fit_the_cap(written):
    assert long_files(written, FILE_LINES) == []


def test_test_files_fit_the_cap(tested):
    assert long_files(tested, TEST_FILE_LINES) == []


def test_functions_fit_the_cap(written):
    assert long_functions(written) == []


def test_the_pipeline_fits_one_screen(written):
    """It is the product's front page."""
    pipeline = [source for source in written if source.path == "gateway/calls/pipeline.py"]
    assert pipeline
    assert long_files(pipeline, PIPELINE_LINES) == []


def test_exemptions_only_shrink(written, tested):
    """No line may be added to the table, and none may outlive its reason."""
    assert len(EXEMPT) <= EXEMPT_AT_MOST
    needed = long_files([*written, *tested], FILE_LINES, exempt={})
    assert all(any(line.startswith(path) for line in needed) for path in EXEMPT)


def test_a_file_over_the_cap_is_found(planted):
    assert long_files(planted("pass\n" * 301), FILE_LINES) == [
        "gateway/planted.py: 301 lines, at most 300"
    ]


def test_a_function_over_the_cap_is_found(planted):
    """Forty lines of body and a head are one too many, whatever the docstring holds."""
    body = "    pass\n" * 40
    assert long_functions(planted(f"def long():\n{body}")) == [
        "gateway/planted.py:1 long: 41 lines"
    ]
    documented = '    """One.\n\n    Two."""\n' + "    pass\n" * 39
    assert long_functions(planted(f"def fits():\n{documented}")) == []
