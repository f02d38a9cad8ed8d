"""Lower the import `vendor` in FOLDER, and encode and decode drawn arguments of its operations.

Prints one JSON object: the SHA-256 digest of the record, the numbers of exact and ambiguous
operations, and each one that is not exact. `import.py` runs it in a process of its own.
"""

import argparse
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gateway.authoring.codegen.imported import record_text
from gateway.authoring.openapi.folder import ImportFolder, read_import
from gateway.authoring.openapi.reading.source import read_source
from tests.decoding.roundtrip import roundtrip  # not of the gateway, which must not use it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the schemas folder")
    parser.add_argument("--draws", type=int, default=0, help="arguments per operation (default 0)")
    arguments = parser.parse_args()
    folder = ImportFolder(schemas=arguments.folder, connector="vendor")
    found = read_import(folder).connector
    outcome: dict[str, Any] = {"digest": hashlib.sha256(record_text(found).encode()).hexdigest()}
    if arguments.draws:
        document = read_source(folder.files / folder.wishes()[0].document).value
        trips = roundtrip(found, arguments.draws, document=document)
        inexact = [{"operation": name, **asdict(each)} for name, each in trips.inexact.items()]
        outcome |= {
            "exact": trips.exact,
            "ambiguous": len(trips.ambiguous),
            "sent": trips.sent,
            "inexact": inexact,
        }
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
