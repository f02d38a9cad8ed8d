"""`make setup`: does nothing twice, and says what is missing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "setup.py"
PINS = ("one==1", "pip==26.3", "two.three==2")
LOCK = "".join(f"{pin} \\\n    --hash=sha256:{number}\n" for number, pin in enumerate(PINS))


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """The script as a module, working on an empty repository."""
    spec = importlib.util.spec_from_file_location("setup_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    venv = tmp_path / ".venv"
    paths = {
        "ROOT": tmp_path,
        "VENV": venv,
        "PYTHON": venv / "bin" / "python",
        "LOCK": tmp_path / "requirements.lock",
        "STAMP": venv / "setup-stamp",
    }
    for name, path in paths.items():
        monkeypatch.setattr(module, name, path)
    monkeypatch.setattr(sys, "argv", ["setup"])
    (tmp_path / "requirements.lock").write_text(LOCK, "utf-8")
    (tmp_path / "pyproject.toml").write_text("[project]\n", "utf-8")
    return module


@pytest.fixture
def pip(setup, monkeypatch):
    """An environment that is there, and a pip that only notes what it was asked."""
    asked = []
    holding(setup, "one", "pip", "two-three", "contract-gateway")
    monkeypatch.setattr(setup, "_pip", lambda *arguments, **_: asked.append(arguments))
    return asked


def holding(setup, *names):
    """Make an environment whose pip lists these packages."""
    listed = json.dumps([{"name": name, "version": "1"} for name in names])
    setup.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    setup.PYTHON.write_text(f"#!/bin/sh\n[ $1 = -c ] && exit\necho '{listed}'\n", "utf-8")
    setup.PYTHON.chmod(0o755)


def test_an_interpreter_that_is_too_old_is_given_the_fix(setup, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 7))
    monkeypatch.setattr(setup.shutil, "which", lambda _: None)
    assert setup.main() == 2
    error = capsys.readouterr().err
    assert error.startswith("error: Python 3.11 or newer is needed, and python3 is 3.9.7.\nfix: ")


def test_a_newer_interpreter_on_the_path_takes_over(setup, monkeypatch):
    taken = []
    monkeypatch.setattr(sys, "version_info", (3, 9, 7))
    monkeypatch.setattr(setup.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(setup.os, "execv", lambda program, _: taken.append(program))
    monkeypatch.setattr(setup, "_set_up", lambda **_: None)
    assert setup.main() == 0
    assert taken == ["/bin/python3.13"]


def test_the_script_can_be_read_by_old_interpreters(setup):
    """Else they would show a syntax error instead of the message."""
    compile(SCRIPT.read_text("utf-8"), "setup.py", "exec", dont_inherit=True)
    version = "import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 7))"
    subprocess.run([sys.executable, "-c", version, SCRIPT], check=True)


def test_a_second_run_does_nothing(setup, pip):
    assert setup.main() == 0
    assert len(pip) == 3
    assert setup.main() == 0
    assert len(pip) == 3


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_source_is_installed(setup, pip, tmp_path, name):
    setup.main()
    (tmp_path / name).write_text(LOCK + "changed==2\n", "utf-8")
    setup.main()
    assert len(pip) == 6


def test_the_locked_pip_is_installed_first_and_by_its_hash(setup, pip, monkeypatch):
    texts = []

    def _noted(*arguments, **_):
        if "-r" in arguments:
            texts.append(Path(arguments[arguments.index("-r") + 1]).read_text("utf-8"))
            assert "--require-hashes" in arguments

    monkeypatch.setattr(setup, "_pip", _noted)
    assert setup.main() == 0
    assert texts == ["pip==26.3 \\\n    --hash=sha256:1\n", LOCK]


def test_a_lock_without_pip_is_one_clear_error(setup, pip, capsys):
    setup.LOCK.write_text("one==1 --hash=sha256:0\n", "utf-8")
    assert setup.main() == 2
    assert "does not lock pip" in capsys.readouterr().err


def test_what_the_lock_does_not_name_is_removed(setup, pip):
    holding(setup, "one", "setuptools", "Two_Three", "pip", "contract-gateway", "left-over")
    assert setup.main() == 0
    assert ("uninstall", "--yes", "setuptools", "left-over") in pip


def test_an_interrupted_run_is_taken_up_again(setup, pip, monkeypatch):
    """The stamp is written last."""

    def _interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(setup, "_pip", _interrupted)
    assert setup.main() == 130
    assert not setup.STAMP.exists()


def test_an_environment_that_was_moved_here_is_made_again(setup, pip, monkeypatch):
    made = []
    monkeypatch.setattr(setup, "_create", lambda: made.append(True))
    setup.main()
    assert made == []
    stamp = setup.STAMP.read_text("utf-8").split()[0]
    setup.STAMP.write_text(f"{stamp} /elsewhere\n", "utf-8")
    setup.main()
    assert made == [True]


def test_a_failing_pip_is_shown_with_what_to_do(setup, monkeypatch, capsys):
    setup.PYTHON.parent.mkdir(parents=True)
    setup.PYTHON.write_text("#!/bin/sh\n[ $1 = -c ] && exit\necho no such index\nexit 1\n", "utf-8")
    setup.PYTHON.chmod(0o755)
    assert setup.main() == 2
    error = capsys.readouterr().err
    assert error.startswith("error: no such index\nfix: ")


def test_a_missing_lock_file_is_one_clear_error(setup, capsys):
    setup.LOCK.unlink()
    assert setup.main() == 2
    assert "requirements.lock: No such file or directory" in capsys.readouterr().err
