"""The files of a new project."""

from pathlib import Path, PurePosixPath

import pytest
import yaml

from gateway.errors import ConfigurationError
from gateway.project.starting import name_of, new_project

INDEX = PurePosixPath("schemas/openapi.yaml")


@pytest.fixture(scope="module")
def files():
    return new_project("no", "1.2.3")


def test_a_name_that_yaml_could_misread_stays_a_text(files):
    assert yaml.safe_load(files[INDEX])["info"]["title"] == "no"


def test_the_version_is_pinned(files):
    assert files[PurePosixPath("requirements.txt")] == b"contract-gateway[author,test]==1.2.3\n"


def test_the_file_that_makes_it_a_project_is_written_last(files):
    assert list(files)[-1] == INDEX


def test_no_mark_of_the_template_is_left(files):
    texts = {path: text for path, text in files.items() if path.parts[0] != "generated"}
    assert [path for path, text in texts.items() if b"@NAME@" in text or b"@VERSION@" in text] == []


def test_no_path_of_this_machine_is_in_it(files):
    assert [path for path, text in files.items() if b"gateway-init-" in text] == []


@pytest.mark.parametrize("name", ["", "-x", "a\nb", 'a"b', "é", "a" * 81])
def test_a_name_that_contracts_could_not_hold_is_refused(name):
    with pytest.raises(ConfigurationError, match="; choose another --name"):
        new_project(name, "1.2.3")


def test_a_project_has_the_name_of_its_folder_if_it_can(tmp_path: Path):
    assert name_of(tmp_path / "my-gateway") == "my-gateway"
    assert name_of(tmp_path / 'it"s') == "gateway-project"
