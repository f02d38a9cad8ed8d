"""The shell commands of README.md, run as they are printed: what a reader pastes must work."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests import nursery
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import GATEWAY, REPOSITORY, clean_environment

README: Final = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS: Final = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
URL: Final = "http://127.0.0.1:8700"
"""That of a gateway in the pages."""
_ORDER: Final = """\
#!{python} -IS
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({nursery!r})
command = [{gateway!r}, *sys.argv[1:]]
order = {{"command": command, "environment": dict(os.environ), "folder": os.getcwd()}}
text = json.dumps(order).encode() + b"\\n"
sent = socket.send_fds(connection, [text], [0, 1, 2])
connection.sendall(text[sent:])
answers = connection.makefile()
answers.readline()
sys.exit(int(answers.readline()))
"""


def block(holding: str) -> str:
    """The one block of shell commands that holds this text."""
    (found,) = [text for text in BLOCKS if holding in text]
    return found


def provide_command(folder: Path) -> None:
    """Make `.venv/bin/gateway` in the folder. It runs in a process that the nursery forks."""
    script = folder / ".venv" / "bin" / "gateway"
    script.parent.mkdir(parents=True)
    text = _ORDER.format(python=sys.executable, nursery=nursery._nursery(), gateway=str(GATEWAY))
    script.write_text(text, "utf-8")
    script.chmod(0o755)


def paste(text: str, folder: Path, **environment: str) -> str:
    """What the shell prints for these commands, the last of which must succeed.

    A folder with contracts is a project of its own; in another one, the commands find ours.
    """
    own = {"COLUMNS": "100"} | ({"GATEWAY_SCHEMAS": ""} if (folder / "schemas").is_dir() else {})
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=folder,
        env=clean_environment(own | environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout
