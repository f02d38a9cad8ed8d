"""Ctrl-C while Python still loads the modules of a command: no traceback, and exit code 130."""

import os
import signal
import subprocess
import sys

import pytest

from tests.functional.cli.processes import GATEWAY, ROOT, STOP_SECONDS

ENTRIES = {
    "gateway": [str(GATEWAY)],
    "python -m gateway": [sys.executable, "-m", "gateway"],
}
PAUSE = '''
import os, sys, time

class Pause:
    """Says when the import of one module begins, and keeps it waiting."""

    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            sys.meta_path.remove(self)
            print("loading", flush=True)
            {how}

sys.meta_path.insert(0, Pause())
'''
RAISING = "time.sleep(3600)"
SWALLOWING = """
            try:
                time.sleep(3600)
            except BaseException as error:
                raise ImportError("of another kind") from error"""
"""As extension modules do with exceptions of what they import."""


def interrupted(tmp_path, command, module, how=RAISING, number=signal.SIGINT, preexec=None):
    """The exit code and the output of a command that gets a signal while it imports `module`.

    Afterwards it gets a line on standard input.
    """
    (tmp_path / "sitecustomize.py").write_text(PAUSE.format(module=module, how=how))
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        preexec_fn=preexec,  # noqa: PLW1509 - this process starts no threads meanwhile
    ) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(number)
        try:
            out, err = process.communicate("on\n", timeout=STOP_SECONDS)
        finally:
            process.kill()
    return process.returncode, out + err


@pytest.mark.parametrize(
    ("entry", "module"),
    [
        ("gateway", "gateway.cli.edge"),
        ("gateway", "msgspec"),
        ("python -m gateway", "gateway.settings"),
        ("python -m gateway", "click"),
    ],
)
def test_an_interrupted_start_ends_silently(tmp_path, entry, module):
    assert interrupted(tmp_path, [*ENTRIES[entry], "--version"], module) == (130, "")


def test_a_module_that_replaces_the_exception_does_not_hide_the_interruption(tmp_path):
    assert interrupted(tmp_path, [str(GATEWAY), "--version"], "msgspec", SWALLOWING) == (130, "")


def test_what_a_command_loads_by_itself_is_interrupted_as_well(tmp_path):
    command = [str(GATEWAY), "serve", "--data", str(tmp_path / "data"), "--port", "0"]
    code, output = interrupted(tmp_path, command, "uvicorn")
    assert (code, output.strip()) == (130, "")  # click ends the line of `^C`


def test_a_termination_ends_it_silently_as_well(tmp_path):
    code, output = interrupted(
        tmp_path, [str(GATEWAY), "--version"], "msgspec", number=signal.SIGTERM
    )
    assert (code, output) == (-signal.SIGTERM, "")


def test_a_command_in_the_background_of_a_script_goes_on(tmp_path):
    """A shell without job control starts it with SIGINT ignored."""
    code, output = interrupted(
        tmp_path,
        [str(GATEWAY), "--version"],
        "msgspec",
        how="sys.stdin.readline()",
        preexec=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert code == 0
    assert output.startswith("gateway")
