"""A test of `make test` starts no program: `tests/conftest.py` refuses it."""

import os
import subprocess

import pytest

_LINE = ["a-program", "--version"]


@pytest.mark.parametrize(
    ("start", "arguments"),
    [
        (subprocess.run, [_LINE]),
        (subprocess.Popen, [_LINE]),
        (os.system, ["a-program"]),
        (os.posix_spawn, ["a-program", _LINE, {}]),
        (os.execv, ["a-program", _LINE]),
    ],
    ids=("run", "popen", "system", "posix_spawn", "exec"),
)
def test_a_program_is_refused(start, arguments):
    with pytest.raises(AssertionError, match=r"test_a_program_is_refused.* a program, a-program:"):
        start(*arguments)


def test_a_second_process_is_refused():
    with pytest.raises(AssertionError, match="starts a program, fork"):
        os.fork()
