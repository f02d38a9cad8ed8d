"""The files of a new project."""

import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from gateway.authoring.project.staging import name_of, new_project
from gateway.errors import ConfigurationError
from gateway.installed import Origin, Repository
from tests.gateway_process import REPOSITORY

INDEX = PurePosixPath("schemas/openapi.yaml")


@pytest.fixture(scope="module")
def files():
    return new_project("no", "1.2.3")


def test_a_name_that_yaml_could_misread_stays_a_text(files):
    assert yaml.safe_load(files[INDEX])["info"]["title"] == "no"


def test_the_version_is_pinned(files):
    assert files[PurePosixPath("requirements.txt")] == b"contract-gateway[author,test]==1.2.3\n"


def test_what_no_index_has_is_pinned_to_where_it_came_from():
    origin = Origin(url="https://git.example/gateway.git", vcs_info=Repository("git", "0a1b"))
    made = new_project("no", "1.2.3", origin)[PurePosixPath("requirements.txt")]
    pinned = b"contract-gateway[author,test] @ git+https://git.example/gateway.git@0a1b\n"
    assert made == pinned


def test_the_image_is_sent_what_it_copies_and_installs_what_is_pinned(files):
    text = files[PurePosixPath("Dockerfile")].decode()
    copied = re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", text)
    sources = {source for line in copied for source in line.split()}
    folders = {"wheels" if each.startswith("wheel[s]") else each for each in sources}
    allowed = files[PurePosixPath(".dockerignore")].decode().splitlines()
    assert {line[1:] for line in allowed if line.startswith("!")} == folders
    made = {path.parts[0] for path in files}
    assert folders - {"wheels"} <= made
    ours = (REPOSITORY / "scripts/deploy/Dockerfile").read_text("utf-8")
    [version] = re.findall(r"PYTHON_IMAGE=python:([\d.]+)-slim", ours)
    assert re.findall(r"(?m)^FROM python:([\d.]+)-", text) == [version, version]
    assert b"[author,test]" in files[PurePosixPath("requirements.txt")], "the build takes it away"


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
