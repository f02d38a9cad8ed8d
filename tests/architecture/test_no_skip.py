"""Under GATEWAY_TESTS_NO_SKIP=1 a skipped test fails the run, so that nothing goes untested."""

import os
import shutil
import subprocess
import sys

import pytest

SKIPS = {
    "by its mark": "@pytest.mark.skip(reason='no Node')\ndef test_it(): ...\n",
    "while it runs": "def test_it(): pytest.skip('no Node')\n",
    "as a whole module": "pytest.skip('no Node', allow_module_level=True)\n",
}


@pytest.fixture
def run(root, tmp_path):
    """Runs one test file under this project's hooks; gives the exit status and the output."""
    shutil.copy(root / "tests" / "conftest.py", tmp_path)

    def _run(body, forbidden):
        (tmp_path / "test_it.py").write_text(f"import pytest\n{body}", "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", "."],
            cwd=tmp_path,
            env=os.environ | {"GATEWAY_TESTS_NO_SKIP": forbidden},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return _run


@pytest.mark.parametrize("body", SKIPS.values(), ids=SKIPS)
def test_a_skip_fails_the_run_and_shows_its_reason(run, body):
    status, output = run(body, "1")
    assert status in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}
    assert "GATEWAY_TESTS_NO_SKIP forbids that: " in output
    assert "no Node" in output


def test_a_skip_is_a_skip_otherwise(run):
    status, output = run(SKIPS["while it runs"], "0")
    assert status == pytest.ExitCode.OK
    assert "1 skipped" in output


def test_an_expected_failure_is_no_skip(run):
    status, _ = run("@pytest.mark.xfail\ndef test_it(): assert False\n", "1")
    assert status == pytest.ExitCode.OK
