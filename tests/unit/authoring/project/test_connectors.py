"""Ready connectors: their files, what an addition changes, and what a new project has."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path, PurePosixPath

import pytest
import yaml

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.project.changes import place
from gateway.authoring.project.connectors import (
    add_connectors,
    files_of,
    known_connectors,
    ready_connectors,
    sent_files,
)
from gateway.authoring.project.merging import with_entries, with_nested
from gateway.authoring.project.staging import OWN_PACKAGES, Project, name_of, new_project
from gateway.errors import ConfigurationError
from gateway.installed import Origin, Repository
from gateway.library import library_folder
from tests.gateway_process import REPOSITORY


@pytest.fixture(scope="module")
def library():
    return read_tree(library_folder() / "schemas")


def files(library, *names):
    return {str(path) for path in files_of(library, names)}


def test_in_a_checkout_the_library_is_the_repository():
    assert library_folder() == Path(__file__).parents[4]


def test_the_upstream_of_another_connector_comes_without_its_tools(library):
    found = files(library, "amadeus")
    assert "upstreams/frankfurter/openapi.yaml" in found
    assert not any(path.startswith("tools/frankfurter/") for path in found)


def test_what_a_webhook_writes_publishes_and_calls_comes_with_it(library):
    found = files(library, "avinode")
    assert {
        "webhooks/avinode/quote_received.payload.json",
        "entities/quotes.json",
        "events/quote.received.v1.yaml",
        "events/quote.received.v1.json",
        "tools/gmail/send_template_email.yaml",
        "tools/gmail/get_email.yaml",
        "upstreams/gmail/openapi.yaml",
    } <= found


def test_rows_that_tables_show_come_with_them(library):
    assert "entities/requests.json" in files(library, "supabase")


def test_a_tool_that_an_entity_declares_is_that_entitys_file(library):
    found = files(library, "entities")
    assert "entities/trips.json" in found
    assert not any(path.startswith("tools/") for path in found)


def test_what_its_resources_send_as_it_is_comes_with_a_connector(library):
    paths = files_of(library, ["avinode"])
    assert PurePosixPath("resources/avinode/request_checklist.yaml") in paths
    assert {str(path) for path in sent_files(library, paths)} == {
        "resources/avinode/files/request_checklist.md"
    }


def test_all_connectors_together_are_everything_that_is_not_of_every_project(library):
    names = [connector.name for connector in ready_connectors(library)]
    written = {str(path) for path, each in library.documents.items() if each.declared is None}
    left = written - files(library, *names)
    of_every_project = {path for path in left if path.startswith("events/")}
    alone = {"common/content.json", "openapi.yaml", "policies/agents.yaml"}
    # Workflows call tools of several connectors.
    workflows = {path for path in left if path.startswith("workflows/")}
    assert left - of_every_project - workflows == alone
    assert {path.split(".")[0] for path in of_every_project} == {
        *("events/contract", "events/endpoint", "events/job", "events/webhook")
    }


def test_an_unknown_name_gets_the_similar_one(library):
    with pytest.raises(ConfigurationError, match="'gmial'; did you mean gmail"):
        known_connectors(library, ["gmial"])


INDEX = PurePosixPath("schemas/openapi.yaml")


@pytest.fixture(scope="module")
def files_of_starting():
    return new_project("no", "1.2.3")


def test_a_name_that_yaml_could_misread_stays_a_text(files_of_starting):
    assert yaml.safe_load(files_of_starting[INDEX])["info"]["title"] == "no"


def test_the_version_is_pinned(files_of_starting):
    assert (
        files_of_starting[PurePosixPath("requirements.txt")]
        == b"contract-gateway[author,test]==1.2.3\n"
    )


def test_what_no_index_has_is_pinned_to_where_it_came_from():
    origin = Origin(url="https://git.example/gateway.git", vcs_info=Repository("git", "0a1b"))
    made = new_project("no", "1.2.3", origin)[PurePosixPath("requirements.txt")]
    pinned = b"contract-gateway[author,test] @ git+https://git.example/gateway.git@0a1b\n"
    assert made == pinned


def test_the_image_is_sent_what_it_copies_and_installs_what_is_pinned(files_of_starting):
    text = files_of_starting[PurePosixPath("Dockerfile")].decode()
    copied = re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", text)
    sources = {source for line in copied for source in line.split()}
    folders = {"wheels" if each.startswith("wheel[s]") else each for each in sources}
    allowed = files_of_starting[PurePosixPath(".dockerignore")].decode().splitlines()
    assert {line[1:] for line in allowed if line.startswith("!")} == folders
    made = {path.parts[0] for path in files_of_starting}
    assert folders - {"wheels"} <= made
    ours = (REPOSITORY / "scripts/deploy/Dockerfile").read_text("utf-8")
    [version] = re.findall(r"PYTHON_IMAGE=python:([\d.]+)-slim", ours)
    assert re.findall(r"(?m)^FROM python:([\d.]+)-", text) == [version, version]
    assert b"[author,test]" in files_of_starting[PurePosixPath("requirements.txt")], (
        "the build takes it away"
    )


def test_the_file_that_makes_it_a_project_is_written_last(files_of_starting):
    assert list(files_of_starting)[-1] == INDEX


def test_no_mark_of_the_template_is_left(files_of_starting):
    texts = {path: text for path, text in files_of_starting.items() if path.parts[0] != "generated"}
    assert [path for path, text in texts.items() if b"@NAME@" in text or b"@VERSION@" in text] == []


def test_no_path_of_this_machine_is_in_it(files_of_starting):
    assert [path for path, text in files_of_starting.items() if b"gateway-init-" in text] == []


@pytest.mark.parametrize("name", ["", "-x", "a\nb", 'a"b', "é", "a" * 81])
def test_a_name_that_contracts_could_not_hold_is_refused(name):
    with pytest.raises(ConfigurationError, match="; choose another --name"):
        new_project(name, "1.2.3")


def test_a_project_has_the_name_of_its_folder_if_it_can(tmp_path: Path):
    assert name_of(tmp_path / "my-gateway") == "my-gateway"
    assert name_of(tmp_path / 'it"s') == "gateway-project"


TEXT = """\
# The index.
tags:
  - name: one   # first
    description: One.

# About paths.
paths:
  /v1/a: {$ref: ./a.yaml}
"""


def test_an_entry_follows_the_last_one_of_its_section():
    assert with_entries(TEXT, "tags", ["- name: two\n  description: Two."], "i.yaml") == (
        TEXT.replace("One.\n", "One.\n  - name: two\n    description: Two.\n")
    )


def test_the_last_section_grows_at_the_end_of_the_file():
    assert with_entries(TEXT, "paths", ["/v1/b: 1"], "i.yaml") == f"{TEXT}  /v1/b: 1\n"


def test_a_missing_section_is_made():
    found = with_entries(TEXT, "x-upstreams", ["- ./u.yaml"], "i.yaml")
    assert found == f"{TEXT}x-upstreams:\n  - ./u.yaml\n"


def test_a_list_without_indentation_keeps_that():
    text = "x-upstreams:\n- ./a.yaml\npaths: {}\n"
    found = with_entries(text, "x-upstreams", ["- ./b.yaml"], "i.yaml")
    assert found == "x-upstreams:\n- ./a.yaml\n- ./b.yaml\npaths: {}\n"


@pytest.mark.parametrize("empty", ["tags:", "tags: []", "tags: []  # none yet"])
def test_an_empty_section_gets_its_first_entry(empty):
    found = with_entries(f"{empty}\npaths: {{}}\n", "tags", ["- name: two"], "i.yaml")
    assert yaml.safe_load(found) == {"tags": [{"name": "two"}], "paths": {}}


def test_a_section_on_one_line_is_refused_with_its_place():
    with pytest.raises(ConfigurationError, match=r"^i\.yaml:2: tags is written on one line, "):
        with_entries("openapi: 3.1.1\ntags: [{name: one}]\n", "tags", ["- name: two"], "i.yaml")


def test_nothing_to_add_changes_nothing():
    assert with_entries("tags: [x]", "tags", [], "i.yaml") == "tags: [x]"


def test_a_line_separator_in_a_text_does_not_end_a_line():
    text = 'agents:\n  one:\n    description: "a\u2028agents:\u2028x\x85y"\npaths: {}\n'
    found = with_entries(text, "agents", ["two: 1"], "i.yaml")
    assert found == text.replace("paths", "  two: 1\npaths")


def test_lines_keep_their_ends():
    found = with_entries(TEXT.replace("\n", "\r\n"), "tags", ["- name: two\n  x: 1"], "i.yaml")
    assert found == with_entries(TEXT, "tags", ["- name: two\n  x: 1"], "i.yaml").replace(
        "\n", "\r\n"
    )
    made = with_entries(TEXT.replace("\n", "\r\n"), "x-upstreams", ["- u"], "i.yaml")
    assert made.endswith("{$ref: ./a.yaml}\r\nx-upstreams:\r\n  - u\r\n")


NESTED = """\
post:
  description: >-
    events:
  x-webhook:
    events: # of the provider
      one:
        profiles: [signed]
        # Does it write rows?

      # The second.
      two: {}
    # After the events.
  responses:
    events:
      other: 1
"""


def test_a_nested_entry_follows_the_last_one_and_its_comments():
    found = with_nested(NESTED, ("post", "x-webhook", "events"), ["three: {}"], "w.yaml")
    assert found == NESTED.replace("two: {}\n", "two: {}\n      three: {}\n")
    found = with_nested(found, ("post", "responses"), ["more: 1"], "w.yaml")
    assert found.endswith("      other: 1\n    more: 1\n")


def test_a_comment_that_belongs_to_the_last_entry_stays_with_it():
    text = "a:\n  one:\n    x: 1\n    # of one\n# of nothing\nb: 1\n"
    found = with_nested(text, ("a",), ["two: 2"], "w.yaml")
    assert found == text.replace("# of one\n", "# of one\n  two: 2\n")


def test_a_list_at_the_indentation_of_its_name_grows():
    text = "a:\n  anyOf:\n  - 1\n  - 2\n  b: 1\n"
    assert with_nested(text, ("a", "anyOf"), ["- 3"], "w.yaml") == text.replace(
        "  - 2\n", "  - 2\n  - 3\n"
    )


@pytest.mark.parametrize("text", ["a: {b: {}}\n", "a:\n  b: {c: 1}\n", "b:\n  c: 1\n"])
def test_a_nested_entry_has_no_place_in_flow_style(text):
    with pytest.raises(ConfigurationError, match=r"of `a\.b` is not on a line of its own"):
        with_nested(text, ("a", "b"), ["x: 1"], "w.yaml")


@pytest.fixture(scope="module")
def with_ntfy(tmp_path_factory, files):
    """A folder with a project to which a connector was added."""
    folder = tmp_path_factory.mktemp("added")
    place(folder, files)
    place(folder, add_connectors(project_in(folder, "1.0.0"), ("ntfy",)).files)
    return folder


def project_in(folder: Path, version: str) -> Project:
    return Project(
        folder=folder, schemas=folder / "schemas", handler_packages=OWN_PACKAGES, version=version
    )


def test_a_connector_brings_files_listings_an_agent_settings_and_a_pin(project, tmp_path):
    added = add_connectors(project, ("ntfy",))
    place(tmp_path, added.files)

    assert added.tools == ("ntfy.send_push_notification",)
    index = (tmp_path / "schemas/openapi.yaml").read_text("utf-8")
    assert "/v1/ntfy/send_push_notification: {$ref: ./tools/ntfy/" in index
    assert "  - ./upstreams/ntfy/openapi.yaml\n" in index
    policies = (tmp_path / "schemas/policies/agents.yaml").read_text("utf-8")
    assert policies.endswith("  grants:\n      - ntfy.send_push_notification\n")
    assert "# [upstreams.ntfy]\n" in (tmp_path / "gateway.toml").read_text("utf-8")
    lock = json.loads((tmp_path / "gateway.lock").read_text("utf-8"))
    assert lock["connectors"] == {"ntfy": "1.0.0"}
    assert (tmp_path / "generated/models/ntfy/send_push_notification.py").is_file()
    servers = json.loads((tmp_path / "generated/servers.json").read_bytes())
    assert servers["connectors"]["ntfy"]["title"] == "Push notifications"
    assert add_connectors(project, ("ntfy",)).files == {}


def test_rows_that_come_with_a_connector_bring_their_tools(project, tmp_path):
    added = add_connectors(project, ("supabase",))
    place(tmp_path, added.files)

    assert {"entities.quotes", "supabase.query"} <= {*added.tools}
    index = (tmp_path / "schemas/openapi.yaml").read_text("utf-8")
    assert "  - name: entities\n" in index
    assert not (tmp_path / "schemas/tools/entities").exists()
    policies = (tmp_path / "schemas/policies/agents.yaml").read_text("utf-8")
    assert "entities." not in policies


def test_a_later_version_replaces_what_was_not_edited(with_ntfy, tmp_path):
    """The lock says what an earlier version brought; here, one with another description."""
    shutil.copytree(with_ntfy, tmp_path, dirs_exist_ok=True)
    tool = tmp_path / "schemas/tools/ntfy/send_push_notification.yaml"
    new = tool.read_bytes()
    old = new.replace(b"summary: ", b"summary: Old ")
    lock = (tmp_path / "gateway.lock").read_text("utf-8")
    tool.write_bytes(old)
    (tmp_path / "gateway.lock").write_text(
        lock.replace(sha256(new).hexdigest(), sha256(old).hexdigest()), "utf-8"
    )

    place(tmp_path, add_connectors(project_in(tmp_path, "2.0.0"), ("ntfy",)).files)

    assert tool.read_bytes() == new
    assert json.loads((tmp_path / "gateway.lock").read_text("utf-8"))["connectors"] == {
        "ntfy": "2.0.0"
    }


def test_an_edited_file_is_refused(with_ntfy, tmp_path):
    shutil.copytree(with_ntfy, tmp_path, dirs_exist_ok=True)
    tool = tmp_path / "schemas/tools/ntfy/send_push_notification.yaml"
    tool.write_bytes(tool.read_bytes() + b"# mine\n")
    with pytest.raises(ConfigurationError, match=r"notification\.yaml would be replaced"):
        add_connectors(project_in(tmp_path, "1.0.0"), ("ntfy",))


def test_a_project_with_findings_is_refused_as_a_whole(project, tmp_path):
    policies = tmp_path / "schemas/policies/agents.yaml"
    policies.write_text(policies.read_text("utf-8").replace("administrator:", "chief:"), "utf-8")
    with pytest.raises(ContractRefused, match="policy/administrator"):
        add_connectors(project, ("ntfy",))


def test_an_agent_that_exists_is_left_alone(project, tmp_path):
    policies = tmp_path / "schemas/policies/agents.yaml"
    own = f"{policies.read_text('utf-8')}  ntfy:\n    description: Ours.\n    grants: []\n"
    policies.write_text(own, "utf-8")
    place(tmp_path, add_connectors(project, ("ntfy",)).files)
    assert policies.read_text("utf-8") == own


def test_a_damaged_lock_is_named(project, tmp_path):
    (tmp_path / "gateway.lock").write_text("{", "utf-8")
    with pytest.raises(ConfigurationError, match=r"gateway\.lock cannot be read"):
        add_connectors(project, ("ntfy",))


def test_the_name_of_an_imported_document_is_refused(project, tmp_path):
    folder = tmp_path / "schemas/upstreams/golf"
    folder.mkdir(parents=True)
    (folder / "import.yaml").write_text("document: golf.json\n", "utf-8")
    with pytest.raises(ConfigurationError, match="golf is taken by an imported document"):
        add_connectors(project, ("golf",))


def test_files_with_windows_line_ends_keep_them(project, tmp_path):
    changed = ("schemas/openapi.yaml", "schemas/policies/agents.yaml", "gateway.toml")
    for each in changed:
        file = tmp_path / each
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    place(tmp_path, add_connectors(project, ("ntfy",)).files)
    for each in changed:
        content = (tmp_path / each).read_bytes()
        assert b"ntfy" in content
        assert content.count(b"\n") == content.count(b"\r\n")
