"""Ready connectors are added to a project: what changes, and what is refused."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.project.adding import add_connectors
from gateway.authoring.project.placing import place
from gateway.authoring.project.staging import OWN_PACKAGES, Project
from gateway.errors import ConfigurationError


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
