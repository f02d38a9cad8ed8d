"""Untrusted text as a terminal may show it."""


def plain(text: str) -> str:
    """Untrusted `text` with all that a terminal obeys, or does not show, written out."""
    return "".join(each if each.isprintable() else _written_out(each) for each in text)


def plain_lines(text: str) -> str:
    """The same, but for the ends of lines."""
    return "\n".join(map(plain, text.split("\n")))


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
