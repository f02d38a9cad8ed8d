"""One run of the generator: what it writes, what it reports, what it refuses."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import ruff

from gateway.authoring.codegen import snapshot
from gateway.authoring.codegen.generate import GenerateReport, PackageNames, generate
from gateway.authoring.codegen.snapshot import CACHE_FOLDER
from gateway.authoring.codegen.write import Difference
from gateway.authoring.contracts import cache, meta
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.mapping.fields import BindingSource, MappingError, check
from gateway.errors import ContractError
from tests.unit.edits import Edit, edited, rewrite

ROOT = Path(__file__).parents[4]


class Project(NamedTuple):
    """A folder with contracts, and where its generated files go."""

    root: Path

    @property
    def schemas(self) -> Path:
        return self.root / "schemas"

    @property
    def out(self) -> Path:
        return self.root / "generated"

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    def generate(self, *, check: bool = False) -> GenerateReport:
        return generate(self.schemas, self.out, self.docs, check=check)

    def texts(self) -> dict[str, bytes]:
        files = [*self.out.rglob("*"), *self.docs.rglob("*")]
        return {str(f.relative_to(self.root)): f.read_bytes() for f in files if f.is_file()}

    def edit(self, name: str, old: str, new: str) -> None:
        rewrite(self.root / name, old, new)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two tools, one of an upstream and one in Python; nothing generated yet."""
    return _new(tmp_path)


def _new(root: Path) -> Project:
    shutil.copytree(ROOT / "tests/golden/whole/in", root / "schemas")
    meta.install(root / "schemas")
    return Project(root)


@pytest.fixture(scope="module")
def _generated_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = _new(tmp_path_factory.mktemp("generated") / "project")
    made.generate()
    return made


@pytest.fixture
def generated(_generated_once: Project, tmp_path: Path) -> Project:
    """The same, after a first run."""
    shutil.copytree(_generated_once.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def test_a_second_run_changes_nothing_and_makes_nothing_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    remember = cache.Cache.remember

    def watched(self: cache.Cache, kind: str, basis: str, make: Callable[[], str]) -> str:
        def make_and_note() -> str:
            made.append(kind)
            return make()

        return remember(self, kind, basis, make_and_note)

    monkeypatch.setattr(cache.Cache, "remember", watched)
    first = project.generate()
    made_first, before = len(made), project.texts()
    second = project.generate()

    assert (first.tools, first.files, len(first.changes)) == (2, len(before), len(before))
    assert made_first > first.tools
    assert second.changes == ()
    assert len(made) == made_first
    assert project.texts() == before


def test_a_check_of_what_was_generated_is_clean_and_writes_nothing(generated: Project) -> None:
    before = generated.texts()

    report = generated.generate(check=True)

    assert not report.is_stale
    assert report.diff(generated.root) == ""
    assert generated.texts() == before


def test_a_check_reports_a_hand_edit_a_missing_and_a_surplus_file(generated: Project) -> None:
    generated.edit("generated/policies.py", "words.greet", "words.shout")
    (generated.docs / "demo/show.md").unlink()
    (generated.out / "models/left_over.py").write_text("# Generated from schemas/x", "utf-8")
    before = generated.texts()

    report = generated.generate(check=True)

    assert report.is_stale
    assert {c.path.name: c.difference for c in report.changes} == {
        "policies.py": Difference.CHANGED,
        "show.md": Difference.MISSING,
        "left_over.py": Difference.EXTRA,
    }
    diff = report.diff(generated.root)
    assert "--- a/generated/policies.py\n+++ b/generated/policies.py\n" in diff
    assert '-                "words.shout",\n+                "words.greet",\n' in diff
    assert generated.texts() == before


def test_a_run_puts_everything_right_again(generated: Project) -> None:
    before = generated.texts()
    generated.edit("generated/policies.py", "words.greet", "words.shout")
    (generated.docs / "demo/show.md").unlink()
    (generated.out / "models/left_over.py").write_text("# Generated from schemas/x", "utf-8")

    generated.generate()

    assert generated.texts() == before


def test_a_tool_that_is_gone_takes_its_files_with_it(generated: Project) -> None:
    for file in generated.schemas.glob("tools/words/*"):
        file.unlink()
    for line in (
        "  - name: words\n    description: Tools of words.\n",
        "  /v1/words/greet: {$ref: ./tools/words/greet.yaml}\n",
    ):
        generated.edit("schemas/openapi.yaml", line, "")

    generated.generate()

    assert [name for name in generated.texts() if "words" in name] == []
    assert b"words" not in generated.texts()["generated/openapi.json"]


def test_every_text_file_says_where_it_comes_from(generated: Project) -> None:
    texts = {name: text for name, text in generated.texts().items() if not name.endswith(".json")}
    assert texts
    for name, text in texts.items():
        lines = text.decode().splitlines()[:4]
        opening = " ".join(lines)
        assert "Generated from schemas/" in opening, name
        assert "Regenerate with: gateway generate" in opening, name
        assert "Source closure sha256: " in opening, name


def test_one_changed_contract_changes_only_what_depends_on_it(generated: Project) -> None:
    generated.edit("schemas/tools/words/greet.input.json", '"maxLength": 100', '"maxLength": 90')

    report = generated.generate()

    assert {str(change.path.relative_to(generated.root)) for change in report.changes} == {
        "docs/words/greet.md",
        "generated/bindings/words/greet.py",
        "generated/models/words/greet.py",
        "generated/pages.json",
        "generated/openapi.json",
        "generated/operations/words.py",
        "generated/tools.json",
        "generated/tools/words.py",
    }


def test_a_binding_that_did_not_change_is_not_proved_again(
    generated: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the index changed, so that everything is linted again."""
    proved: list[str] = []

    def count(source: BindingSource) -> tuple[MappingError, ...]:
        proved.append(source.tool_id)
        return check(source)

    monkeypatch.setattr("gateway.authoring.lint.bindings.check", count)
    generated.edit("schemas/openapi.yaml", "title: Whole", "title: Other")
    generated.generate()
    assert proved == []

    generated.edit("schemas/openapi.yaml", "title: Other", "title: Whole")
    generated.edit("schemas/tools/demo/show.yaml", "limit: 50\n", "limit: 40\n")
    generated.generate()
    assert proved == ["demo.show"]


@pytest.mark.parametrize("damage", [b"", b"\x00" * 64])
@pytest.mark.parametrize("name", [cache.RENDERINGS, snapshot.FILE_NAME])
def test_a_damaged_cache_does_not_change_the_output(
    generated: Project, name: str, damage: bytes
) -> None:
    before = generated.texts()
    (generated.root / CACHE_FOLDER / name).write_bytes(damage)

    report = generated.generate()

    assert report.changes == ()
    assert generated.texts() == before


@pytest.mark.parametrize("name", [cache.RENDERINGS, snapshot.FILE_NAME])
def test_a_poisoned_cache_does_not_change_the_output(generated: Project, name: str) -> None:
    """A text that was edited inside the cache no longer fits its proof."""
    before = generated.texts()
    file = generated.root / CACHE_FOLDER / name
    assert b"Greet" in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(b"Greet", b"Shout"))

    report = generated.generate()

    assert report.changes == ()
    assert generated.texts() == before


def test_contracts_that_the_lint_refuses_are_not_generated(project: Project) -> None:
    """With the finding's place, and before anything is written."""
    project.edit("schemas/tools/words/greet.input.json", '"type": "string"', '"type": "text"')

    with pytest.raises(ContractRefused) as caught:
        project.generate()

    assert {finding.path for finding in caught.value.findings} == {"tools/words/greet.input.json"}
    assert "/properties/name/type" in {finding.pointer for finding in caught.value.findings}
    assert project.texts() == {}


@pytest.mark.parametrize("name", ["not-a-package", "class", "1st"])
def test_a_folder_that_cannot_be_a_package_is_refused(project: Project, name: str) -> None:
    with pytest.raises(ContractError, match=rf"'{name}' cannot be the name of a"):
        generate(project.schemas, project.root / name)


def test_a_folder_with_a_persons_files_is_refused(project: Project) -> None:
    (project.out).mkdir()
    (project.out / "__init__.py").write_text("import mine\n", "utf-8")

    with pytest.raises(ContractError, match=r"__init__\.py was not written by the generator"):
        project.generate()

    assert list(project.texts()) == ["generated/__init__.py"]


def test_without_a_folder_for_pages_none_are_written(project: Project) -> None:
    generate(project.schemas, project.out)

    assert not project.docs.exists()


def test_the_package_is_called_like_its_folder(project: Project) -> None:
    generate(project.schemas, project.root / "our_tools")

    texts = [path.read_text("utf-8") for path in (project.root / "our_tools").rglob("*.py")]
    assert any("from our_tools.bindings.demo import show" in text for text in texts)
    assert not [text for text in texts if "from generated" in text]


def test_the_package_may_lie_inside_another(project: Project) -> None:
    generate(
        project.schemas,
        project.root / "ours/generated",
        names=PackageNames(package="ours.generated"),
    )

    texts = [path.read_text("utf-8") for path in (project.root / "ours").rglob("*.py")]
    assert any("from ours.generated.bindings.demo import show" in text for text in texts)
    assert any("from ours.generated.models.words.greet import GreetInput" in t for t in texts)
    assert not [text for text in texts if "from generated" in text]


def test_progress_is_reported_step_by_step(project: Project) -> None:
    steps: list[str] = []

    generate(project.schemas, project.out, progress=steps.append)

    assert [step.split()[0] for step in steps] == ["reading", "linting", "rendering", "comparing"]


GOLDEN = Path(__file__).parents[3] / "golden"


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
        words = schemas / "tools/words/greet.input.json"
        rewrite(words, '"properties": {', f'"properties": {{{member},')

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
            '"Problem": {',
            '"problem": {"description": "Another.", "type": "null"}, "Problem": {',
        ),
        r"schemas/common/problem\.json: .* have the same Python name Problem",
    ),
    "objects without names": (
        edited(
            "tools/words/greet.input.json",
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
