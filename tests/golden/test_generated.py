"""Small schemas folders, one per feature, and the text that each must become."""

import shutil
from pathlib import Path

import pytest

from gateway.authoring.contracts import meta
from gateway.authoring.codegen.generate import PackageNames, generate

HERE = Path(__file__).parent

FEATURES = {
    "attempts": ("generated/operations/demo.py", "docs/index.md", "docs/demo/*.md"),
    "aliases": ("generated/tools/demo.py", "docs/demo/show.md"),
    "context": ("generated/bindings/demo/show.py", "docs/demo/show.md"),
    "bounds": ("generated/models/demo/show.py", "docs/demo/show.md"),
    "enum": ("generated/models/demo/show.py",),
    "errors": ("generated/operations/demo.py", "docs/demo/show.md"),
    "formats": ("generated/models/demo/show.py",),
    "http_binding": (
        "generated/bindings/demo/show.py",
        "generated/upstreams/demo.json",
        "generated/openapi.json",
    ),
    "names": ("generated/models/demo/show.py",),
    "nested": ("generated/models/demo/show.py", "docs/demo/show.md"),
    "nullable": ("generated/models/demo/show.py",),
    "policies": ("generated/policies.py", "generated/grants.json"),
    "python_binding": ("generated/bindings/demo/show.py",),
    "shared": ("generated/models/**/*.py", "generated/tools.json"),
    "unions": ("generated/models/demo/show.py",),
    "upstream": ("generated/upstreams/demo.json",),
    "webhook": (
        "generated/*.json",
        "generated/webhooks/**/*.py",
        "generated/models/webhooks/desk/*.py",
        "generated/models/events/*.py",
        "generated/models/rows/*.py",
        "generated/bindings/desk/*.py",
        "generated/models/desk/*.py",
        "docs/desk/*.md",
        "docs/*.md",
        "docs/webhooks/*.md",
    ),
    "whole": ("**/*",),
}
"""Which of the files a feature is judged by."""


@pytest.mark.parametrize("feature", FEATURES)
def test_contracts_become_the_committed_text(
    feature: str, tmp_path: Path, update_golden: bool
) -> None:
    """Byte for byte, for the files that show the feature."""
    made = tmp_path / "made"
    schemas = tmp_path / "schemas"
    shutil.copytree(HERE / feature / "in", schemas)
    meta.install(schemas)
    for handlers in (HERE / feature).glob("*_handlers.py"):
        shutil.copy(handlers, tmp_path)

    names = PackageNames(of_handlers=("gateway.connectors", "demo_handlers"))
    generate(schemas, made / "generated", made / "docs", names=names)
    actual = _texts(made, FEATURES[feature])
    expected = HERE / feature / "out"
    if update_golden:
        _replace(expected, actual)

    assert actual
    assert actual == _texts(expected, ["**/*"])


def test_every_folder_of_contracts_is_tested() -> None:
    """A feature that nobody compares would rot."""
    folders = {path.parent.parent.name for path in HERE.glob("*/in/openapi.yaml")}

    assert folders == set(FEATURES)


def _texts(folder: Path, patterns: tuple[str, ...] | list[str]) -> dict[str, str]:
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(found)
        if "__pycache__" not in path.parts
    }


def _replace(folder: Path, texts: dict[str, str]) -> None:
    for stale in [path for path in folder.rglob("*") if path.is_file()]:
        stale.unlink()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
