"""Folders are compared both ways, and nothing that a person wrote is lost."""

import errno
from pathlib import Path

import pytest

from gateway.authoring.codegen.write import MARK, Difference, apply, compare
from gateway.errors import ContractError

HEADER = f"# {MARK}x.yaml. DO NOT EDIT.\n"
DATA = ("tools.json", "openapi.json", "upstreams/demo.json")


def files(folder: Path, **texts: str) -> dict[Path, bytes]:
    return {folder / f"{name}.py": (HEADER + text).encode() for name, text in texts.items()}


def differences(folder: Path, wanted: dict[Path, bytes]) -> dict[str, Difference]:
    return {change.path.stem: change.difference for change in compare([folder], wanted)}


def test_missing_changed_and_extra_files_are_each_distinguished(tmp_path: Path) -> None:
    apply(compare([tmp_path], files(tmp_path, same="1", changed="1", extra="1")))

    found = differences(tmp_path, files(tmp_path, same="1", changed="2", missing="1"))

    assert found == {
        "changed": Difference.CHANGED,
        "extra": Difference.EXTRA,
        "missing": Difference.MISSING,
    }


def test_writing_makes_the_folder_what_it_should_be(tmp_path: Path) -> None:
    apply(compare([tmp_path], files(tmp_path / "deep", old="1", kept="1")))
    wanted = files(tmp_path / "deep", kept="2", new="1")

    apply(compare([tmp_path], wanted))

    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == wanted


def test_a_folder_without_files_goes_with_its_last_file(tmp_path: Path) -> None:
    """Also when Python left compiled modules in it, which would still be importable."""
    apply(compare([tmp_path], files(tmp_path / "gone", module="1")))
    (tmp_path / "gone/__pycache__").mkdir()
    (tmp_path / "gone/__pycache__/module.cpython-311.pyc").write_bytes(b"")

    apply(compare([tmp_path], files(tmp_path / "kept", module="1")))

    assert not (tmp_path / "gone").exists()


def test_compiled_modules_are_not_extra_files(tmp_path: Path) -> None:
    wanted = files(tmp_path, module="1")
    apply(compare([tmp_path], wanted))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/module.cpython-311.pyc").write_bytes(b"")

    assert compare([tmp_path], wanted) == ()


@pytest.mark.parametrize("name", ["extra.py", "wanted.py"])
def test_a_file_that_a_person_wrote_is_never_overwritten_or_deleted(
    tmp_path: Path, name: str
) -> None:
    """It stops everything, before the first file is touched."""
    (tmp_path / name).write_text("print('by hand')\n", "utf-8")
    changes = compare([tmp_path], files(tmp_path, wanted="1", another="1"))

    with pytest.raises(ContractError, match=f"{name} was not written by the generator"):
        apply(changes)

    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "config.json",
        "models/tools.json",
        "upstreams/deep/demo.json",
        "settings.partial",
        "a.gateway-draft/notes.txt",
    ],
)
def test_data_that_the_generator_never_wrote_is_not_deleted(tmp_path: Path, name: str) -> None:
    """JSON cannot hold the mark, so that only the generator's own places are its own."""
    wanted = files(tmp_path, __init__="")
    apply(compare([tmp_path], wanted))
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text('{"mine": true}', "utf-8")

    with pytest.raises(ContractError, match=f"{name} was not written by the generator"):
        apply(compare([tmp_path], wanted))

    assert (tmp_path / name).read_text("utf-8") == '{"mine": true}'


@pytest.mark.parametrize("name", DATA)
def test_data_in_a_folder_that_is_no_generated_package_is_not_touched(
    tmp_path: Path, name: str
) -> None:
    """Neither beside pages of the reference nor in a person's own package."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text('{"mine": true}', "utf-8")

    for wanted in ({}, {tmp_path / name: "{}\n"}):
        with pytest.raises(ContractError, match=f"{name} was not written by the generator"):
            apply(compare([tmp_path], wanted))


@pytest.mark.parametrize("name", DATA)
def test_data_in_its_place_is_put_right_and_removed(tmp_path: Path, name: str) -> None:
    package = files(tmp_path, __init__="")
    wanted = package | {tmp_path / name: b"{}\n"}
    apply(compare([tmp_path], wanted))
    (tmp_path / name).write_text('{"edited": true}', "utf-8")

    apply(compare([tmp_path], wanted))
    assert (tmp_path / name).read_text("utf-8") == "{}\n"

    apply(compare([tmp_path], package))
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_file_that_cannot_be_read_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_wanted: bool
) -> None:
    """The tests may run as root, which can read all files."""
    wanted = files(tmp_path, module="1")
    apply(compare([tmp_path], wanted))

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)

    with pytest.raises(ContractError, match=r"module\.py cannot be read: Permission denied"):
        compare([tmp_path], wanted if is_wanted else {})


def test_a_file_edited_by_hand_is_put_right(tmp_path: Path) -> None:
    wanted = files(tmp_path, module="1\n")
    apply(compare([tmp_path], wanted))
    with (tmp_path / "module.py").open("a") as file:
        file.write("edited = True\n")

    changes = compare([tmp_path], wanted)
    apply(changes)

    assert [change.difference for change in changes] == [Difference.CHANGED]
    assert compare([tmp_path], wanted) == ()


def test_a_diff_leads_from_what_is_there_to_what_should_be(tmp_path: Path) -> None:
    apply(compare([tmp_path], files(tmp_path, changed="old\n", extra="surplus\n")))
    wanted = files(tmp_path, changed="new\n", missing="no line end")

    text = "".join(change.diff(change.path.name) for change in compare([tmp_path], wanted))

    assert "--- a/changed.py\n+++ b/changed.py\n" in text
    assert "-old\n+new\n" in text
    assert "--- a/extra.py\n+++ /dev/null\n" in text
    assert "--- /dev/null\n+++ b/missing.py\n" in text
    assert text.endswith("+no line end\n")


def test_what_an_interrupted_run_left_is_cleaned_up(tmp_path: Path) -> None:
    wanted = files(tmp_path, module="1")
    drafts: list[str] = []

    def interrupt(draft: Path, _: Path) -> None:
        drafts.append(draft.name)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", interrupt)
        changes = compare([tmp_path], wanted)
        with pytest.raises(KeyboardInterrupt):
            apply(changes)
    assert [path.name for path in tmp_path.iterdir()] == drafts

    apply(compare([tmp_path], wanted))

    assert [path.name for path in tmp_path.iterdir()] == ["module.py"]


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way", "utf-8")

    with pytest.raises(ContractError, match=r"out/module\.py cannot be written: "):
        apply(compare([tmp_path / "out"], files(tmp_path / "out", module="1")))


def test_empty_files_of_a_person_stay(tmp_path: Path) -> None:
    """They mark a folder for git or for type checkers. The generator writes none."""
    wanted = files(tmp_path, module="1")
    apply(compare([tmp_path], wanted))
    for name in (".gitkeep", "py.typed"):
        (tmp_path / name).touch()

    assert compare([tmp_path], wanted) == ()


def test_a_generated_file_that_is_empty_is_put_right(tmp_path: Path) -> None:
    wanted = files(tmp_path, module="1")
    apply(compare([tmp_path], wanted))
    (tmp_path / "module.py").write_bytes(b"")

    assert differences(tmp_path, wanted) == {"module": Difference.CHANGED}
