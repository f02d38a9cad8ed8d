"""Count the tools that FastMCP `from_openapi` makes of DOCUMENT (JSON or YAML).

Runs in a separate environment, which `peer.py` creates, so it imports nothing of this project.
"""

import argparse
import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import httpx2
import yaml
from fastmcp import FastMCP  # type: ignore[import-not-found]  # installed by peer.py only


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    value = read(parser.parse_args().document)
    logging.disable(logging.CRITICAL)
    client = httpx2.AsyncClient(base_url="http://127.0.0.1:9")
    server = FastMCP.from_openapi(value, client=client, name="bench")
    print(json.dumps({"tools": len(asyncio.run(server.list_tools()))}))


def read(path: Path) -> Any:
    """The value of the document. Dates of YAML become text, as in JSON."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    return json.loads(json.dumps(yaml.load(text, Loader=yaml.CSafeLoader), default=str))


if __name__ == "__main__":
    main()
