"""`gateway serve --watch`: an author changes contracts while the gateway serves."""

import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, running_gateway

HERE = {"GATEWAY_SCHEMAS": ""}
PATH = "/v1/store/find_products"
CONTRACT = Path("schemas/tools/store/find_products.yaml")


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def description(gateway: RunningGateway) -> str:
    document = httpx.get(
        f"{gateway.url}/openapi.json", headers=gateway.authorization, timeout=PATIENCE_SECONDS
    ).json()
    return str(document["paths"][PATH]["post"]["description"])


def test_a_changed_contract_is_generated_and_served_and_a_wrong_one_is_shown(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    project = new_initial(tmp_path)
    contract, log = project / CONTRACT, project / "stderr.log"
    text = contract.read_text()
    better = text.replace("Find products of the store", "Search the store")
    # As after a checkout: newer than the package, which is of this text all the same.
    for path in project.joinpath("schemas").rglob("*"):
        path.touch()
    with running_gateway(project, "--watch", environment=HERE) as gateway:
        contract.write_text(better.replace("summary: Find products", "summary: 7"))
        until(lambda: "continues with what it served before" in log.read_text())
        assert f"{CONTRACT}:5: error shape/tool /post/summary" in log.read_text()
        assert "fix: Correct it to match" in log.read_text()
        assert description(gateway).startswith("Find products of the store")
        contract.write_text(better)
        until(lambda: description(gateway).startswith("Search the store"))
    assert "Traceback" not in log.read_text()
    noted = {line for line in log.read_text().splitlines() if line.startswith("note: changed")}
    assert noted == {f"note: changed: {CONTRACT.name}"}
