"""The decoder shares no code with the encoder, so that both cannot have the same error."""

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parent
DECODER = ("decode.py", "files.py", "multiparts.py", "pairs.py", "schemas.py")
ALLOWED = {"jsonschema_rs"} | sys.stdlib_module_names
OWN = {"gateway.contract.imported", *(f"tests.decoding.{name[:-3]}" for name in DECODER)}


def imported(text: str) -> set[str]:
    """The modules that a text imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def foreign(text: str) -> set[str]:
    """The modules that the decoder may not import."""
    return {
        name for name in imported(text) if name not in OWN and name.partition(".")[0] not in ALLOWED
    }


def test_the_decoder_imports_only_records_and_the_standard_library() -> None:
    found = {name: foreign((HERE / name).read_text("utf-8")) for name in DECODER}
    assert found == {name: set() for name in DECODER}


def test_an_import_of_the_encoder_is_found() -> None:
    assert foreign("from gateway.encoding.texts import text_of\nimport json\n") == {
        "gateway.encoding.texts"
    }
    assert foreign("import gateway.contract.imported\n") == set()
