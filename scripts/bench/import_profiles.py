"""Compile the schemas of the import `vendor` in FOLDER for each client profile.

Prints one JSON object: by profile, what its clients refuse of the unchanged tools and of what they
are shown; and for how many published schemas it is proven, or shown by drawn values, that they
admit all that the source admits.
`import.py` runs it in a process of its own.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from import_proofs import Verdict, verdict

from gateway.authoring.openapi.folder import ImportFolder, read_import
from gateway.contract.values.schema import with_definitions
from gateway.profiles.clients import PROFILES, SOURCE
from gateway.profiles.inlining import inlined
from gateway.profiles.refusals import ShownTool, refusals, short_names, widened_input

_SHOWN = 200
"""The most characters of a counterexample that are printed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the schemas folder")
    arguments = parser.parse_args()
    found = read_import(ImportFolder(schemas=arguments.folder, connector="vendor")).connector
    sources: dict[str, Any] = {
        f"vendor_{each.tool}": with_definitions(each.input_schema, found.definitions)
        for each in found.operations
    }
    whole = {name: inlined(schema) for name, schema in sources.items()}
    unchanged, shown = Counter[str](), Counter[str]()
    published: dict[str, set[str]] = {name: set() for name in sources}
    for profile in PROFILES.values():
        if profile.name == SOURCE:
            continue
        room = profile.room()
        names = {} if room is None else short_names(sources, room)
        tools = [
            ShownTool(name=names.get(name, name), input_schema=widened_input(schema, profile))
            for name, schema in whole.items()
        ]
        for name, tool in zip(sources, tools, strict=True):
            published[name].add(json.dumps(tool.input_schema))
        plain = [ShownTool(name=name, input_schema=schema) for name, schema in sources.items()]
        # A list that is too long depends on the agent, and not on the document.
        unchanged[profile.name] += sum(each.tool is not None for each in refusals(plain, profile))
        shown[profile.name] += sum(each.tool is not None for each in refusals(tools, profile))
    verdicts = [
        (name, verdict(json.loads(text), sources[name], found.definitions))
        for name, texts in published.items()
        for text in sorted(texts)
    ]
    print(json.dumps({"unchanged": unchanged, "shown": shown, **_facts(verdicts)}))


def _facts(verdicts: Sequence[tuple[str, Verdict]]) -> dict[str, Any]:
    """What is known of all published schemas, each with the name of its tool."""
    values = [each.values for _, each in verdicts if each.kind == "shown"]
    return {
        "proofs": Counter(each.kind for _, each in verdicts),
        "values": min(values, default=0),
        "narrower": [
            f"{name}: {json.dumps(each.example)[:_SHOWN]}"
            for name, each in verdicts
            if each.kind == "narrower"
        ],
    }


if __name__ == "__main__":
    main()
