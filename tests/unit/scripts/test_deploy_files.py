"""The image, the compose file and the chart, checked without Docker and without Helm."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.settings import read_settings
from gateway.settings.declared import SETTINGS
from gateway.settings.sources import TOML_VARIABLE
from gateway.transports.http.bodies import LARGEST_BYTES
from tests.gateway_process import REPOSITORY

DEPLOY: Final = REPOSITORY / "scripts" / "deploy"
CHART: Final = DEPLOY / "chart"
EXPRESSION: Final = re.compile(r"\{\{ ([^{}]+) \}\}")
BLOCK: Final = re.compile(
    r"^\{\{- if (not )?([\w.]+) \}\}\n(.*?)^\{\{- end \}\}\n", re.MULTILINE | re.DOTALL
)
VARIABLE: Final = re.compile(r"\bGATEWAY_[A-Z_]+\b")
DATABASE: Final = "postgresql://gateway:password@db.test/gateway"
CONTENTS: Final = {"SECRETS_KEY": "A" * 43 + "=", "BOOTSTRAP_KEY": "b" * 64}
SECRETS: Final = ["DATABASE_URL", "WORKSPACE_URL", "SECRETS_KEY", "BOOTSTRAP_KEY"]


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile with its arguments, on one line."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word
    ]


def arguments(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def test_the_base_image_has_a_whole_version() -> None:
    (argument,) = arguments("ARG")
    assert re.fullmatch(r"PYTHON_IMAGE=python:\d+\.\d+\.\d+-slim-[a-z]+", argument)
    stages = [rest.split(" AS ") for rest in arguments("FROM")]
    assert stages == [
        ["${PYTHON_IMAGE}", "build"],
        ["${PYTHON_IMAGE}", "gateway"],
        ["gateway", "project"],
    ]


def test_the_image_installs_only_what_the_lock_has_hashes_for() -> None:
    runs = " && ".join(arguments("RUN"))
    installs = [part for part in runs.split(" && ") if " install " in part and " pip " in part]
    assert len(installs) == 2
    for words in map(shlex.split, installs):
        assert {"--require-hashes", ":all:", "scripts/requirements.lock"} <= set(words)
    assert not re.search(r"\b(apt|apt-get|curl|wget|sudo)\b", runs)
    assert arguments("ADD") == []


def test_the_image_runs_the_gateway_itself_without_a_shell_and_without_rights() -> None:
    assert arguments("USER") == ["10001:10001"]
    assert [json.loads(each) for each in arguments("ENTRYPOINT")] == [["/opt/gateway/bin/gateway"]]
    assert [json.loads(each) for each in arguments("CMD")] == [["serve"]]
    (check,) = arguments("HEALTHCHECK")
    python, program = json.loads(check.partition(" CMD ")[2])
    assert python == "/opt/gateway/bin/python"
    assert f"scripts/deploy/healthcheck.py {program}" in arguments("COPY")


def test_the_builder_is_sent_what_the_image_copies_and_nothing_else() -> None:
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source
        for rest in arguments("COPY")
        if not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    assert copied == allowed
    assert all((REPOSITORY / source).exists() for source in copied)
    assert "*" in lines


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    declared = {name: set(read.get(name, {})) for name in ("secrets", "volumes", "networks")}
    for service in read["services"].values():
        assert set(service.get("secrets", [])) <= declared["secrets"]
        assert set(service["networks"]) <= declared["networks"]
        named = {each.partition(":")[0] for each in service["volumes"] if each[0] not in "./"}
        assert named <= declared["volumes"]
        assert set(service.get("depends_on", {})) <= set(read["services"])
    assert all(set(secret) == {"file"} for secret in read["secrets"].values())
    found: dict[str, Any] = read["services"]
    return found


def test_the_services_have_fixed_images_health_checks_and_no_secret_in_clear(
    services: dict[str, Any],
) -> None:
    for name, service in services.items():
        assert re.fullmatch(r"[a-z-]+:\d+\.\d+[\w.-]*", service["image"])
        assert "healthcheck" in service or name == "gateway"
        secret = [key for key in service.get("environment", {}) if _is_secret(key)]
        assert [key for key in secret if not key.endswith("_FILE")] == []
    waiting = [service.get("depends_on", {}) for service in services.values()]
    conditions = {each["condition"] for needs in waiting for each in needs.values()}
    assert conditions == {"service_healthy"}


def test_the_gateways_of_compose_share_what_several_processes_must(
    services: dict[str, Any],
) -> None:
    gateway = services["gateway"]
    assert gateway["deploy"]["replicas"] > 1
    assert gateway["read_only"] is True
    assert gateway["cap_drop"] == ["ALL"]
    assert {f"GATEWAY_{name}_FILE" for name in SECRETS} <= set(gateway["environment"])
    mounted = {f"/run/secrets/{name}" for name in gateway["secrets"]}
    files = {text for text in gateway["environment"].values() if text.startswith("/run/")}
    assert files == mounted
    # The proxy does not ask for the readiness, so a stop needs no notice.
    assert int(gateway["stop_grace_period"].removesuffix("s")) >= longest_stop() + 10


def _is_secret(name: str) -> bool:
    return any(word in name for word in ("PASSWORD", "SECRET", "_KEY", "_URL", "TOKEN"))


def longest_stop() -> float:
    """The grace that a gateway has without a setting."""
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    return 5 + max(entry.operation.timeout_seconds for entry in catalogue.entries)


def rendered(name: str, values: dict[str, Any]) -> Any:
    """A template as Helm renders it: it may use only what is known here."""
    text = (CHART / "templates" / f"{name}.yaml").read_text("utf-8")
    context = {"Values": values, "Release": {"Name": "agents"}}

    def value_of(path: str) -> Any:
        found: Any = context
        for part in path.removeprefix(".").split("."):
            found = found[part]
        return found

    def block(match: re.Match[str]) -> str:
        return match[3] if bool(value_of(match[2])) is not bool(match[1]) else ""

    def expression(match: re.Match[str]) -> str:
        path, *functions = match[1].split(" | ")
        found = value_of(path)
        for function in functions:
            found = FUNCTIONS[function](found)
        assert isinstance(found, (str, int)), f"{name}: {match[0]} needs toJson"
        return str(found)

    return yaml.safe_load(EXPRESSION.sub(expression, BLOCK.sub(block, text)))


FUNCTIONS: Final = {
    "toJson": json.dumps,
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
}


@pytest.fixture
def values() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return read


def test_all_objects_of_the_chart_select_the_same_pods(values: dict[str, Any]) -> None:
    values["autoscaling"]["enabled"] = values["ingress"]["enabled"] = True
    names = sorted(path.stem for path in (CHART / "templates").iterdir())
    objects = {name: rendered(name, values) for name in names}
    assert [found["kind"].lower() for found in objects.values()] == names
    labels = objects["deployment"]["spec"]["template"]["metadata"]["labels"]
    assert objects["deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert objects["service"]["spec"]["selector"] == labels
    assert objects["poddisruptionbudget"]["spec"]["selector"]["matchLabels"] == labels
    (rule,) = objects["ingress"]["spec"]["rules"]
    assert rule["host"] == values["host"]
    (path,) = rule["http"]["paths"]
    ports = [each["name"] for each in objects["service"]["spec"]["ports"]]
    named = objects["service"]["metadata"]["name"]
    assert path["backend"]["service"] == {"name": named, "port": {"name": ports[0]}}
    target = objects["horizontalpodautoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "agents")


def test_the_ingress_is_off(values: dict[str, Any]) -> None:
    assert rendered("ingress", values) is None


@pytest.mark.parametrize(
    "path", ["nginx.conf", "chart/values.yaml", "../../docs/operate/deploy.md"]
)
def test_a_proxy_waits_and_takes_as_long_as_any_contract_may_allow(path: str) -> None:
    text = (DEPLOY / path).read_text("utf-8")
    policy = json.loads((REPOSITORY / "schemas/_meta/x-policy.schema.json").read_text("utf-8"))
    longest = policy["properties"]["timeoutSeconds"]["maximum"]
    waits = re.findall(r"proxy[_-]read[_-]timeout:? \"?(\d+)s?\"?;?$", text, re.MULTILINE)
    sizes = re.findall(r"(?:client_max_body_size|proxy-body-size:) (\d+)m;?$", text, re.MULTILINE)
    assert min(map(int, waits)) > longest
    assert min(map(int, sizes)) * 2**20 > LARGEST_BYTES


def test_the_autoscaler_is_off_and_replaces_the_number_of_pods(values: dict[str, Any]) -> None:
    assert rendered("horizontalpodautoscaler", values) is None
    assert rendered("deployment", values)["spec"]["replicas"] == 2
    values["autoscaling"]["enabled"] = True
    assert "replicas" not in rendered("deployment", values)["spec"]


def test_probes_ask_for_paths_that_are_served_under_an_allowed_name(values: dict[str, Any]) -> None:
    _, container = pod(values)
    probes = {name: each["httpGet"] for name, each in container.items() if name.endswith("Probe")}
    paths = {name: probe["path"] for name, probe in probes.items()}
    assert paths == {
        "startupProbe": "/healthz",
        "readinessProbe": "/readyz",
        "livenessProbe": "/healthz",
    }
    environment = {each["name"]: each["value"] for each in container["env"]}
    for probe in probes.values():
        assert probe["port"] == container["ports"][0]["name"]
        (header,) = probe["httpHeaders"]
        assert header == {"name": "Host", "value": environment["GATEWAY_ALLOWED_HOSTS"]}


def pod(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    spec = rendered("deployment", values)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    return spec, container


def test_pods_fit_the_restricted_policy(values: dict[str, Any]) -> None:
    spec, container = pod(values)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["enableServiceLinks"] is spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    user = spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsGroup"]
    assert arguments("USER") == ["{}:{}".format(*user)]
    assert arguments("EXPOSE") == [str(container["ports"][0]["containerPort"])]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in spec["volumes"]}


def test_kubernetes_waits_until_a_gateway_has_stopped(values: dict[str, Any]) -> None:
    spec, container = pod(values)
    assert values["stopGraceSeconds"] >= longest_stop()
    stop = values["stopNoticeSeconds"] + values["stopGraceSeconds"]
    assert spec["terminationGracePeriodSeconds"] >= stop + 10
    readiness = container["readinessProbe"]
    noticed = readiness["periodSeconds"] * readiness["failureThreshold"]
    assert noticed < values["stopNoticeSeconds"]


def test_a_gateway_starts_with_the_settings_of_the_chart(
    values: dict[str, Any], tmp_path: Path
) -> None:
    _, container = pod(values)
    environment = {each["name"]: each["value"] for each in container["env"]}
    config = tmp_path / "gateway.toml"
    config.write_text(rendered("configmap", values)["data"]["gateway.toml"], "utf-8")
    for name in SECRETS:
        file = tmp_path / name
        file.write_text(f"{CONTENTS.get(name, DATABASE)}\n", "utf-8")
        environment[f"GATEWAY_{name}_FILE"] = str(file)
    settings = read_settings(environment | {TOML_VARIABLE: str(config)}, None, {})
    assert settings.allowed_hosts == ("gateway.example.com",)
    assert (settings.stop_notice_seconds, settings.stop_grace_seconds) == (10.0, 60.0)
    assert settings.database == settings.workspace == DATABASE


def test_every_setting_that_the_files_name_exists() -> None:
    known = {TOML_VARIABLE}
    for setting in SETTINGS.values():
        known |= {setting.name.variable, setting.name.of_file().variable}
    named = {file.name: set(VARIABLE.findall(file.read_text("utf-8"))) for file in written()}
    assert any(named.values())
    assert {name: found - known for name, found in named.items() if found - known} == {}


def written() -> Iterator[Path]:
    return (file for file in DEPLOY.rglob("*") if file.is_file() and "secrets" not in file.parts)


@pytest.mark.parametrize("path", ["scripts/deploy/nginx.conf", "docs/operate/deploy.md"])
def test_the_proxy_limits_the_connections_of_one_address(path: str) -> None:
    """The gateway trusts the proxy, and has no limit for it."""
    text = (REPOSITORY / path).read_text("utf-8")
    ours = SETTINGS["max_connections_per_address"].default
    (zone,) = re.findall(r"(?m)^ *limit_conn_zone \$binary_remote_addr zone=(\w+):\d+m;$", text)
    assert re.findall(r"(?m)^ *limit_conn (\w+) (\d+);$", text) == [(zone, str(ours))]
    assert re.findall(r"(?m)^ *limit_conn_status (\d+);$", text) == ["429"]
    for places in re.findall(r"(?m)^ *worker_connections (\d+);$", text):
        assert int(places) > 4 * ours, "one address must leave places for others"
