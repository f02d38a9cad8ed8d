"""`/docs` fills no number into an example that JavaScript has rounded beyond its bound."""

import json
import shutil
import subprocess

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY

NODE = shutil.which("node")
SCRIPT = REPOSITORY / "gateway" / "transports" / "static" / "docs.js"
PROGRAM = """
globalThis.window = { addEventListener() {} };
const text = require("fs").readFileSync(process.argv[1], "utf-8");
const exact = new Function(`${text}; return exact;`)();
console.log(JSON.stringify(exact(JSON.parse(process.argv[2]))));
"""


@pytest.mark.skipif(NODE is None, reason="needs Node.js: run apt-get install nodejs")
def test_bounds_that_javascript_cannot_hold_are_not_shown() -> None:
    safe = {"type": "integer", "minimum": -(2**53) + 1, "exclusiveMaximum": 7}
    given = {
        "properties": {
            "big": {
                "type": "integer",
                "minimum": -(2**63),
                "maximum": 2**63 - 1,
                "format": "int64",
            },
            "safe": safe,
            "float": {"type": "number", "minimum": -1.5e300, "maximum": 0.5},
            "minimum": {"type": "string"},
        },
        "allOf": [{"exclusiveMinimum": 2**60}, None, "minimum"],
    }
    command = [str(NODE), "-e", PROGRAM, str(SCRIPT), json.dumps(given)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    assert json.loads(done.stdout) == {
        "properties": {
            "big": {"type": "integer", "format": "int64"},
            "safe": safe,
            "float": {"type": "number", "maximum": 0.5},
            "minimum": {"type": "string"},
        },
        "allOf": [{}, None, "minimum"],
    }
