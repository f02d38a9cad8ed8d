"""`python -m tests.presets`: each vendor: signature, challenge, body, id, type, replay."""

import argparse
import sys
import tempfile
from pathlib import Path

import msgspec

from gateway.authoring.project.drafts.events import preset_names
from tests.presets.cells import TRIED, PresetVerdict, verdict_of
from tests.presets.trial import open_preset_trial

ABOUT = """Draft a webhook of each vendor, serve it, send it what the vendor sends, and print what
became of it. Exit status 1 if something goes wrong.

  signature  yes: a good one is accepted; of another secret, of other bytes and none are refused
  challenge  how the vendor asks first; by hand: a person opens the address that it sends
  body       json, form, or list: a request with several messages
  id         yes: sent again, it is one message; without an id, equal bytes are one, or none are
  type       yes: it is found, and others wait for an operator; one: there is no other
  replay     yes: what is signed with another time is refused

  -          the vendor has nothing of it
  no         it goes wrong, as the lines below the table say"""


def table(found: list[PresetVerdict]) -> str:
    """A line for each vendor, then one for each fault."""
    rows = [["vendor", *TRIED], *([each.vendor, *each.cells.values()] for each in found)]
    lines = [f"{row[0]:<18}{''.join(f'{cell:<10}' for cell in row[1:])}".rstrip() for row in rows]
    faults = ((each.vendor, *fault) for each in found for fault in each.wrong.items())
    return "\n".join([*lines, *(f"{vendor} {name}: {text}" for vendor, name, text in faults)])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.presets",
        description=ABOUT,
        epilog="example: python -m tests.presets stripe slack --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("vendors", nargs="*", metavar="VENDOR", help="default: all")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    given = parser.parse_args()
    if unknown := sorted({*given.vendors} - {*preset_names()}):
        parser.error(f"there is no preset {unknown[0]}; known are {', '.join(preset_names())}")
    with tempfile.TemporaryDirectory() as folder, open_preset_trial(Path(folder)) as trial:
        found = [verdict_of(trial, each) for each in given.vendors or preset_names()]
    print(msgspec.json.encode(found).decode() if given.json else table(found))  # noqa: T201 - it is a report
    return 1 if any(each.wrong for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
