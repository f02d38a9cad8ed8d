"""What exists is documented, and what is documented exists."""

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from typing import Final

import click
import pytest

from gateway.authoring.diff.rules import RULES as CHANGES
from gateway.authoring.lint import RULES
from gateway.catalogue import open_catalogue
from gateway.cli.commands import COMMANDS
from gateway.cli.commands import cli as group
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import GatewayError
from gateway.settings.declared import SETTINGS
from gateway.settings.sources import TOML_VARIABLE
from gateway.settings.upstreams import upstream_variables
from gateway.settings.webhooks import source_variables
from gateway.transports.http.problem_kinds import PROBLEMS

BLOCK: Final = re.compile(r"^[ ]*```(?:shell|sh|console)\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
COMMAND: Final = re.compile(r"^\s*(?:[A-Z_]+=\S+ )*(?:\S*/)?gateway ([a-z].*)$", re.MULTILINE)
NAMED: Final = re.compile(r"`(?:\S*/)?gateway ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?[^`\n]*`")
"""A command and its subcommand in a sentence."""
BY_NAME: Final = re.compile(r"pip install [\"']?contract-gateway\b(?!\[[a-z,]+\] @)")
"""The package is on no index, so its name alone installs nothing."""
VARIABLE: Final = re.compile(r"\bGATEWAY_[A-Z][A-Z_]*[A-Z]\b")
LINK: Final = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
OF_EXAMPLES: Final = re.compile(
    r"GATEWAY_(BACKEND_)?(STORE|TIDES)(_BASE_URL|_API_KEY|_API_KEY_FILE)?"
)
"""Settings of the upstreams in the examples, which `tests/functional/test_pages.py` runs."""
OF_TESTS: Final = re.compile(r"GATEWAY_(TESTS_NO_SKIP|TESTS_FULL|TEST_POSTGRES)")
"""Variables of the tests themselves."""


def unparsable(pages):
    """Each command in a shell block that the command line would not understand."""
    lines = (
        (path, line.partition("  #")[0].removesuffix("\\"))
        for path, text in pages.items()
        for block in BLOCK.findall(text)
        for line in COMMAND.findall(block.replace("\\\n", " "))
    )
    return [f"{path}: gateway {line}" for path, line in lines if not _parses(line)]


def unknown(pages):
    """Each command that a sentence names and that does not exist."""
    named = ((path, *found) for path, text in pages.items() for found in NAMED.findall(text))
    return [f"{path}: gateway {one} {two}".strip() for path, one, two in named if _lacks(one, two)]


def _lacks(one, two):
    context = click.Context(group, info_name="gateway")
    command = group.get_command(context, one)
    is_group = isinstance(command, click.Group) and bool(two)
    return command is None or (is_group and command.get_command(context, two) is None)


def _parses(line):
    """Whether names and options exist; values may be placeholders."""
    command, arguments = group, shlex.split(re.split(r" [|>&]|&&", line)[0])
    context = click.Context(group, info_name="gateway")
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        command = command.get_command(context, arguments.pop(0))
    is_whole = not isinstance(command, click.Group) or command.invoke_without_command
    if command is None or not is_whole:
        return False
    try:
        command.make_parser(context).parse_args(arguments)
    except click.UsageError:
        return False
    return True


def error_classes(kind=GatewayError):
    """The whole tree below `kind`."""
    return [kind, *(found for child in kind.__subclasses__() for found in error_classes(child))]


def test_the_table_of_attacks_is_what_the_tests_say(root):
    """Also that each test in tests/adversarial names its attack."""
    script = root / "scripts" / "attacks.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_setting_is_documented(pages):
    page = pages["docs/reference/settings.md"]
    assert [key for key in SETTINGS if f"`{key}`" not in page] == []


def test_every_command_is_documented(pages):
    page = pages["docs/reference/cli.md"]
    assert [name for name in COMMANDS if f"## gateway {name}\n" not in page] == []


def test_every_error_is_documented(pages):
    page = pages["docs/reference/errors.md"]
    assert [kind.slug for kind in PROBLEMS.values() if f"`{kind.slug}`" not in page] == []
    classes = [kind for kind in error_classes() if kind.__module__ == "gateway.errors"]
    assert [kind.__name__ for kind in classes if f"`{kind.__name__}`" not in page] == []


def test_every_lint_rule_is_documented(pages):
    page = pages["docs/reference/lint-rules.md"]
    assert [rule.id for rule in RULES if f"`{rule.id}`" not in page] == []


def test_every_rule_of_changes_is_documented(pages):
    page = pages["docs/reference/change-rules.md"]
    assert [rule for rule in CHANGES if f"`{rule}`" not in page] == []


def test_every_tool_has_its_page():
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    assert catalogue.entries
    assert [each.id for each in catalogue.entries if each.id not in catalogue.documented] == []


def test_the_list_of_rooms_is_that_of_the_import_rules(root, pages):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    rules = project["tool"]["importlinter"]["contracts"]
    (layers,) = (rule["layers"] for rule in rules if rule["id"] == "rooms")
    lines = pages["docs/explanation/how-it-works.md"].partition("```text\n__main__")[2]
    listed = ("__main__" + lines.partition("```")[0]).splitlines()
    rooms = [re.split(r"  +", line)[0] for line in listed if line and line[0] != " "]
    assert rooms == layers


def test_each_change_begins_in_at_most_three_files_that_exist(root, pages):
    """The answers to what somebody tries who does not know the code."""
    page = pages["docs/explanation/how-it-works.md"]
    rows = re.findall(r"^\| [^|]+ \| (.+) \|$", section(page, "Where to change it"), re.MULTILINE)
    answers = [re.findall(r"`(gateway/[\w/.]+)`", row) for row in rows if "`gateway/" in row]
    assert len(answers) == 7
    assert [found for found in answers if len(found) > 3] == []
    named = re.findall(r"`(gateway/[\w/]+(?:\.py)?/?)`", page)
    assert [path for path in named if not (root / path).exists()] == []


def section(page, title):
    """The text under a heading, up to the next one."""
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_first_page_and_the_readme_lead_to_the_same_places(pages):
    row = re.compile(r"^\| *(?:\*\*[\w ]+\*\*)? *\| .+ \| .+ \|$", re.MULTILINE)
    linked = [
        {
            target.removeprefix("docs/")
            for line in row.findall(pages[name])
            for target in LINK.findall(line)
        }
        for name in ("README.md", "docs/index.md")
    ]
    built = {"cli", "settings", "errors", "lint-rules", "change-rules", "client-profiles"}
    only = linked[1] - linked[0]
    assert only <= {f"reference/{name}.md" for name in built} | {"decisions.md"}
    assert linked[0] - linked[1] == {"contributing/tests.md", "decisions", "CHANGELOG.md"}
    assert len(linked[0]) > 25


def test_every_alert_has_its_answer(root, pages):
    rules = (root / "docs/_static/monitoring/alerts.yaml").read_text("utf-8")
    alerts = re.findall(r"- alert: (\w+)", rules)
    page = section(pages["docs/operate/observe.md"], "Alerts, and what to do")
    assert alerts
    assert [name for name in alerts if f"`{name}`" not in page] == []


UNITS: Final = {"KiB": 1024, "MiB": 1024**2, "": 1, "s": 1, "seconds": 1, "days": 1}
VALUE: Final = re.compile(r"`([a-z_]+)` \((\d[\d,.]*) ?(\w*)\)")
"""A setting with its default, such as `max_webhook_bytes` (8 MiB)."""


def misquoted(pages):
    """Each default in a page that is not that of the setting."""
    return [
        f"{path}: {name} ({number} {unit})"
        for path, text in pages.items()
        for name, number, unit in VALUE.findall(text)
        if name in SETTINGS
        and float(number.replace(",", "")) * UNITS[unit] != SETTINGS[name].default
    ]


def test_the_pages_give_settings_their_defaults(pages):
    written = {path: text for path, text in pages.items() if path.split("/")[1:2] != ["decisions"]}
    assert misquoted(written) == []
    quoted = [path for path, text in written.items() if VALUE.search(text)]
    assert len(quoted) > 5


def test_the_limits_in_the_guarantees_are_the_settings(pages):
    table = section(pages["docs/explanation/guarantees.md"], "Limits").splitlines()
    named = [(row, name) for row in table for name in re.findall(r"`(\w+_\w+)`", row)]
    # The contract of a tool, and of a webhook, says more than one number.
    beside = {"max_upload_bytes", "max_webhook_bytes"}
    defaults = [(row, SETTINGS[name].default) for row, name in named if name not in beside]
    assert len(defaults) > 12
    assert [row for row, default in defaults if not is_shown(default, row)] == []


def is_shown(number, row):
    """Whether the row has the number, in one of the forms of the pages."""
    forms = (f"{number:,g}", f"{number / 1024:g} KiB", f"{number / 1024**2:g} MiB")
    return any(re.search(rf"\b{re.escape(form)}\b", row) for form in forms)


def test_a_wrong_default_is_found():
    assert misquoted({"page": "`audit_days` (90), `audit_days` (91)"}) == ["page: audit_days (91 )"]


def test_every_dependency_has_its_reason(root, pages):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [wish for extra in extras for wish in extra]
    names = {re.split(r"[<>=!;\s\[]", wish)[0] for wish in wanted}
    page = pages["docs/decisions/0009-dependencies.md"]
    assert sorted(name for name in names if f"`{name}`" not in page) == []


def test_every_variable_in_the_pages_is_read_by_something(pages):
    known = {TOML_VARIABLE}
    for setting in SETTINGS.values():
        known |= {setting.name.variable, setting.name.of_file().variable}
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    for upstream in catalogue.upstreams.values():
        known |= upstream_variables(upstream)
    for source in catalogue.sources:
        known |= source_variables(source)
    invented = {
        f"{path}: {name}"
        for path, text in pages.items()
        for name in VARIABLE.findall(text)
        if name not in known and not OF_TESTS.fullmatch(name) and not OF_EXAMPLES.fullmatch(name)
    }
    assert invented == set()


def test_every_command_in_the_pages_can_be_parsed(pages):
    assert unparsable(pages) == []


def test_every_command_in_a_sentence_exists(pages):
    now = {path: text for path, text in pages.items() if "decisions" not in path}
    assert unknown(now) == []


def test_no_page_installs_the_package_by_its_name(pages):
    assert [path for path, text in pages.items() if BY_NAME.search(text)] == []


def test_a_command_that_does_not_exist_is_found():
    assert unknown({"page": "`gateway deliveries list` or `gateway keys forge AGENT`"}) == [
        "page: gateway deliveries list",
        "page: gateway keys forge",
    ]
    page = (
        "```shell\ngateway keys forge --all\nGATEWAY_PORT=1 gateway serve --port 1  # fine\n```\n"
    )
    assert unparsable({"page": page}) == ["page: gateway keys forge --all"]
    assert unparsable({"page": "```shell\ngateway serve --prot 1\n```\n"})


def test_pages_for_users_say_what_is_so_now_and_lead_to_pages(pages):
    """No promise of what is missing, and no decision in the place of a fact."""
    users = ("start", "call", "author", "operate", "reference")
    found = {
        path: match
        for path, text in pages.items()
        if path.split("/")[-2:-1] and path.split("/")[-2] in users
        for match in re.findall(r"\bnot yet\b|decisions/\d{4}", text)
    }
    assert found == {}


@pytest.fixture(scope="module")
def of_site(root):
    """Whether the site has a page of this path."""
    patterns = runpy.run_path(root / "docs" / "conf.py")["exclude_patterns"]
    excluded = tuple(each.removesuffix("*") for each in patterns)
    return lambda path: path.startswith("docs/") and not path[5:].startswith(excluded)


@pytest.fixture(scope="module")
def dead(root, built, of_site):
    """Finds each link to a file that its reader does not have: only the site has built pages."""

    def leads(path, target):
        name = (root / path).parent.joinpath(target).resolve().relative_to(root).as_posix()
        return of_site(path) if name in built else (root / name).exists()

    return lambda pages: [
        f"{path}: {target}"
        for path, text in pages.items()
        for target in LINK.findall(text)
        if not leads(path, target)
    ]


def test_every_link_to_a_file_leads_somewhere(pages, dead):
    assert dead(pages) == []


def test_a_link_to_a_page_that_only_the_site_has_is_found(dead):
    link = "[errors](../reference/errors.md)"
    assert dead({"docs/call/rest.md": link}) == []
    assert dead({"docs/decisions/0001-a.md": link}) == [
        "docs/decisions/0001-a.md: ../reference/errors.md"
    ]
    assert dead({"README.md": "[no](docs/nothing.md)"}) == ["README.md: docs/nothing.md"]


def test_the_change_log_names_every_operation(pages):
    entries = open_catalogue("generated", HANDLER_PACKAGES).entries
    missing = {entry.id for entry in entries if f"`{entry.id}`" not in pages["CHANGELOG.md"]}
    assert missing <= {"avinode.airport_names"}, "the README's reader may have made this one"
