"""`gateway verify --live`: answers over a real socket, beside the contract of their upstream."""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from gateway.authoring.contracts.document import read_document
from gateway.authoring.openapi.overlay import apply_overlay
from tests.fakes.golf import RESERVATION, TEE_TIME
from tests.fakes.pets import CANARY, GOOD, PetAnswer, PetShop, answered, document, open_shop
from tests.gateway_process import OURS, ended_gateway, run_gateway
from tests.tls import tls_before

OWN = {"GATEWAY_SCHEMAS": ""}
SHAPES = Path("schemas/upstreams/pets/shapes.json")
DRIFTED = {
    "id": f"{CANARY}-1",
    "name": CANARY * 3,
    "age": None,
    "status": "lost",
    "owner": {"name": CANARY, "phone": CANARY},
    "price": 10.5,
    "tags": [CANARY],
}


@pytest.fixture(scope="module", params=["3.0.3"])
def made(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    new_initial: Callable[[Path], Path],
) -> Path:
    """A project that has imported the document of the pets."""
    folder = tmp_path_factory.mktemp("pets")
    file = folder / "pets.json"
    file.write_text(json.dumps(document(request.param)), "utf-8")
    project = new_initial(folder / "project")
    run_gateway(project, "import", str(file), "--as", "pets", environment=OWN)
    run_gateway(project, "generate", environment=OWN)
    return project


@pytest.fixture
def shop() -> Iterator[PetShop]:
    with open_shop() as opened:
        yield opened


@pytest.fixture
def project(made: Path) -> Iterator[Path]:
    """The project, without what an earlier test has kept."""
    yield made
    (made / SHAPES).unlink(missing_ok=True)


@contextmanager
def edited(project: Path, edits: Mapping[str, tuple[str, str]]) -> Iterator[None]:
    """The project with other words in files of its contracts, until the block ends."""
    files = {project / "schemas" / name: words for name, words in edits.items()}
    before = {file: file.read_text("utf-8") for file in files}
    try:
        for file, (old, new) in files.items():
            assert old in before[file]
            file.write_text(before[file].replace(old, new), "utf-8")
        run_gateway(project, "generate", environment=OWN)
        yield
    finally:
        for file, text in before.items():
            file.write_text(text, "utf-8")
        run_gateway(project, "generate", environment=OWN)


def verified(project: Path, url: str, *arguments: str, **more: str) -> tuple[int, str, str]:
    live = {"GATEWAY_BACKEND_PETS": "live", "GATEWAY_PETS_BASE_URL": url}
    code, out, error = ended_gateway(
        project, "verify", "--live", *arguments, environment={**OWN, **live, **more}
    )
    assert CANARY not in out + error
    assert "Traceback" not in error
    return code, out, error


def found(project: Path, url: str, *arguments: str, **more: str) -> tuple[int, list[Any]]:
    code, out, _ = verified(project, url, "--json", *arguments, **more)
    return code, json.loads(out)["findings"]


def rules(findings: list[Any]) -> set[tuple[str, str]]:
    """The severity and the rule of each."""
    return {(each["severity"], each["rule"]) for each in findings}


def test_answers_that_keep_to_the_contract_are_compared_and_nothing_writes(
    project: Path, shop: PetShop
) -> None:
    code, out, _ = verified(project, shop.url)
    assert code == 0, out
    assert "pets at http://127.0.0.1" in out
    assert "2 answers compared" in out
    assert "2 tools answered with a result, 2 requests sent; 0 errors, 0 notes" in out
    # The pet that the list has shown is the one that is asked for, and none is sold.
    assert [each for each, _ in shop.seen] == ["GET /pets", f"GET /pets/{CANARY}-1"]
    first, second = (at for _, at in shop.seen)
    assert second - first >= 0.15
    assert not (project / SHAPES).exists()


def test_what_the_contract_forbids_or_does_not_know_is_named_without_values(
    project: Path, shop: PetShop
) -> None:
    # Names that are data, such as an address, are not told either.
    more = {f"{CANARY}@example.com": 1}
    shop.pets = [{**DRIFTED, **more, "owner": {"name": CANARY, "phone": CANARY, **more}}]
    code, findings = found(project, shop.url)
    assert code == 1
    assert {(e["severity"], e["rule"], e["pointer"]) for e in findings} == {
        ("error", "live/breaks-contract", "/components/schemas/Pet/properties/name"),
        ("error", "live/breaks-contract", "/components/schemas/Pet/properties/age"),
        ("error", "live/breaks-contract", "/components/schemas/Pet/properties/status"),
        ("error", "live/breaks-contract", "/components/schemas/Owner"),
        ("note", "live/not-in-contract", "/components/schemas/Pet"),
    }
    assert all(each["path"] == "upstreams/pets/pets.json" for each in findings)
    [age] = [each for each in findings if each["pointer"].endswith("/age")]
    assert (
        "at /*/age: is null, and the contract says type integer; also in 1 other" in age["message"]
    )


@pytest.mark.parametrize("made", ["2.0", "3.0.3", "3.1.0"], indirect=True)
def test_the_overlay_is_accepted_and_makes_the_findings_go_away(
    project: Path, shop: PetShop, tmp_path: Path
) -> None:
    shop.pets = [DRIFTED | {"owner": None}, DRIFTED, {"id": f"{CANARY}-2", "age": 1.5}]
    file = tmp_path / "overlay.yaml"
    code, _, error = verified(project, shop.url, "--overlay", str(file))
    assert code == 1
    assert f"written: {file}" in error
    place = project / "schemas/upstreams/pets/overlay.yaml"
    place.write_bytes(file.read_bytes())
    try:
        run_gateway(project, "generate", environment=OWN)
        run_gateway(project, "lint", environment=OWN)
        code, findings = found(project, shop.url)
        assert (code, findings) == (0, [])
    finally:
        place.unlink()
        run_gateway(project, "generate", environment=OWN)


def test_a_contract_written_here_is_compared_and_after_its_overlay_the_lint_names_the_map(
    made: Path, shop: PetShop, tmp_path: Path
) -> None:
    price = {"amount": 5, "currency": "USD"}
    product = {"sku": CANARY, "title": CANARY, "price": price, "stock": 1, "colour": CANARY}
    shop.answer = lambda _: answered({"products": [product, product | {"stock": None}]})
    live = {"GATEWAY_STORE_API_KEY": f"{CANARY}-key", "GATEWAY_STORE_BASE_URL": shop.url}
    file = tmp_path / "overlay.yaml"
    asked = ("--connector", "store", "--overlay", str(file), "--json")
    code, out, _ = verified(made, shop.url, *asked, **live)
    findings = json.loads(out)["findings"]
    assert code == 1
    assert {each["path"] for each in findings} == {"upstreams/store/openapi.yaml"}
    assert [(each["rule"], each["pointer"]) for each in findings] == [
        ("live/not-in-contract", "/components/schemas/Product"),
        ("live/breaks-contract", "/components/schemas/Product/properties/stock"),
    ]
    contract = made / "schemas/upstreams/store/openapi.yaml"
    before = contract.read_bytes()
    overlay = read_document(tmp_path, PurePosixPath(file.name))
    value = apply_overlay(overlay, yaml.safe_load(before)).value
    try:
        contract.write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")
        code, out, _ = ended_gateway(made, "lint", environment=OWN)
        # What the contract says now, the map of the tool does not: its author reads where.
        assert code == 1
        assert "tools/store/find_products.yaml" in out
        assert "upstreams/store" not in out
    finally:
        contract.write_bytes(before)


def test_what_the_contract_allows_and_a_tool_cannot_use_is_an_error_of_the_tool(
    made: Path, shop: PetShop
) -> None:
    or_nothing = "stock: {type: integer", "stock: {type: [integer, 'null']"
    edits = {
        "upstreams/store/openapi.yaml": or_nothing,
        "tools/store/find_products.yaml": ('"@/stock"', '{value: "@/stock", onGap: error}'),
    }
    product = {"sku": CANARY, "title": CANARY, "price": {"amount": 5, "currency": "USD"}}
    live = {"GATEWAY_STORE_API_KEY": f"{CANARY}-key", "GATEWAY_STORE_BASE_URL": shop.url}
    asked = ("--connector", "store")
    with edited(made, edits):
        run_gateway(made, "lint", environment=OWN)
        shop.answer = lambda _: answered({"products": [product | {"stock": 1}]})
        assert verified(made, shop.url, *asked, "--keep", **live)[0] == 0
        shop.answer = lambda _: answered({"products": [product | {"stock": None}]})
        code, findings = found(made, shop.url, *asked, **live)
    assert code == 1
    assert rules(findings) == {("error", "live/breaks-tool"), ("error", "live/drifted")}
    by_rule = {each["rule"]: each for each in findings}
    assert {each["pointer"] for each in findings} == {"/paths/~1products/get"}
    broken = by_rule["live/breaks-tool"]
    said = "store.find_products: makes no result of the answer: /products/*/stock is absent"
    assert said in broken["message"]
    assert broken["fix"] == "correct the binding, or the contract of store"
    assert "a tool makes no result of it" in by_rule["live/drifted"]["message"]


def test_values_that_the_schema_just_admits_are_sent_after_the_examples(
    made: Path, shop: PetShop
) -> None:
    """What it refuses is not sent, and what the API refuses of them is no error."""
    shop.answer = lambda path: (
        answered({"products": []}) if "lamp" in path else answered({"message": "no"}, 422)
    )
    live = {"GATEWAY_STORE_API_KEY": f"{CANARY}-key", "GATEWAY_STORE_BASE_URL": shop.url}
    code, findings = found(made, shop.url, "--connector", "store", **live)
    assert (code, rules(findings)) == (0, {("note", "live/not-in-contract")})
    assert "does not know the status 422" in findings[0]["message"]
    sent = [parse_qs(urlsplit(target).query)["q"][0] for target, _ in shop.seen]
    assert sent[:2] == ["lamp", "desk lamp"]
    assert sorted(map(len, sent[2:])) == [1, 100]
    assert all(two - one >= 0.15 for (_, one), (_, two) in pairwise(shop.seen))
    shop.answer = lambda path: answered({"products": []} if "lamp" in path else [])
    code, findings = found(made, shop.url, "--connector", "store", **live)
    assert (code, rules(findings)) == (1, {("error", "live/breaks-contract")})
    shop.answer = lambda path: answered({"products": []}, 200 if "lamp" in path else 500)
    code, [finding] = found(made, shop.url, "--connector", "store", **live)
    assert (code, finding["rule"]) == (1, "live/server-error")
    vector = "with the vector /properties/query/m"
    assert finding["message"].startswith(f"store.find_products {vector}")


def test_no_vector_makes_a_tool_write(tmp_path: Path, shop: PetShop) -> None:
    def answer(path: str) -> PetAnswer:
        token = {"access_token": f"{CANARY}-token", "token_type": "bearer"}
        shown = RESERVATION if "reservations" in path else TEE_TIME
        return answered(token if path == "/oauth2/token" else {"data": [shown], "nextCursor": None})

    shop.answer = answer
    keys = ("CLIENT_ID", "CLIENT_SECRET", "COURSE_ID", "USER_ID")
    golf = {f"GATEWAY_GOLF_{key}": f"{CANARY}-1" for key in keys}
    urls = {"GATEWAY_GOLF_BASE_URL": shop.url, "GATEWAY_GOLF_TOKEN_URL": f"{shop.url}/oauth2/token"}
    _, out, error = ended_gateway(
        *(tmp_path, "verify", "--live", "--connector", "golf"), environment={**OURS, **golf, **urls}
    )
    assert "1 call left out, because with these arguments the tool writes" in error, out + error
    asked = [each.partition("?")[0] for each, _ in shop.seen]
    times = f"GET /v1/courses/{CANARY}-1/tee-times"
    assert {each for each in asked if not each.startswith("GET ")} == {"POST /oauth2/token"}
    # Of three examples and three vectors, one each would book.
    assert asked.count(times) == 4


def test_a_status_and_a_media_type_that_are_new_are_offered_too(
    project: Path, shop: PetShop, tmp_path: Path
) -> None:
    shop.answer = lambda path: answered([dict(GOOD)], 203) if path == "/pets" else shop.good(path)
    file = tmp_path / "overlay.yaml"
    code, findings = found(project, shop.url, "--overlay", str(file))
    assert code == 0
    assert rules(findings) == {("note", "live/not-in-contract")}
    assert "the contract does not know the status 203" in findings[0]["message"]
    assert "'203'" in file.read_text("utf-8")


def test_what_drifted_since_the_shapes_were_kept_is_classed_by_what_it_breaks(
    project: Path, shop: PetShop
) -> None:
    code, out, _ = verified(project, shop.url, "--keep")
    assert code == 0
    assert f"kept: {SHAPES}" in out
    kept = (project / SHAPES).read_text("utf-8")
    assert CANARY not in kept
    shop.pets = [{**GOOD, "price": 2, "owner": {"name": CANARY}, "age": "three"}]
    del shop.pets[0]["name"]
    del shop.pets[0]["status"]
    code, findings = found(project, shop.url)
    assert code == 1
    said = {each["message"].partition(" at ")[2].partition(":")[0]: each for each in findings}
    assert said["/*/name"]["severity"] == said["/*/age"]["severity"] == "error"
    assert "it is gone)" in said["/*/name"]["message"]
    assert "it is string now, and was integer)" in said["/*/age"]["message"]
    assert said["/*/price"]["severity"] == "note"
    assert said["/*/status"]["rule"] == "live/drifted"
    assert "it is gone; the contract allows it" in said["/*/status"]["message"]
    assert "it is new: object; the contract allows it" in said["/*/owner"]["message"]
    assert (project / SHAPES).read_text("utf-8") == kept
    verified(project, shop.url, "--keep")
    assert "live/drifted" not in {rule for _, rule in rules(found(project, shop.url)[1])}


def test_shapes_of_a_commit_or_a_day_are_compared(
    project: Path, shop: PetShop, tmp_path: Path
) -> None:
    def git(*arguments: str, **environment: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *who, *arguments], cwd=project, check=True, env=environment or None)

    git("init", "-q")
    verified(project, shop.url, "--keep")
    git("add", "-A")
    day = "2026-11-03T10:00:00Z"
    git("commit", "-qm", "kept", GIT_AUTHOR_DATE=day, GIT_COMMITTER_DATE=day, PATH="/usr/bin:/bin")
    shop.pets = [{**GOOD, "tail": True}]
    verified(project, shop.url, "--keep")
    assert rules(found(project, shop.url, "--since", "HEAD")[1]) == {
        ("note", "live/not-in-contract")
    }
    [tail, _] = [*found(project, shop.url, "--since", "2026-11-03")[1], None][:2]
    assert "drifted since" in tail["message"]
    [known] = found(project, shop.url)[1]
    assert "drifted" not in known["message"]
    shop.seen.clear()
    for since, said in (
        ("2026-11-02", "error: no shapes of pets were kept at 2026-11-02"),
        ("no-such-ref", "is no day like 2026-11-30, and no commit of the git repository"),
    ):
        code, out, error = verified(project, shop.url, "--since", since)
        assert (code, out) == (2, "")
        assert said in error
    assert shop.seen == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace('"integer"', '"number"'), "was edited by hand"),
        (lambda text: f"<<<<<<< HEAD\n{text}=======\n>>>>>>> x\n", "the marks of a merge conflict"),
        (lambda text: text.replace('"date"', '"day"', 1), "has another form"),
    ],
)
def test_a_kept_file_that_somebody_edited_is_an_error(
    project: Path, shop: PetShop, spoil: Callable[[str], str], said: str
) -> None:
    verified(project, shop.url, "--keep")
    file = project / SHAPES
    file.write_text(spoil(file.read_text("utf-8")), "utf-8")
    shop.seen.clear()
    code, out, error = verified(project, shop.url)
    assert (code, out) == (2, "")
    assert said in error
    assert "shapes.json" in error
    assert "fix: take one whole version from git, or delete it" in error
    assert shop.seen == []


HTML = PetAnswer(body=b"<html>sign in</html>", media_type="text/html")


@pytest.mark.parametrize(
    ("answer", "rule", "said", "requests"),
    [
        (answered({}, 401), "live/credentials", "answered 401", 1),
        (answered({}, 403), "live/not-permitted", "answered 403", 2),
        (answered({}, 429), "live/rate-limited", "limits how often", 3),
        (
            PetAnswer(status=429, headers={"Retry-After": "900"}),
            "live/rate-limited",
            "limits how often",
            1,
        ),
        (answered({}, 500), "live/server-error", "answered 500", 2),
        (HTML, "live/bad-answer", "the answer is not JSON: it has text/html", 2),
        (PetAnswer(body=b'[{"id":"p'), "live/bad-answer", "the body is no valid JSON", 2),
        (
            PetAnswer(status=302, headers={"Location": "https://elsewhere.test/"}),
            "live/bad-answer",
            "answered with a redirect",
            2,
        ),
        (PetAnswer(body=b'["' + b"x" * 11_000_000 + b'"]'), "live/bad-answer", "is larger than", 2),
        (PetAnswer(raw=b"\x00\x01 no HTTP\r\n\r\n"), "live/bad-answer", "is not HTTP", 2),
        (PetAnswer(raw=b""), "live/no-connection", "connection to the upstream broke", None),
    ],
)
def test_an_answer_that_is_of_no_use_is_one_finding_and_never_a_pass(
    project: Path, shop: PetShop, answer: PetAnswer, rule: str, said: str, requests: int | None
) -> None:
    shop.answer = lambda _: answer
    code, findings = found(project, shop.url)
    assert code == 1
    assert rules(findings) == {("error", rule)}
    assert len(findings) == 1
    assert said in findings[0]["message"]
    assert findings[0]["fix"]
    assert requests in {None, len(shop.seen)}


def test_refusals_alone_are_no_pass(project: Path, shop: PetShop) -> None:
    shop.answer = lambda _: PetAnswer(status=404, body=b"not here", media_type="text/plain")
    code, out, error = verified(project, shop.url)
    assert code == 1
    assert "0 errors" in out
    assert "the contract does not know the status 404" in out
    assert "nothing was checked: no tool answered with a result" in error
    assert "answered with a refusal only, so no result was compared: pets.list_pets" in error


def test_an_upstream_that_asks_for_a_pause_gets_it(project: Path, shop: PetShop) -> None:
    refusals = [PetAnswer(status=429, headers={"Retry-After": "1"})] * 3
    shop.answer = lambda path: refusals.pop() if refusals else shop.good(path)
    code, out, _ = verified(project, shop.url)
    assert code == 0, out
    times = [at for _, at in shop.seen]
    assert len(times) == 5
    assert all(later - earlier >= 1 for earlier, later in pairwise(times[:4]))


def test_an_upstream_that_is_down_is_one_finding(project: Path) -> None:
    with open_shop() as gone:
        url = gone.url
    code, [finding] = found(project, url)
    assert (code, finding["rule"]) == (1, "live/no-connection")
    assert "cannot be reached" in finding["message"]
    assert "check the address of pets in `gateway config`" in finding["fix"]


async def test_a_certificate_that_nobody_trusts_is_one_finding(
    project: Path, shop: PetShop, tmp_path: Path
) -> None:
    async with tls_before(shop.url, tmp_path) as proxy:
        code, [finding] = await asyncio.to_thread(found, project, proxy.url)
    assert (code, finding["rule"]) == (1, "live/no-connection")
    assert "certificate cannot be trusted" in finding["message"]


def test_without_a_live_upstream_nothing_is_checked_and_the_exit_code_says_so(
    project: Path, shop: PetShop
) -> None:
    code, out, error = ended_gateway(project, "verify", "--live", environment=OWN)
    assert (code, out) == (2, "")
    assert "2 tools of pets not called" in error
    assert "GATEWAY_BACKEND_PETS=live" in error
    assert "error: nothing was checked" in error
    for option in (("--keep",), ("--since", "HEAD"), ("--overlay", "x")):
        code, _, error = ended_gateway(project, "verify", *option, environment=OWN)
        assert code == 2
        assert "--since, --keep and --overlay need --live" in error
    assert shop.seen == []


def test_the_budget_ends_the_calls_and_a_report_is_written(
    project: Path, shop: PetShop, tmp_path: Path
) -> None:
    def slowly(path: str) -> PetAnswer:
        time.sleep(0.3)
        return shop.good(path)

    shop.answer = slowly
    report = tmp_path / "report.json"
    code, _, error = verified(project, shop.url, "--budget", "0.2s", "--report", str(report))
    assert code == 0
    assert "1 call left out, because the budget is used up" in error
    checks = json.loads(report.read_text("utf-8"))["checks"]
    assert {each["outcome"] for each in checks} <= {"passed", "skipped"}
    shop.answer, shop.pets = shop.good, [DRIFTED]
    verified(project, shop.url, "--report", str(report))
    checks = json.loads(report.read_text("utf-8"))["checks"]
    assert "live/breaks-contract" in {each["check"] for each in checks}
    assert CANARY not in report.read_text("utf-8")
