"""The table of attacks is made of the markers of the tests, and of nothing else."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "attacks.py"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The script as a module, with a folder of tests and its own page."""
    spec = importlib.util.spec_from_file_location("attacks_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = tmp_path / "attacks.md"
    page.write_text(f"# Attacks\n\n{module.BEGIN}old\n{module.END}after\n", "utf-8")
    folder = tmp_path / "adversarial"
    folder.mkdir()
    for name, value in {"FOLDER": folder, "PAGE": page, "ROOT": tmp_path}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(sys, "argv", ["attacks"])
    return module


WHOLE = '''
"""Keys that are guessed. More words."""

@pytest.mark.parametrize("key", ["a"])
@pytest.mark.attack("a key " "is guessed", required="401")
async def test_guessing(key): ...

class TestOthers:
    @pytest.mark.attack("a method", required="nothing happens")
    def test_method(self): ...

def no_test(): ...
'''


def test_the_table_holds_what_the_markers_say(script):
    (script.FOLDER / "test_keys.py").write_text(WHOLE, "utf-8")
    assert script.main() == 0
    page = script.PAGE.read_text("utf-8")
    assert "\n## Keys that are guessed. More words\n" in page
    assert "| a key is guessed | 401 | `test_keys.py::test_guessing` |\n" in page
    assert "| a method | nothing happens | `test_keys.py::test_method` |\n" in page
    assert "no_test" not in page
    assert "old" not in page
    assert page.startswith("# Attacks\n")
    assert page.endswith("after\n")


def test_check_writes_nothing_and_fails_until_the_page_is_written(script, monkeypatch, capsys):
    (script.FOLDER / "test_keys.py").write_text(WHOLE, "utf-8")
    before = script.PAGE.read_text("utf-8")
    monkeypatch.setattr(sys, "argv", ["attacks", "--check"])
    assert script.main() == 1
    assert "fix: scripts/attacks.py" in capsys.readouterr().err
    assert script.PAGE.read_text("utf-8") == before
    monkeypatch.setattr(sys, "argv", ["attacks"])
    assert script.main() == 0
    monkeypatch.setattr(sys, "argv", ["attacks", "--check"])
    assert script.main() == 0


@pytest.mark.parametrize(
    "decorators",
    [
        "",
        "@pytest.mark.slow",
        "@pytest.mark.attack",
        '@pytest.mark.attack("a")',
        '@pytest.mark.attack(required="b")',
        '@pytest.mark.attack("a", required="")',
        '@pytest.mark.attack("a", required=TEXT)',
        '@pytest.mark.attack(f"{a}", required="b")',
        '@pytest.mark.attack("a | b", required="b")',
        '@pytest.mark.attack("a <script>", required="b")',
        '@pytest.mark.attack("a", required="b", other="c")',
        '@pytest.mark.attack("a", required="b")\n@pytest.mark.attack("a", required="b")',
    ],
)
def test_a_marker_that_is_missing_or_no_use_is_found(script, decorators):
    tree = ast.parse(f"{decorators}\ndef test_it(): ...\n")
    with pytest.raises(script.InvalidMarkerError, match=r"test_x\.py::test_it.*\nfix: "):
        script.read_attacks("test_x.py", tree)


def test_a_file_without_a_docstring_and_a_page_without_a_place_are_found(script, capsys):
    (script.FOLDER / "test_keys.py").write_text("", "utf-8")
    assert script.main() == 1
    assert "test_keys.py: the file has no docstring" in capsys.readouterr().err
    (script.FOLDER / "test_keys.py").write_text('"""Keys."""\n', "utf-8")
    script.PAGE.write_text("# Attacks\n", "utf-8")
    assert script.main() == 1
    assert "no place for the table" in capsys.readouterr().err
