"""Vectors that an author keeps are used as they are, and never although they are wrong."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.testing.kept_vectors import ContractSchema, read_kept, vectors_for, written
from gateway.testing.vectors import Vector

CONTRACT = ContractSchema(
    subject="acme.count input",
    path=PurePosixPath("tools/acme/count.input.json"),
    schema={"type": "integer", "maximum": 3},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schemas/tools/acme").mkdir(parents=True)
    return tmp_path / "schemas"


def keep(folder: Path, **changes: Any) -> Path:
    made = vectors_for(CONTRACT, folder).vectors
    value = {**json.loads(written(CONTRACT, made)), **changes}
    file = folder / "tools/acme/count.input.vectors.json"
    file.write_text(json.dumps(value))
    return file


def test_kept_vectors_are_those_that_were_written(folder: Path) -> None:
    made = vectors_for(CONTRACT, folder)
    keep(folder)

    assert read_kept(CONTRACT, folder) == made.vectors
    assert vectors_for(CONTRACT, folder).killed == made.killed


def test_without_a_file_nothing_is_kept(folder: Path) -> None:
    assert read_kept(CONTRACT, folder) is None


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"schema": "0"}, "#/schema"),
        ({"digest": "0"}, "#/digest"),
        ({"vectors": []}, "#/digest"),
        ({"vectors": [{"name": "a", "valid": True, "value": 3}]}, "#/digest"),
        ({"vectors": [{"name": "a", "valid": True, "value": 4}]}, "#/vectors/0/valid"),
        ({"vectors": [{"name": "a", "valid": True, "value": 1}] * 2}, "#/vectors/1/name"),
        ({"vectors": [{"name": "a", "valid": "yes", "value": 1}]}, "another form"),
        ({"vectors": [{"name": "a", "valid": True, "value": 1, "kills": []}]}, "another form"),
    ],
)
def test_a_file_edited_by_hand_is_refused_where_it_is_wrong(
    folder: Path, changes: dict[str, Any], where: str
) -> None:
    keep(folder, **changes)

    with pytest.raises(ConfigurationError, match=r"count\.input\.vectors\.json") as refused:
        vectors_for(CONTRACT, folder)
    assert where in str(refused.value)
    assert "gateway vectors --keep" in str(refused.value)


def test_text_that_is_no_json_is_refused(folder: Path) -> None:
    keep(folder).write_bytes(b"{")

    with pytest.raises(ConfigurationError, match="another form"):
        read_kept(CONTRACT, folder)


def test_few_kept_vectors_leave_survivors(folder: Path) -> None:
    few = written(CONTRACT, [Vector(name="a", valid=True, value=3)])
    (folder / CONTRACT.vectors_path).write_text(few)

    found = vectors_for(CONTRACT, folder)

    assert "/maximum 3 → 4" in found.survivors
    assert found.score < 1
