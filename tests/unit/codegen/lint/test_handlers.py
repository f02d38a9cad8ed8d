"""The functions that bindings name are looked up in files, without importing any."""

from pathlib import Path

import pytest

from gateway.codegen.lint.handlers import Handlers

FORMS = {
    "a function": "def run(): ...",
    "an async function": "async def run(): ...",
    "an imported name": "from elsewhere import run",
    "a renamed import": "from elsewhere import walk as run",
    "an assigned name": "run = make()",
    "an annotated name": "run: Handler = make()",
    "one of several assigned names": "walk, run = make()",
    "a function under a condition": "if FAST:\n    def run(): ...",
    "a function in a try": "try:\n    import fast\nexcept ImportError:\n    def run(): ...",
    "anything that a star brings": "from elsewhere import *",
}
LOST = {
    "a function inside another": "def walk():\n    def run(): ...",
    "a method": "class Walk:\n    def run(self): ...",
    "a name that is only read": "print(run)",
    "a file that is no Python": "def run(:",
    "an empty file": "",
}


def lost(tmp_path: Path, reference: str) -> list[tuple[str, str, str | None]]:
    return list(Handlers(tmp_path / "schemas").lost({"python": reference}))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_function_is_found_however_its_module_names_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(text)
    assert lost(tmp_path, "shop:run") == []


@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_what_a_module_does_not_offer_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(text)
    [(pointer, message, _)] = lost(tmp_path, "shop:run")
    assert (pointer, message) == ("/python", "shop has no function run")


def test_the_nearest_function_is_offered(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def greet(): ...\ndef refuse(): ...")
    assert lost(tmp_path, "shop:great")[0][2] == "Did you mean greet?"


def test_the_file_of_a_package_counts_and_its_code_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "shop" / "till").mkdir(parents=True)
    (tmp_path / "shop" / "till" / "__init__.py").write_text("raise SystemExit\ndef run(): ...")
    assert lost(tmp_path, "shop.till:run") == []


def test_a_module_that_is_installed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "shop.py").write_text("def run(): ...")
    assert lost(tmp_path, "shop:run") == [("/python", "there is no module shop", None)]
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert lost(tmp_path, "shop:run") == []
