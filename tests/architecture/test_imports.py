"""Imports stand at the top of a file and point downwards; those that stand later say why."""

import ast
import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest

LATE = {
    "asyncpg",  # most gateways keep their state in a file
    "cryptography.exceptions",  # keys of service accounts and of mocks, secrets of endpoints
    "cryptography.hazmat.primitives",
    "cryptography.hazmat.primitives.asymmetric",
    "cryptography.hazmat.primitives.ciphers.aead",
    "cryptography.hazmat.primitives.serialization",
    "gateway.cli.edge",  # a second, in which Ctrl-C leaves without a traceback
    "gateway.cli.importing.measuring",  # the catalogue and MCP, which `--check` does without
    "gateway.cli.importing.serving",  # the run time: half a second that an import does without
    "gateway.cli.serving.run",  # the run time: two seconds that a bridge does without
    "gateway.cli.streams",  # with `gateway.cli.edge`
    "gateway.authoring.codegen.render.datamodel",  # half a second; most models are remembered
    "gateway.contract.schemas.algebra",  # filters of endpoints: 60 ms that few need
    "gateway.job_policy",  # with `gateway.cli.edge`
    "gateway.signatures",  # public keys: 6 MB that few need
    "gateway.observability.sentry",  # the extra `sentry`
    "gateway.observability.otel",  # the extra `otel`
    "gateway.store.redis",  # needs the extra `redis`
    "gateway.store.migrations.upgrade",  # Alembic; most databases are at their head
    "gateway.testing.generation",  # schemathesis, in tests: a second
    "gateway.transports.mcp.paths",  # the protocol's types: a quarter of a second, 10 MB
    "gateway.transports.mcp.sessions",  # the MCP SDK: half a second, 20 MB
    "gateway.transports.mcp.subscriptions",  # the same
    "httpx",  # token endpoints
    "jinja2",  # mails
    "jinja2.sandbox",
    "jsonschema",  # tests of the prover: two seconds
    "mcp.shared.inbound",  # the SDK: a second that the bridge does without
    "jwt",  # assertions of service accounts
    "tests.simulation.simulate",  # of the checkout that is to be tried
    "rich.console",  # tables and progress, which servers do not print
    "rich.progress",
    "rich.table",
    "ruff",  # the extra `author`
    "schemathesis",  # tests that draw arguments: a second
}
"""What functions may import: each takes its time, and most starts do without it."""


def local_imports(sources):
    """Each import inside a function or a class, with what it imports."""
    return [
        (f"{source.path}:{node.lineno}", name)
        for source in sources
        for scope in ast.walk(source.tree)
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(scope)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(node)
    ]


def imported(node):
    """The modules that an import names."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return [alias.name for alias in node.names]


def buried_imports(sources):
    """Each import inside a function that does not stand at the beginning of it."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        for scope in ast.walk(source.tree)
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(scope)
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in first_imports(scope)
    ]


def first_imports(function):
    """The imports before any other statement of a function but its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return list(
        itertools.takewhile(lambda each: isinstance(each, ast.Import | ast.ImportFrom), body)
    )


def fixed_names(sources):
    """Each `import_module` of a name that the source knows: an import would be checked."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in {"import_module", "__import__"}
        and node.args
        and is_fixed(node.args[0], constants(source.tree))
    ]


def is_fixed(value, known):
    """Whether a name is a text, or a constant that is one."""
    if isinstance(value, ast.JoinedStr):
        return all(
            isinstance(part, ast.Constant) or is_fixed(part.value, known) for part in value.values
        )
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in known)


def constants(tree):
    """The names of a module's texts."""
    targets = [
        (node.targets if isinstance(node, ast.Assign) else [node.target], node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    return {
        target.id
        for names, value in targets
        for target in names
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant)
    }


def test_what_functions_import_is_listed(written, tested):
    found = local_imports([*written, *tested])
    assert [each for each in found if each[1] not in LATE] == []
    assert {name for _, name in found} == LATE


def test_a_local_import_is_found(planted):
    found = local_imports(planted("def late():\n    import json\n"))
    assert found == [("gateway/planted.py:2", "json")]


def test_local_imports_stand_at_the_beginning(written):
    assert buried_imports(written) == []


def test_a_buried_import_is_found(planted):
    text = 'def late():\n    """Late."""\n    import json\n    json.loads("")\n    import os\n'
    assert buried_imports(planted(text)) == ["gateway/planted.py:5"]


def test_what_has_a_fixed_name_is_imported_by_a_statement(written):
    assert fixed_names(written) == []


@pytest.mark.parametrize(
    "text",
    [
        "importlib.import_module('json')",
        "import_module('json')",
        "__import__('json')",
        "importlib.import_module(f'json.{\"tool\"}')",
        "NAME: Final = 'json'\nimportlib.import_module(NAME)",
    ],
)
def test_a_fixed_name_is_found(planted, text):
    assert fixed_names(planted(text)) == [f"gateway/planted.py:{1 + text.count(chr(10))}"]


@pytest.mark.parametrize("name", ["name", "f'{package}.routes'", "entry.module"])
def test_a_name_that_is_given_is_no_fixed_one(planted, name):
    assert fixed_names(planted(f"importlib.import_module({name})")) == []


def test_imports_keep_the_contracts_of_import_linter(root):
    """Rooms, cycles and the other rules under `[tool.importlinter]`."""
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("contract", "admitted"),
    [
        (
            "generator",
            {
                "amounts",
                "authoring",
                "contract",
                "encoding",
                "errors",
                "installed",  # a missing library is named with the command that adds it
                "project_folder",
                "profiles",  # lint says which clients would refuse a schema
                "publication",
                "signatures",
            },
        ),
        ("generated", {"connectors", "contract", "errors", "ids", "signatures"}),
    ],
)
def test_a_new_room_is_closed_to_the_generator_and_its_output(root, contract, admitted):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    declared = {each["id"]: each for each in project["tool"]["importlinter"]["contracts"]}
    layers = declared["rooms"]["layers"]
    rooms = {room.strip() for layer in layers for room in layer.split("|")} - {"__main__"}
    within = {"generated", "gateway.authoring.project"}
    closed = set(declared[contract]["forbidden_modules"]) - within
    assert closed == {f"gateway.{room}" for room in rooms - admitted}


def test_importing_the_package_imports_nothing_else():
    """Generation must work while the rest is broken, and the command line must start fast."""
    program = "import sys, gateway; print(*sorted(m for m in sys.modules if 'gateway' in m))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert [name for name in done.stdout.split() if not name.startswith("_")] == ["gateway"]


SERVER_LIBRARIES = {
    "aiohttp",
    "alembic",
    "cryptography",
    "httpx",
    "litestar",
    "mcp",
    "mcp_types",
    "opentelemetry",
    "pydantic",
    "rich",
    "sqlalchemy",
    "sqlmodel",
    "starlette",
    "structlog",
    "uvicorn",
}
SERVER_ROOMS = {
    "app",
    "audit",
    "auth",
    "backends",
    "catalogue",
    "codegen",
    "connectors",
    "events",
    "jobs",
    "observability",
    "openapi",
    "publication",
    "store",
    "webhooks",
}


def test_a_bridge_loads_nothing_of_the_server():
    """Hosts start one for each of their windows: a tenth of the time, a quarter of the memory."""
    program = (
        "import sys; from gateway.cli.edge import run;"
        "code = run(['mcp', '--url', 'https://127.0.0.1:1/mcp']);"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n{\n'
    done = subprocess.run(
        [sys.executable, "-c", program], input=ping, capture_output=True, text=True, check=True
    )
    assert '"id":1' in done.stdout
    loaded = done.stderr.split()
    assert "gateway.transports.bridge.serving" in loaded
    assert SERVER_LIBRARIES & {name.partition(".")[0] for name in loaded} == set()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("gateway.")}
    assert rooms & SERVER_ROOMS == set()


AUTHORS_ROOMS = {"codegen", "contracts", "lint", "mapping", "openapi", "project", "testing"}


def test_a_gateway_that_serves_loads_nothing_of_the_authors_wing(root, tmp_path):
    """Also not for a call: a host installs the wheel without the extra `author`."""
    program = (
        "import sys; from gateway.cli.edge import run;"
        "code = run(['serve', '--port', '0', '--data', sys.argv[1]]);"
        "print(*sys.modules); sys.exit(code)"
    )
    key = "bootstrap-key-of-the-tests-0123456789"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=root,
        env={**os.environ, "GATEWAY_BOOTSTRAP_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as serving:
        url = serving.stdout.readline().removeprefix("ready ").strip()
        answer = httpx.post(
            f"{url}/v1/example/calculate",
            json={"operation": "add", "a": 5, "b": 3},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == 200
        serving.terminate()
        loaded = serving.stdout.read().split()
    assert "gateway.transports.rest" in loaded
    ours = [name for name in loaded if name.startswith("gateway.")]
    assert [name for name in ours if name.split(".")[1] in AUTHORS_ROOMS] == []
