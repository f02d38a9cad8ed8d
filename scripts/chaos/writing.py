"""R21: a command that writes a project is killed at each change of a file, and nothing is lost.

Each command runs in a copy of one project. Before the n-th change of a file or a folder of that
copy, the process kills itself. Then each file of the author has to be there, with its old text or
its new one; the next command has to undo what is left, or nothing has to be left; and the project
has to lint. The kills are spread over all changes of all commands.

    python scripts/chaos/writing.py --kills 60
    python scripts/chaos/writing.py --command eject --kills 200 --json
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from kill_switch import Switch
from msgspec import Struct
from trial import Bar, circumstances, page

import gateway.authoring.codegen.render.datamodel  # noqa: F401 - loaded before the first fork
from gateway.cli.edge import run

_DOCUMENT: Final = "pets.json"
_NEWER: Final = "newer.json"
_NEW_FOLDER: Final = "fresh"
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("add", "weather"),
    "new": ("new", "tool", "store.list_lamps", "--method", "GET", "--path", "/lamps"),
    "eject": ("eject", "pets"),
    "import": ("import", _DOCUMENT, "--as", "cats", "--webhook", "*", "--yes"),
    "update": ("import", _NEWER, "--as", "pets", "--update"),
    "generate": ("generate",),
    "init": ("init", _NEW_FOLDER),
}
_REFUSED: Final = ("eject", "nobody")
"""A command that changes nothing, but undoes what is left before it sees that."""
_MADE: Final = (".gateway-cache", "__pycache__")
"""Folders in a project that hold nothing of its author."""
_FORK: Final = multiprocessing.get_context("fork")


class Ended(Struct, frozen=True):
    """How a command ended."""

    status: int | None
    """Its exit status; negative for a signal."""
    changes: int
    """The changes of files that it made or began."""
    output: str


def main() -> int:
    """Run the trial and print its report. Exit 0, or 1 on a finding."""
    options = _options()
    names = options.command or list(COMMANDS)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        trial = WritingTrial(Path(folder), names)
        kills = trial.chosen(options.kills, Random(options.seed))  # noqa: S311 - chances
        bar = Bar("writing", len(kills))
        for name, at in kills:
            trial.kill(name, at)
            bar.step(name)
        bar.end()
    figures = {"seconds": round(time.monotonic() - began, 1), **trial.figures()}
    report = {**circumstances(), "seed": options.seed, "engines": {"files": figures}}
    print(json.dumps(report, indent=2) if options.json else page(report))
    return 1 if trial.failures else 0


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--kills", type=int, default=60, help="default: %(default)s")
    made.add_argument("--command", choices=tuple(COMMANDS), action="append", help="default: all")
    made.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    made.add_argument("--json", action="store_true", help="print the report as JSON")
    return made.parse_args()


class WritingTrial:
    """Commands on copies of one project, each killed at some change."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._base, self._copy = folder / "base", folder / "copy"
        _make_project(self._base)
        self._before = texts_of(self._base)
        self._after: dict[str, dict[str, bytes]] = {}
        self.changes: dict[str, int] = {}
        """How many changes of files each command makes."""
        for name in names:
            ended = self._run(name)
            if ended.status != 0:
                raise SystemExit(f"error: {name} does not work: {ended.output}")
            self.changes[name] = ended.changes
            self._after[name] = texts_of(self._copy)
        self.kills: Counter[str] = Counter()
        self.undone: Counter[str] = Counter()
        self.failures: list[str] = []

    def chosen(self, number: int, random: Random) -> list[tuple[str, int]]:
        """The command and the change of each kill: all of them once before any twice."""
        every = [(name, at) for name, last in self.changes.items() for at in range(1, last + 1)]
        rounds = (random.sample(every, len(every)) for _ in range(number // len(every) + 1))
        return [each for chosen in rounds for each in chosen][:number]

    def kill(self, name: str, at: int) -> None:
        """Kill the command before its change `at`, and record what is wrong afterwards."""
        ended = self._run(name, at)
        if ended.status is None or ended.status >= 0:
            self.failures.append(f"{name} at {at}: it ended by itself with {ended.status}")
            return
        self.kills[name] += 1
        for problem in (*self._missing(name), *self._unsound(name)):
            self.failures.append(f"{name} at {at}: {problem}")

    def figures(self) -> dict[str, Any]:
        """The counts and the failures."""
        return {
            "changes": self.changes,
            "kills": dict(self.kills),
            "undone": dict(self.undone),
            "failures": self.failures,
        }

    def _run(self, name: str, at: int = 0) -> Ended:
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._base, self._copy)
        return command(self._copy, COMMANDS[name], at)

    def _missing(self, name: str) -> list[str]:
        """What is wrong with the files at the moment of the death."""
        found, after = texts_of(self._copy), self._after[name]
        return [
            f"{path} is neither as before nor as after"
            for path, text in self._before.items()
            if found.get(path) not in {text, after.get(path)}
        ]

    def _unsound(self, name: str) -> list[str]:
        """What is wrong after the next command."""
        place = self._copy / _NEW_FOLDER if name == "init" else self._copy
        again = COMMANDS[name] if name == "init" else _REFUSED
        ended = command(self._copy, again)
        self.undone[name] += "is undone" in ended.output
        found = texts_of(self._copy)
        if found not in (self._before, self._after[name]):
            different = sorted(found.items() ^ self._after[name].items())
            return [f"{path} is of neither state" for path, _ in different[:5]]
        checked = [command(place, each) for each in (("generate",), ("lint",))]
        return [each.output for each in checked if each.status != 0]


def command(folder: Path, arguments: Sequence[str], at: int = 0) -> Ended:
    """Run `gateway ARGUMENTS` in `folder`, in a process that dies before its change `at`."""
    changes, output = _FORK.Value("i", 0), folder.with_name("output")
    process = _FORK.Process(target=_child, args=(folder, arguments, Switch(at, changes), output))
    process.start()
    process.join()
    text = output.read_text("utf-8") if output.exists() else ""
    return Ended(status=process.exitcode, changes=changes.value, output=text)


def _child(folder: Path, arguments: Sequence[str], switch: Switch, output: Path) -> None:
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith("GATEWAY_")]:
        del os.environ[name]
    output.unlink(missing_ok=True)
    said = io.StringIO()
    switch.arm(folder, _MADE)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = run(arguments)
    switch.disarm()
    output.write_text(said.getvalue(), "utf-8")
    os._exit(status)


def texts_of(folder: Path) -> dict[str, bytes]:
    """The author's files and the generated ones, by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {*_MADE, ".gateway-change"} & set(path.parts)
    }


def _make_project(folder: Path) -> None:
    """A project with an import, files of its author beside it, and a stale package."""
    _do(folder.parent, "init", folder.name)
    (folder / _DOCUMENT).write_text(_document("list"), "utf-8")
    (folder / _NEWER).write_text(_document("list", "find"), "utf-8")
    _do(folder, "import", _DOCUMENT, "--yes")
    (folder / "schemas/upstreams/pets/README.md").write_text("How we got it", "utf-8")
    (folder / "gateway.toml").chmod(0o600)
    _do(folder, "generate")
    for path in ("generated/tools/__init__.py", "generated/operations/__init__.py"):
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write("# stale\n")


def _do(folder: Path, *arguments: str) -> None:
    ended = command(folder, arguments)
    if ended.status != 0:
        raise SystemExit(f"error: {' '.join(arguments)}: {ended.output}")


def _document(*names: str) -> str:
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    content = {"application/json": {"schema": schema}}
    replies = {"responses": {"200": {"description": "It", "content": content}}}
    paths = {f"/{name}": {"get": {"operationId": name, **replies}} for name in names}
    sent = {"requestBody": {"content": content}, "responses": {"200": {"description": "It"}}}
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Pets", "version": "1"},
            "servers": [{"url": "https://pets.example"}],
            "paths": paths,
            "webhooks": {"came": {"post": sent}},
        }
    )


if __name__ == "__main__":
    sys.exit(main())
