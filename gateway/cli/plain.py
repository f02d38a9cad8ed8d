"""Makes untrusted text safe for a terminal."""


def plain(text: str) -> str:
    """`text` with control characters and invisible characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _written_out(each) for each in text)


def plain_lines(text: str) -> str:
    """The same, but line ends stay."""
    return "\n".join(map(plain, text.split("\n")))


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
