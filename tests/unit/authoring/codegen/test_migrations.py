"""The tables of entities follow their contracts by revisions that are added and never changed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.errors import ContractError
from tests.entity_contracts import Shelf, entity, text


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A project with one kind, after its first run."""
    shelf = Shelf(tmp_path_factory.mktemp("made"))
    shelf.declare(loans=entity(status=text()))
    assert shelf.generate()
    return shelf


@pytest.fixture
def shelf(made: Shelf, tmp_path: Path) -> Shelf:
    """A copy of it."""
    copy = Shelf(tmp_path)
    shutil.copytree(made.root, tmp_path, dirs_exist_ok=True)
    return copy


def test_a_kind_that_is_new_makes_a_table(shelf: Shelf) -> None:
    assert list(shelf.revisions) == ["v0001_make_loans.py"]
    assert shelf.head == 'HEAD: Final[str | None] = "0001"'
    assert not shelf.generate(check=True)


def test_without_kinds_there_is_no_revision(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.generate()
    assert shelf.revisions == {}
    assert shelf.head == "HEAD: Final[str | None] = None"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda new: new["properties"].update(due=text()), "v0002_add_due_to_loans.py"),
        (lambda new: new["x-entity"]["filters"].append("status"), "v0002_index_loans_by_status.py"),
    ],
)
def test_what_is_new_makes_a_revision_and_leaves_the_others(
    shelf: Shelf, change: Callable[[Any], None], name: str
) -> None:
    first = shelf.revisions
    new = entity(status=text())
    change(new)
    shelf.declare(loans=new)
    assert shelf.generate(check=True)
    shelf.generate()
    assert shelf.revisions == first | {name: shelf.revisions[name]}
    assert 'down_revision: Final[str | None] = "0001"' in shelf.revisions[name]
    assert not shelf.generate(check=True)


@pytest.mark.parametrize(
    "changed",
    [entity(), entity(status=text(maxLength=5))],
    ids=["a property that is gone", "another length"],
)
def test_what_changes_no_table_makes_no_revision(shelf: Shelf, changed: dict[str, Any]) -> None:
    before = shelf.revisions
    shelf.declare(loans=changed)
    shelf.generate()
    assert shelf.revisions == before


def test_a_kind_or_property_that_comes_back_finds_its_table(shelf: Shelf) -> None:
    before = shelf.revisions
    shelf.declare()
    shelf.generate()
    shelf.declare(loans=entity())
    shelf.generate()
    shelf.declare(loans=entity(status=text()))
    shelf.generate()
    assert shelf.revisions == before


def _with_another_key() -> dict[str, Any]:
    changed = entity(status=text())
    changed["properties"]["status"]["type"] = "string"
    changed["required"].append("status")
    changed["x-entity"]["key"].append("status")
    return changed


@pytest.mark.parametrize(
    ("changed", "pointer", "message"),
    [
        (
            entity(status={"description": "A count.", "type": ["integer", "null"]}),
            "/properties/status",
            "the type has changed from text to integer",
        ),
        (_with_another_key(), "/x-entity/key", "the key has changed"),
    ],
)
def test_what_rows_could_not_follow_is_refused(
    shelf: Shelf, changed: dict[str, Any], pointer: str, message: str
) -> None:
    before = shelf.revisions
    shelf.declare(loans=changed)
    with pytest.raises(ContractRefused) as refused:
        shelf.generate()
    (finding,) = refused.value.findings
    assert (finding.rule, finding.path, finding.pointer, finding.message) == (
        "entity/retyped",
        "entities/loans.json",
        pointer,
        message,
    )
    assert shelf.revisions == before


def test_a_property_that_is_gone_may_not_come_back_as_something_else(shelf: Shelf) -> None:
    shelf.declare(loans=entity())
    shelf.generate()
    shelf.declare(loans=entity(status={"description": "N.", "type": ["integer", "null"]}))
    with pytest.raises(ContractRefused, match="entity/retyped"):
        shelf.generate()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda file: file.write_text("def broken("), "is damaged"),
        (lambda file: file.write_text("SHAPES = {}\n"), "is damaged"),
        (lambda file: file.write_text('SHAPES: dict = {"loans": 1}\n'), "is damaged"),
        (lambda file: file.rename(file.with_name("v0003_later.py")), "should be revision 0001"),
        (
            lambda file: shutil.copy(file, file.with_name("v0001_twice.py")),
            "should be revision 0002",
        ),
    ],
)
def test_a_damaged_record_is_reported_and_nothing_written(
    shelf: Shelf, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(shelf.root / "generated/migrations/v0001_make_loans.py")
    before = shelf.revisions
    with pytest.raises(ContractError, match=message):
        shelf.generate()
    assert shelf.revisions == before
