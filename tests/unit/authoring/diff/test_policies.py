"""Each rule of policy: an edit of valid contracts that breaks it, and a near one that does not."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.diff.policies import LIST_BUDGET, policies
from gateway.authoring.diff.rules import POLICY, RULES
from tests.unit.edits import rewrite

ASSETS = Path(__file__).parents[3] / "assets" / "contracts"
FIND, ADD, GREET = (
    f"tools/{name}.yaml" for name in ("books/find_books", "books/add_book", "hello/greet")
)
INPUT, OUTPUT = "tools/books/find_books.input.json", "tools/books/find_books.output.json"
AGENTS, HOOK = "policies/agents.yaml", "webhooks/desk/webhook.yaml"
EVENT, BOOKS = "events/book.lent.v1.yaml", "upstreams/books/openapi.yaml"
SHELF = "shelf_closed: {status: 409, title: The shelf is closed.}"
AUTHENTIC = "authentication: {scheme: basic}"


class Case(NamedTuple):
    """Two edits of one text: the first breaks the rule, the second does not."""

    rule: str
    file: str
    text: str
    breaks: str
    keeps: str


ATTEMPTS = "attempts: {max: 3, backoffSeconds: [0.5, 2], timeoutSeconds: 3, on: [429, 503]}"
LONG = " ".join(f"word{number}" for number in range(LIST_BUDGET // 4))
OUT = (Path(ASSETS, "minimal", OUTPUT).read_text("utf-8")).partition('"type": "object",')[2]
OUT = f'"type": "object",{OUT}'
CASES = (
    Case(
        "tool-renamed-without-alias",
        FIND,
        "name: books_find_books\n    aliases: [search_books]",
        "name: books_search\n    aliases: [search_books]",
        "name: books_search\n    aliases: [search_books, books_find_books]",
    ),
    Case(
        "tool-alias-removed",
        FIND,
        "aliases: [search_books]",
        "aliases: [find]",
        "aliases: [search_books, find]",
    ),
    Case("tag-removed", FIND, "tags: [books]", "tags: [hello]", "tags: [books, hello]"),
    Case(
        "resource-removed",
        "resources/hello/greeting.yaml",
        "hello://greetings",
        "hello://hello",
        "hello://greetings",
    ),
    Case(
        "title-changed",
        FIND,
        "summary: Find books\n",
        "summary: Search\n",
        "summary: 'Find books'\n",
    ),
    Case(
        "tool-description-changed",
        FIND,
        "by words of their titles.",
        "by words.",
        "by words of\n    their titles.",
    ),
    Case(
        "param-description-changed",
        INPUT,
        "Words of the title.",
        "Words.",
        "Words of the \\u0074itle.",
    ),
    Case(
        "output-description-changed",
        OUTPUT,
        "How many books match.",
        "How many.",
        "How many books \\u006datch.",
    ),
    Case(
        "readonly-hint-dropped",
        GREET,
        "readOnlyHint: true",
        "readOnlyHint: false",
        "readOnlyHint: true",
    ),
    Case(
        "destructive-hint-added",
        FIND,
        "destructiveHint: false",
        "destructiveHint: true",
        "destructiveHint: false",
    ),
    Case(
        "idempotent-hint-dropped",
        FIND,
        "idempotentHint: true",
        "idempotentHint: false",
        "idempotentHint: true",
    ),
    Case(
        "open-world-hint-changed",
        FIND,
        "openWorldHint: true",
        "openWorldHint: false",
        "openWorldHint: true",
    ),
    Case("hint-relaxed", FIND, "readOnlyHint: false", "readOnlyHint: true", "readOnlyHint: false"),
    Case("effect-raised", GREET, "effect: read", "effect: write", "effect: read"),
    Case("default-changed", INPUT, '"default": 20', '"default": 10', '"default": 20.0'),
    Case(
        "error-type-added",
        FIND,
        SHELF,
        f"{SHELF}\n      lost: {{status: 404, title: Lost.}}",
        SHELF.replace("is closed", "is shut"),
    ),
    Case(
        "error-type-removed",
        FIND,
        SHELF,
        "lost: {status: 404, title: Lost.}",
        f"{SHELF}\n      lost: {{status: 404, title: Lost.}}",
    ),
    Case(
        "error-status-changed",
        FIND,
        SHELF,
        SHELF.replace("409", "423"),
        SHELF.replace("The shelf", "A shelf"),
    ),
    Case(
        "client-requirement-added",
        FIND,
        "aliases:",
        "requires: [tasks]\n    aliases:",
        "requires: []\n    aliases:",
    ),
    Case(
        "escalation-changed",
        FIND,
        "grant: books.add_book",
        "grant: hello.greet",
        "grant: books.add_book",
    ),
    Case(
        "sensitive-argument-exposed",
        INPUT,
        '"maxLength": 100',
        '"maxLength": 100, "x-sensitive": true',
        '"maxLength": 100.0',
    ),
    Case(
        "rate-limit-lowered",
        GREET,
        "timeoutSeconds: 1",
        "timeoutSeconds: 1\n    limits: {calls: [{max: 5, seconds: 60}]}",
        "timeoutSeconds: 1\n    limits: {cost: 1}",
    ),
    Case(
        "timeout-lowered", FIND, "timeoutSeconds: 10", "timeoutSeconds: 9.5", "timeoutSeconds: 10.5"
    ),
    Case(
        "task-mode-changed",
        ADD,
        "timeoutSeconds: 10",
        "timeoutSeconds: 10\n    task: auto",
        "timeoutSeconds: 10\n    task: never",
    ),
    Case("cache-changed", FIND, "seconds: 600", "seconds: 300", "seconds: 600.0"),
    Case(
        "cache-made-public",
        FIND,
        "seconds: 600, scope: public",
        "seconds: 600",
        "scope: public, seconds: 600",
    ),
    Case(
        "query-route-removed",
        FIND,
        "  x-mcp:",
        "  x-query: true\n  x-mcp:",
        "  x-query: false\n  x-mcp:",
    ),
    Case("output-schema-added", OUTPUT, OUT, '"type": "object"\n}', f"{OUT} "),
    Case(
        "attempts-changed",
        FIND,
        ATTEMPTS,
        ATTEMPTS.replace("max: 3", "max: 2"),
        ATTEMPTS.replace("timeoutSeconds: 3", "timeoutSeconds: 3.0"),
    ),
    Case(
        "binding-operation-changed",
        FIND,
        "operationId: searchBooks",
        "operationId: putBook",
        "operationId: searchBooks",
    ),
    Case("binding-changed", FIND, 'title: "@/title"', 'title: "@/isbn"', "title: '@/title'"),
    Case("agent-removed", AGENTS, "reader:", "visitor:", "reader:  # of books"),
    Case(
        "agent-grant-added",
        AGENTS,
        "- hello.greet",
        "- hello.greet\n      - books.add_book",
        "- 'hello.greet'",
    ),
    Case("agent-grant-removed", AGENTS, "      - hello.greet", "", "      - hello.*"),
    Case(
        "upstream-address-changed",
        BOOKS,
        "library.example/api",
        "library.example/v2",
        "library.example/api",
    ),
    Case("credential-added", BOOKS, "card., required: false", "card.", "cards., required: false"),
    Case(
        "setting-added", BOOKS, "default: main-street, mock", "mock", "default: side-street, mock"
    ),
    Case("scope-added", BOOKS, "[books.read]", "[books.read, books.write]", "[books.read]"),
    Case(
        "idempotency-header-dropped",
        BOOKS,
        "x-idempotency-header: Idempotency-Key",
        "x-note: none",
        "x-idempotency-header: Idempotency-Id",
    ),
    Case(
        "webhook-description-changed",
        HOOK,
        "library's desk reports.",
        "desk reports.",
        "library's\n    desk reports.",
    ),
    Case(
        "webhook-signature-changed",
        HOOK,
        AUTHENTIC,
        "authentication: {scheme: basic, header: X-Key}",
        "authentication:\n          scheme: basic",
    ),
    Case(
        "webhook-dedupe-changed",
        HOOK,
        "{pointer: /message}",
        "{pointer: /id}",
        "{'pointer': /message}",
    ),
    Case(
        "webhook-reading-changed",
        HOOK,
        "{pointer: /kind}",
        "{pointer: /type}",
        "{'pointer': /kind}",
    ),
    Case(
        "webhook-limit-lowered",
        HOOK,
        "maxBodyBytes: 65536",
        "maxBodyBytes: 65535",
        "maxBodyBytes: 65537",
    ),
    Case("webhook-effects-changed", HOOK, "mode: create", "mode: upsert", "'mode': create"),
    Case(
        "event-source-lost",
        HOOK,
        "event: gateway.book.lent.v1",
        "event: gateway.job.failed.v1",
        "event: 'gateway.book.lent.v1'",
    ),
    Case(
        "event-subject-changed",
        HOOK,
        "subject: $request.body#/loan",
        "subject: $request.body#/isbn",
        "subject: '$request.body#/loan'",
    ),
    Case("event-description-changed", EVENT, "a book home.", "a book.", "a\n    book home."),
    Case(
        "event-changed-without-version",
        "events/book.lent.v1.json",
        '"isbn"',
        '"isbn13"',
        '"\\u0069sbn"',
    ),
    Case(
        "tools-list-grew",
        FIND,
        "of their titles.",
        f"of their titles. {LONG}",
        "of their titles, all of them.",
    ),
)
REVERSED = {
    "sensitive-argument-exposed",
    "cache-made-public",
    "query-route-removed",
    "output-schema-added",
}
"""Rules that the way back from the edit breaks."""
ELSEWHERE = {
    "sunset-earlier",
    "prompt-removed",
    "output-schema-removed",
    "result-form-changed",
    "client-profile-violated",
}
"""Rules with tests of their own."""


@pytest.fixture(scope="module")
def minimal(tmp_path_factory: pytest.TempPathFactory) -> Contracts:
    """The contracts before each edit."""
    folder = tmp_path_factory.mktemp("minimal") / "schemas"
    shutil.copytree(ASSETS / "minimal", folder)
    meta.install(folder)
    return lower(read_tree(folder))


def edited(schemas: Path, file: str, text: str, new: str) -> Contracts:
    rewrite(schemas / file, text, new)
    return lower(read_tree(schemas))


def rules(old: Contracts, new: Contracts) -> set[str]:
    return {change.rule for change in policies(old, new)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_is_broken_by_one_edit_and_kept_by_another(
    minimal: Contracts, schemas: Path, tmp_path: Path, case: Case
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(schemas, kept)
    broken = edited(schemas, case.file, case.text, case.breaks)
    sides = (broken, minimal) if case.rule in REVERSED else (minimal, broken)
    assert case.rule in rules(*sides)
    near = edited(kept, case.file, case.text, case.keeps)
    sides = (near, minimal) if case.rule in REVERSED else (minimal, near)
    assert case.rule not in rules(*sides)


def test_each_rule_of_policy_is_tested() -> None:
    assert {case.rule for case in CASES} | ELSEWHERE == {rule.id for rule in POLICY}
    assert len(RULES) == len({*RULES})
    assert all(rule.reason.endswith(".") and ". " not in rule.reason for rule in POLICY)


def test_equal_contracts_have_no_changes(minimal: Contracts, schemas: Path) -> None:
    assert list(policies(minimal, minimal)) == []
    assert list(policies(minimal, lower(read_tree(schemas)))) == []


def test_a_change_names_its_file_and_pointer(minimal: Contracts, schemas: Path) -> None:
    new = edited(schemas, GREET, "timeoutSeconds: 1", "timeoutSeconds: 0.5")
    (change,) = policies(minimal, new)
    assert change == ContractChange(
        rule="timeout-lowered",
        subject="hello.greet",
        verdict=ChangeVerdict.POLICY,
        severity="warning",
        text="a call may take 0.5 s, and could take 1 s",
        old=change.new,
        new=change.old,
    )
    assert change.new is not None
    assert (change.new.path, change.new.pointer) == (GREET, "/post/x-policy/timeoutSeconds")


def test_a_tool_under_another_name_is_found_by_what_it_does(
    minimal: Contracts, schemas: Path
) -> None:
    tool = schemas / GREET
    moved = tool.with_name("welcome.yaml")
    tool.rename(moved)
    rewrite(moved, "operationId: hello.greet", "operationId: hello.welcome")
    rewrite(moved, "name: hello_greet", "name: hello_welcome")
    rewrite(schemas / "openapi.yaml", "hello/greet:", "hello/welcome:")
    rewrite(schemas / "resources/hello/greeting.yaml", "hello.greet", "hello.welcome")
    rewrite(schemas / "openapi.yaml", "hello/greet.yaml", "hello/welcome.yaml")
    found = [
        each for each in policies(minimal, lower(read_tree(schemas))) if "renamed" in each.rule
    ]
    assert [(each.rule, each.subject) for each in found] == [
        ("tool-renamed-without-alias", "hello.greet")
    ]
    rewrite(moved, "name: hello_welcome", "name: hello_welcome\n    aliases: [hello_greet]")
    assert "tool-renamed-without-alias" not in rules(minimal, lower(read_tree(schemas)))


def test_a_prompt_that_is_gone(minimal: Contracts, schemas: Path) -> None:
    (schemas / "prompts/hello/welcome.yaml").unlink()
    assert "prompt-removed" in rules(minimal, lower(read_tree(schemas)))
    assert "prompt-removed" not in rules(lower(read_tree(schemas)), minimal)


def test_a_result_without_a_schema(minimal: Contracts, schemas: Path) -> None:
    new = edited(schemas, OUTPUT, OUT, '"type": "object"\n}')
    assert "output-schema-removed" in rules(minimal, new)
    assert "output-schema-removed" not in rules(new, minimal)


def test_a_result_in_another_form(minimal: Contracts, schemas: Path) -> None:
    content = "        application/json:\n          schema: {$ref: ./greet.output.json}"
    new = edited(schemas, GREET, content, f"        text/plain: {{}}\n{content}")
    assert "result-form-changed" in rules(minimal, new)


def test_a_schema_that_a_client_refuses(minimal: Contracts, schemas: Path) -> None:
    new = edited(schemas, INPUT, '"limit": {', '"how many books": {')
    assert "client-profile-violated" in rules(minimal, new)
    assert "client-profile-violated" not in rules(new, new)


def test_a_limit_of_an_agent(minimal: Contracts, schemas: Path) -> None:
    old = edited(
        schemas, AGENTS, "    description: Looks", "    limits: {budget: 9}\n    description: Looks"
    )
    new = edited(schemas, AGENTS, "budget: 9", "budget: 8")
    (change,) = policies(old, new)
    assert (change.rule, change.subject) == ("rate-limit-lowered", "agent reader")
    assert list(policies(new, old)) == []


def test_more_calls_in_a_shorter_time_are_no_lower_limit(minimal: Contracts, schemas: Path) -> None:
    old = edited(
        schemas,
        GREET,
        "timeoutSeconds: 1",
        "timeoutSeconds: 1\n    limits: {calls: [{max: 5, seconds: 60}]}",
    )
    shorter = edited(schemas, GREET, "seconds: 60", "seconds: 30")
    assert list(policies(old, shorter)) == []
    assert rules(shorter, old) == {"rate-limit-lowered"}
    assert rules(minimal, old) == {"rate-limit-lowered"}


def test_a_tool_that_will_end(minimal: Contracts, schemas: Path) -> None:
    def ending(old: str, sunset: str) -> Contracts:
        told = f'  x-deprecation: {{since: "2026-12-01"{sunset}}}\n'
        return edited(schemas, GREET, old, f"{told}  x-policy:")

    found = ending("  x-policy:", "")
    assert rules(minimal, found) == {"deprecated", "tool-description-changed"}
    assert rules(found, minimal) == {"deprecation-withdrawn", "tool-description-changed"}
    told = '  x-deprecation: {since: "2026-12-01"}\n  x-policy:'
    late = ending(told, ', sunset: "2027-06-01"')
    assert rules(found, late) == {"tool-description-changed"}
    told = told.replace("}", ', sunset: "2027-06-01"}')
    soon = ending(told, ', sunset: "2027-05-31"')
    assert rules(late, soon) == {"sunset-earlier", "tool-description-changed"}
    assert rules(soon, late) == {"tool-description-changed"}


def test_an_argument_that_will_end(minimal: Contracts, schemas: Path) -> None:
    new = edited(schemas, INPUT, '"default": 20', '"deprecated": true, "default": 20')
    (change,) = policies(minimal, new)
    assert (change.rule, change.text) == ("deprecated", "limit is deprecated now")
    assert {each.rule for each in policies(new, minimal)} == {"deprecation-withdrawn"}
