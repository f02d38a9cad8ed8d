"""Text of contracts with markup, code, terminal commands or addresses: it is shown as text."""

import ast
import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Final

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from myst_parser.docutils_ import Parser

from gateway.authoring.codegen.generate import generate
from gateway.authoring.codegen.render.artifact import docstring, quoted
from gateway.authoring.codegen.render.markdown import code, fenced, inline, prose, table
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import read_document
from gateway.cli.edge import run
from gateway.contract.outbound import header_refusal, url_refusal

CONTRACTS: Final = Path(__file__).parents[1] / "assets/contracts/minimal"
SECRET: Final = "the text of a file that no page may hold"
PLANTED: Final = "planted_by_a_contract"
NASTY: Final = (
    "```{raw} html\n<script>alert(1)</script>\n```",
    "```{include} /etc/hostname\n```",
    "```{literalinclude} SECRET_FILE\n```",
    ":::{raw} html\n:file: SECRET_FILE\n:::",
    "~~~{raw} html\n<b>x</b>\n~~~",
    "{raw-html}`<b>x</b>` {doc}`../index` {eval-rst}`x`",
    "<script>alert(1)</script> <img src=x onerror=alert(1)> <!-- --> &lt;b&gt; &#60;",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) <javascript:alert(1)>",
    "[a]: http://evil.example\n\n[a] [a][a]",
    "# A heading\n\n## Another\n\nText\n===",
    "(target)=\n\n% a comment\n\n+++ a break\n\n---\ntitle: x\n---",
    "1. one\n2. two\n\n- a list\n\n> a quote\n\n    indented code",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```{toctree}\n../../../etc/passwd\n```",
    '"""\nimport os\nplanted_by_a_contract()\n"""',
    '\\"""; planted_by_a_contract(); """',
    "\\N{LATIN SMALL LETTER A}\\x41\\\n# planted_by_a_contract()",
    "'); planted_by_a_contract(); ('",
    "`` `a` ``` b ```` {raw}`x`",
    "-->\n<script>alert(1)</script>\n<!--",
)
ALLOWED: Final = (
    nodes.document,
    nodes.paragraph,
    nodes.Text,
    nodes.literal,
    nodes.literal_block,
    nodes.comment,
    nodes.section,
    nodes.title,
    nodes.table,
    nodes.tgroup,
    nodes.colspec,
    nodes.thead,
    nodes.tbody,
    nodes.row,
    nodes.entry,
)
OWN: Final = {"raw", "inline", "emphasis", "reference", "system_message", "problematic"}
"""What the pages hold of their own: a comment, coloured examples, links among themselves."""
MARKS: Final = st.sampled_from("`~:{}[]()<>#*_-+=|%&!\\\"'$^@.;/\n \t1a")
TEXTS: Final = st.one_of(
    st.lists(st.one_of(MARKS, st.sampled_from(NASTY)), max_size=12).map("".join),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
)


def tree_of(markdown: str) -> nodes.document:
    """The page as the documentation's own parser reads it."""
    overrides = {
        "myst_enable_extensions": ["colon_fence", "deflist"],
        "report_level": 5,
        "raw_enabled": True,
        "file_insertion_enabled": True,
    }
    return publish_doctree(markdown, parser=Parser(), settings_overrides=overrides)


def other_nodes(markdown: str) -> set[str]:
    """What the page holds besides plain text: nothing, of a contract's text."""
    return {
        type(node).__name__ for node in tree_of(markdown).findall() if not isinstance(node, ALLOWED)
    }


@pytest.mark.attack(
    "A description holds raw HTML, a directive that reads a file, a role, a link, an image, a"
    " heading or a list.",
    required="The documentation shows it as text: only paragraphs and spans of code come of it.",
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_text_in_markdown(text: str) -> None:
    page = "\n\n".join((f"# {inline(text) or 'x'}", "Before.", prose(text), code(text), "After."))
    tree = tree_of(page)
    assert other_nodes(page) == set()
    assert len([*tree.findall(nodes.literal_block)]) == 0
    assert len([*tree.findall(nodes.title)]) <= 1
    cells = table(("A", "B"), [(inline(text), code(text)), ("c", "d")])
    assert other_nodes(cells) == set()
    assert len([*tree_of(cells).findall(nodes.entry)]) == 6
    (block,) = tree_of(fenced("json", json.dumps(text))).findall(nodes.literal_block)
    assert json.loads(block.astext()) == text


@pytest.mark.attack(
    "A description holds quotes, backslashes and line ends that would end a docstring or a string.",
    required="The generated Python holds it as one string, and nothing else.",
)
@given(TEXTS)
def test_text_in_python(text: str) -> None:
    (shown,) = ast.parse(docstring(f"About {text}")).body
    assert isinstance(shown, ast.Expr)
    assert isinstance(shown.value, ast.Constant)
    assert ast.literal_eval(quoted(text)) == text


@pytest.mark.attack(
    "Every description of all contracts holds such text at once.",
    required="The generated Python calls nothing of it, and the pages hold nothing but text.",
)
def test_text_in_everything_that_is_generated(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    shutil.copytree(CONTRACTS, schemas)
    meta.install(schemas)
    (tmp_path / "secret").write_text(SECRET)
    for number, path in enumerate(sorted(schemas.rglob("*.*"))):
        # What the gateway ships must be as it is.
        if path.parent.name != "_meta" and path.name != "content.json":
            nasty = NASTY[number % len(NASTY)].replace("SECRET_FILE", str(tmp_path / "secret"))
            document = read_document(schemas, PurePosixPath(path.relative_to(schemas)))
            # JSON is YAML too.
            path.write_text(json.dumps(with_text(document.value, nasty)), "utf-8")
    generate(schemas, tmp_path / "made", tmp_path / "docs")
    modules = sorted((tmp_path / "made").rglob("*.py"))
    for module in modules:
        tree = ast.parse(module.read_text("utf-8"))
        assert not [each for each in ast.walk(tree) if is_planted(each)], module
    pages = sorted((tmp_path / "docs").rglob("*.md"))
    for page in pages:
        text = page.read_text("utf-8").partition("```{toctree}")[0]
        assert other_nodes(text) <= OWN, page
        tree = tree_of(text)
        assert SECRET not in tree.astext()
        (comment,) = tree.findall(nodes.raw)
        assert comment.astext().startswith("<!--\nGenerated from schemas/")
        assert comment.astext().count("-->") == 1
    assert modules
    assert pages


def is_planted(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == PLANTED


def with_text(value: object, nasty: str) -> object:
    match value:
        case dict():
            return {
                name: f"{member} {nasty}\n\nThe end."
                if name in {"description", "x-note"} and isinstance(member, str)
                else with_text(member, nasty)
                for name, member in value.items()
            }
        case list():
            return [with_text(each, nasty) for each in value]
        case _:
            return value


@pytest.mark.attack(
    "Names and titles of contracts hold ESC, U+009B, U+202E and a line that begins with"
    " `::error::`, which a terminal or a CI would obey.",
    required="`gateway lint` refuses the contract, and what it prints, as text, JSON and SARIF,"
    " holds them only as escapes, on the line of the finding.",
)
@pytest.mark.parametrize("form", [[], ["--json"], ["--sarif"]], ids=["text", "json", "sarif"])
def test_text_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    schemas = tmp_path / "schemas"
    shutil.copytree(CONTRACTS, schemas)
    meta.install(schemas)
    file = schemas / "tools/hello/greet.input.json"
    nasty = "\x1b[2J\x9b2K\u202e\n::error::owned\u200b"
    document = json.loads(file.read_text("utf-8"))
    document["properties"][nasty] = {"type": "string"}
    file.write_text(json.dumps(document), "utf-8")
    assert run(["lint", "--schemas", str(schemas), *form]) == 1
    printed = capsys.readouterr().out
    assert "contract/hidden-text" in printed
    assert not set("\x1b\x9b\u202e\u200b") & set(printed)
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("::")]


ADDRESSES: Final = [
    "http://169.254.169.254/latest",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://224.0.0.1/",
]
HEADERS: Final = [
    *("Host", "connection", "Content-Length", "Transfer-Encoding", "Cookie", "TE"),
    "Accept-Encoding",
]


@pytest.mark.attack(
    "A contract sends the credentials to the metadata service of a cloud, in any spelling of its"
    " address, or in a header of the connection.",
    required="`gateway lint` and the start refuse both by the same functions.",
)
@pytest.mark.parametrize("url", ADDRESSES)
def test_addresses_of_upstreams(url: str) -> None:
    assert url_refusal(url) is not None
    assert [name for name in HEADERS if header_refusal(name) is None] == []
    honest = ["https://api.example.com", "http://127.0.0.1:8700", "https://10.0.0.7/v1", ""]
    assert [each for each in honest if url_refusal(each)] == []
    assert header_refusal("Authorization") is None
