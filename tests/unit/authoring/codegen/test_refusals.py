"""What the generator cannot say exactly, it refuses: nothing is skipped, nothing is guessed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import ruff

from gateway.authoring.codegen.generate import generate
from gateway.authoring.contracts import meta
from gateway.errors import ContractError

GOLDEN = Path(__file__).parents[3] / "golden"
Edit = Callable[[Path], None]


def edited(name: str, *replacements: tuple[str, str]) -> Edit:
    def edit(schemas: Path) -> None:
        text = (schemas / name).read_text("utf-8")
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (schemas / name).write_text(text, "utf-8")

    return edit


def renamed(connector: str, tool: str) -> Edit:
    """The tool `words.greet` under another name, wherever the contracts say it."""

    def edit(schemas: Path) -> None:
        old, new = schemas / "tools/words", schemas / "tools" / connector
        new.mkdir(exist_ok=True)
        for file in old.glob("greet*"):
            text = file.read_text("utf-8")
            for before, after in (
                ("words.greet", f"{connector}.{tool}"),
                ("words_greet", f"{connector}_{tool}"),
                ("[words]", f"[{connector}]"),
                ("./greet.", f"./{tool}."),
            ):
                text = text.replace(before, after)
            file.unlink()
            (new / file.name.replace("greet", tool)).write_text(text, "utf-8")
        index = schemas / "openapi.yaml"
        text = index.read_text("utf-8").replace("words/greet", f"{connector}/{tool}")
        index.write_text(text.replace("name: words", f"name: {connector}"), "utf-8")

    return edit


def with_common(stem: str) -> Edit:
    """`words.greet` refers to a shared file of this name."""
    shared = (
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Words",'
        ' "description": "Words.", "$defs": {"Word": {"description": "A word.",'
        ' "type": "string"}}}'
    )
    member = f'"word": {{"$ref": "../../common/{stem}.json#/$defs/Word"}}'

    def edit(schemas: Path) -> None:
        (schemas / f"common/{stem}.json").write_text(shared, "utf-8")
        refer = edited(
            "tools/words/greet.input.json", ('"properties": {', f'"properties": {{{member},')
        )
        refer(schemas)

    return edit


REFUSED: dict[str, tuple[Edit, str]] = {
    "a tool that is a keyword": (
        renamed("words", "import"),
        r"tools/words/import\.yaml:2: .* a Python keyword cannot be the name of the generated",
    ),
    "a connector that is a keyword": (
        renamed("class", "greet"),
        r"tools/class/greet\.yaml:2: .* a Python keyword cannot be the name of the generated",
    ),
    "a connector where the shared models go": (
        renamed("common", "greet"),
        r"two contracts generate the same file .*models/common/__init__\.py",
    ),
    "shared definitions with one class name": (
        edited(
            "common/problem.json",
            (
                '"Problem": {',
                '"problem": {"description": "Another.", "type": "null"}, "Problem": {',
            ),
        ),
        r"schemas/common/problem\.json: .* have the same Python name Problem",
    ),
    "objects without names": (
        edited(
            "tools/words/greet.input.json",
            (
                '"properties": {',
                '"properties": {"who": {"description": "Who.", "anyOf": ['
                + ", ".join(
                    '{"description": "One of them.", "type": "object",'
                    ' "additionalProperties": false, "properties":'
                    f' {{"p{n}": {{"description": "It.", "type": "string"}}}}}}'
                    for n in range(3)
                )
                + "]},",
            ),
        ),
        r"tools/words/greet\.yaml: no free class name for GreetInput/who; .*`title`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_place_before_anything_is_written(tmp_path: Path, name: str) -> None:
    shutil.copytree(GOLDEN / "whole/in", tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    edit, message = REFUSED[name]
    edit(tmp_path / "schemas")

    with pytest.raises(ContractError, match=message):
        generate(tmp_path / "schemas", tmp_path / "generated")

    assert not (tmp_path / "generated").exists()


def test_a_shared_file_may_be_called_like_a_keyword(tmp_path: Path) -> None:
    """The module's name is made from it, and a module that refers to it imports that."""
    shutil.copytree(GOLDEN / "whole/in", tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    with_common("class")(tmp_path / "schemas")

    generate(tmp_path / "schemas", tmp_path / "generated")

    text = (tmp_path / "generated/models/words/greet.py").read_text("utf-8")
    assert "from generated.models.common.class_ import Word\n" in text
    assert (tmp_path / "generated/models/common/class_.py").is_file()


def test_a_missing_formatter_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(GOLDEN / "whole/in", tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    monkeypatch.setattr(ruff, "find_ruff_bin", lambda: str(tmp_path / "absent" / "ruff"))

    with pytest.raises(ContractError, match="ruff, which formats generated code, cannot be run"):
        generate(tmp_path / "schemas", tmp_path / "generated")
