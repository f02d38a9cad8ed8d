"""`import.yaml` is read strictly: each mistake has its place and its fix."""

import re
from pathlib import Path, PurePosixPath

import pytest

from gateway.authoring.contracts.document import read_document
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.folder import import_text, read_import_file, updated_text
from gateway.authoring.openapi.lowering.records import ImportFile, OperationSelection
from gateway.authoring.openapi.overlay import apply_overlay
from gateway.contract.operation import Effect

SHA = "0" * 64
PAGE = Path(__file__).parents[5] / "docs" / "author" / "import.md"
HEAD = f"document: shop.json\nsha256: '{SHA}'\n"


@pytest.fixture
def read(tmp_path):
    """Reads the text of an `import.yaml`."""

    def _read(text):
        (tmp_path / "import.yaml").write_text(text, "utf-8")
        return read_import_file(tmp_path, PurePosixPath("import.yaml"))[0]

    return _read


def test_what_is_written_is_what_is_read(read):
    wishes = ImportFile(
        document="shop.json",
        sha256=SHA,
        source="https://shop.example/openapi.json",
        select=OperationSelection(tags=("a: b", "on"), operations=("GET /a*",)),
        names={"GET /a": "list", "删除": "remove"},
        effects={"search": Effect.READ},
        results="report",
        limits={"calls": [{"max": 5, "seconds": 60}]},
        tool_limits={"GET /a": {"cost": 1}},
    )
    assert read(import_text(wishes)) == wishes


def test_an_update_adds_to_names_that_are_written_in_one_line(read):
    old = read(f"{HEAD}names: {{find: search}}\n")
    new = ImportFile(document="shop.json", sha256="1" * 64, names={"find": "search", "b": "c"})
    text = updated_text(f"{HEAD}names: {{find: search}}\n", old, new)
    assert read(text) == new


@pytest.mark.parametrize(
    ("text", "rule", "pointer", "line"),
    [
        ("- a\n", "import/malformed", "", 1),
        (f"{HEAD}selct: {{}}\n", "import/unknown-member", "/selct", 3),
        (f"{HEAD}select:\n  tgas: [a]\n", "import/unknown-member", "/select/tgas", 4),
        (f"{HEAD}select:\n  tags: a\n", "import/malformed", "/select/tags", 4),
        (f"{HEAD}select:\n  tags: [a, 1]\n", "import/malformed", "/select/tags/1", 4),
        (f"{HEAD}results: maybe\n", "import/malformed", "/results", 3),
        (f"{HEAD}effects:\n  a: erase\n", "import/malformed", "/effects", 3),
        (f"{HEAD}names:\n  a: Not-A-Name\n", "import/name", "/names/a", 4),
        (f"{HEAD}limits: 5\n", "import/malformed", "/limits", 3),
        (f"{HEAD}limits: {{}}\n", "import/limits", "/limits", 3),
        (f"{HEAD}limits:\n  budget: 5\n", "import/limits", "/limits/budget", 4),
        (f"{HEAD}limits:\n  concurrent: 0\n", "import/limits", "/limits/concurrent", 4),
        (
            f"{HEAD}limits:\n  concurrent: 5\n  calls: [{{max: 2, seconds: 9}}]\n",
            "import/limits",
            "/limits/concurrent",
            4,
        ),
        (
            f"{HEAD}tool_limits:\n  GET /a:\n    calls:\n    - {{max: 0, seconds: 60}}\n",
            "import/limits",
            "/tool_limits/GET ~1a/calls/0/max",
            6,
        ),
        (f"{HEAD}policy: {{timeout: 5}}\n", "import/policy", "/policy/timeout", 3),
        (f"{HEAD}policy: {{timeoutSeconds: 301}}\n", "import/policy", "/policy/timeoutSeconds", 3),
        (f"{HEAD}policy:\n  task: always\n", "import/policy", "/policy/task", 4),
        (f"{HEAD}policy: {{task: auto, timeoutSeconds: 5}}\n", "import/policy", "/policy", 3),
        (
            f"{HEAD}tool_policies:\n  a:\n    attempts: {{max: 9}}\n",
            "import/policy",
            "/tool_policies/a/attempts/max",
            5,
        ),
        (f"{HEAD}tool_results: {{a: maybe}}\n", "import/malformed", "/tool_results", 3),
        (f"{HEAD}base_url: shop.example\n", "import/base-url", "/base_url", 3),
        (f"{HEAD}base_url: http://169.254.169.254/\n", "import/base-url", "/base_url", 3),
        (f"document: ../shop.json\nsha256: '{SHA}'\n", "import/document", "/document", 1),
        ("document: shop.json\nsha256: abc\n", "import/sha256", "/sha256", 2),
        ("sha256: abc\n", "import/malformed", "", 1),
        (f"{HEAD}title: &a x\n", "yaml/anchor", "/title", 3),
    ],
)
def test_a_mistake_has_its_place(read, text, rule, pointer, line):
    with pytest.raises(ContractRefused) as refused:
        read(text)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.pointer, finding.line) == (rule, pointer, line)
    assert finding.fix


def test_the_files_in_the_page_are_accepted(read, tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    text, overlay = blocks
    file = read(text)
    assert file.select.exclude == ("issues/lock",)
    assert file.tool_results["issues/*"] == "nulls-absent"
    assert file.headers
    assert file.tool_limits["issues/create"]["concurrent"] == 2
    assert file.tool_policies["POST /reports"]["task"] == "required"
    (tmp_path / "overlay.yaml").write_text(overlay, "utf-8")
    document = read_document(tmp_path, PurePosixPath("overlay.yaml"))
    paths = {"/repos/{owner}/{repo}": {"get": {}, "put": {"deprecated": True}}}
    found = apply_overlay(document, {"paths": paths})
    assert found.notes == ()
    assert found.value["paths"]["/repos/{owner}/{repo}"] == {
        "get": {"summary": "Show a repository"}
    }


def test_an_unknown_member_has_the_nearest_name_as_fix(read):
    with pytest.raises(ContractRefused, match=r"did you mean select\?"):
        read(f"{HEAD}selct: {{}}\n")


def test_an_unknown_member_of_limits_has_the_nearest_name_as_fix(read):
    with pytest.raises(ContractRefused, match=r"did you mean concurrent\?"):
        read(f"{HEAD}limits: {{concurent: 2}}\n")


@pytest.mark.parametrize("name", ["import.yaml", "overlay.yaml", "Import.yaml"])
def test_a_document_cannot_be_another_file_of_the_import(read, name):
    with pytest.raises(ContractRefused, match="import/document /document"):
        read(f"document: {name}\nsha256: '{SHA}'\n")
