"""Numbers with their nouns, in texts for people."""


def amount(number: int, noun: str) -> str:
    """`1 tool`, `1,049 tools`. `noun` is singular, and its plural ends with s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_seconds(number: float) -> str:
    """`1 second`, `0.05 seconds`. What a clock has taken of a limit is not shown: 29.9999 is 30."""
    shown = f"{round(number, 2 if number >= 1 else 4):.10g}"
    return f"{shown} second" if shown == "1" else f"{shown} seconds"
