"""A project that declares kinds of rows, in its own folders."""

import json
import shutil
from pathlib import Path
from typing import Any

from gateway.authoring.codegen.generate import generate
from gateway.authoring.contracts import meta

SMALL = Path(__file__).parent / "golden/enum/in"
"""Contracts of one tool, without kinds of rows."""
MOMENT = {"description": "When.", "type": "string", "format": "date-time", "readOnly": True}
UUID = {"description": "An id.", "type": "string", "format": "uuid", "readOnly": True}


def text(**more: Any) -> dict[str, Any]:
    return {"description": "Some text.", "type": ["string", "null"], "maxLength": 20, **more}


def entity(**own: Any) -> dict[str, Any]:
    """A kind with the key `isbn`, and with the columns `own` besides."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Loan",
        "description": "A book that somebody has.",
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "isbn", "webhook_id", "occurred_at", "created_at", "updated_at"],
        "properties": {
            "id": UUID,
            "isbn": {"description": "Which book.", "type": "string", "maxLength": 20},
            **own,
            "webhook_id": UUID,
            "occurred_at": MOMENT,
            "created_at": MOMENT,
            "updated_at": MOMENT,
        },
        "x-entity": {"key": ["isbn"], "filters": ["isbn"]},
    }


class Shelf:
    """A project whose kinds of rows are declared and generated."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(SMALL, root / "schemas")
        meta.install(root / "schemas")

    def declare(self, **kinds: dict[str, Any]) -> None:
        """Exactly these kinds."""
        folder, index = self.root / "schemas/entities", self.root / "schemas/openapi.yaml"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        lines = [each for each in index.read_text().splitlines() if "entities" not in each]
        for kind, schema in kinds.items():
            (folder / f"{kind}.json").write_text(json.dumps(schema, indent=2))
        listed = ", ".join(f"./entities/{kind}.json" for kind in kinds)
        index.write_text("\n".join([*lines, f"x-entities: [{listed}]"]) + "\n")

    def generate(self, package: str = "generated", *, check: bool = False) -> bool:
        """Whether what is there is stale, or was."""
        report = generate(self.root / "schemas", self.root / package, check=check)
        return bool(report.changes)

    @property
    def revisions(self) -> dict[str, str]:
        files = sorted((self.root / "generated/migrations").glob("v*.py"))
        return {file.name: file.read_text() for file in files}

    @property
    def head(self) -> str:
        index = (self.root / "generated/migrations/__init__.py").read_text()
        return next(line for line in index.splitlines() if line.startswith("HEAD"))
