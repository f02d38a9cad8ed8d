"""What a reader pastes works in bash and in zsh, the shell of macOS.

zsh reads `#` as a word where somebody types, and refuses a pattern that matches no file.
"""

import re
from collections.abc import Mapping

import pytest

BLOCK = re.compile(
    r"^[ ]*```(?:sh|shell|bash|console|zsh|\{code-block\} sh(?:ell)?)\n(?::\w+:[^\n]*\n)*"
    r"(.*?)^[ ]*```",
    re.MULTILINE | re.DOTALL,
)
HEREDOC = re.compile(r"<<-?'?(\w+)'?[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"""\$'(?:\\.|[^'])*'|'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
PATTERN = re.compile(r"\S*(?:[*?]|\[[^\]\s]*\])\S*")
BANG = re.compile(r"![^\s=(]")


def mistakes(block: str) -> list[str]:
    """The places of a block that zsh takes otherwise than bash."""
    bare = QUOTED.sub("''", HEREDOC.sub("", block))
    found = [f"a comment: {each}" for each in COMMENT.findall(bare)]
    code = COMMENT.sub("", bare)
    # `$?` and `$#` are parameters, `$((…))` is arithmetic.
    code = re.sub(r"\$[?#*!@]|\$\(\(.*?\)\)", "", code)
    found += [f"an unquoted pattern: {each}" for each in PATTERN.findall(code)]
    return found + [f"history expansion: {each}" for each in BANG.findall(code)]


def test_every_shell_block_can_be_pasted_into_zsh(pages: Mapping[str, str]) -> None:
    found = {
        path: wrong
        for path, text in pages.items()
        for block in BLOCK.findall(text)
        if (wrong := mistakes(block))
    }
    assert found == {}


def test_blocks_are_found(pages: Mapping[str, str]) -> None:
    assert sum(len(BLOCK.findall(text)) for text in pages.values()) > 100


@pytest.mark.parametrize(
    "line",
    [
        "make run  # serve",
        "# serve",
        "curl http://127.0.0.1:8700/events?types=*",
        "gateway lint schemas/*.yaml",
        "pip install package[extra]",
        "echo wow!now",
    ],
)
def test_a_planted_mistake_is_found(line: str) -> None:
    assert mistakes(f"true\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "curl 'http://127.0.0.1:8700/events?types=*'",
        'curl "$URL/v1/x?a=$B"',
        "echo $? $#",
        "cat > file <<'EOF'\n# a comment * ? [x]\nEOF",
        """curl -d '{"a": [1, 2], "b": "#?"}' http://a.example/#part""",
        "echo $((6 * 7))",
    ],
)
def test_what_both_shells_take_alike_passes(line: str) -> None:
    assert mistakes(f"true\n{line}\n") == []
