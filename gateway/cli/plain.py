"""Makes untrusted text safe for a terminal, and for the log of a CI."""

from typing import Final

_COMMANDS: Final = ("::", "##")
"""How a line begins that GitHub, Azure or TeamCity take for a command (`::error::`, `##vso[`)."""


def plain(text: str) -> str:
    """`text` with control characters and invisible characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _written_out(each) for each in text)


def plain_lines(text: str) -> str:
    """The same, but line ends stay, and no line is a command of a CI."""
    return "\n".join(map(_inert, text.split("\n")))


def _inert(line: str) -> str:
    words = plain(line).lstrip()
    if not words.startswith(_COMMANDS):
        return plain(line)
    indent = plain(line).removesuffix(words)
    return f"{indent}\\x{ord(words[0]):02x}{words[1:]}"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
