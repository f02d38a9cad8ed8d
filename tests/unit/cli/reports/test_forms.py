"""Reports by form and by suffix; the form JSON."""

import json
from pathlib import Path

import msgspec
import pytest

from gateway.cli.reports.forms import FORMS, form_of, text_of, write
from gateway.cli.reports.record import Report
from gateway.errors import ConfigurationError
from tests.reports import HOSTILE, hostile, usual


@pytest.mark.parametrize("form", FORMS)
def test_equal_reports_give_equal_bytes(form):
    assert text_of(usual(), form) == text_of(usual(), form)
    assert text_of(usual(), form).endswith("\n")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_form_has_characters_that_control_a_display(form, kind):
    text = text_of(hostile(HOSTILE[kind]), form)
    assert all(map(str.isprintable, text.split("\n")))
    text.encode()


@pytest.mark.parametrize("form", FORMS)
def test_a_report_without_checks_is_a_report(form):
    assert text_of(Report(command="gateway verify", seconds=0.0, checks=()), form)


@pytest.mark.parametrize("kind", sorted(HOSTILE.keys() - {"surrogate"}))
def test_json_has_every_text_whole(kind):
    report = hostile(HOSTILE[kind])
    assert msgspec.json.decode(text_of(report, "json"), type=Report) == report


def test_json_names_the_members_of_the_record():
    found = json.loads(text_of(usual(), "json"))
    assert found["seed"] == 11
    assert found["checks"][1]["pointer"] == "/input/properties/players"
    assert found["coverage"][0]["mutants"]["killed"] == 19


@pytest.mark.parametrize("suffix", [".html", ".json", ".md", ".sarif", ".xml"])
def test_the_suffix_says_the_form(tmp_path, suffix):
    path = tmp_path / "new" / f"report{suffix}"
    write(usual(), path)
    assert path.read_text("utf-8") == text_of(usual(), form_of(path))


def test_another_suffix_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(ConfigurationError, match=r"suffix \.pdf; use one of .*\.json"):
        write(usual(), tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "report.json"
    with pytest.raises(ConfigurationError) as caught:
        write(usual(), path)
    assert str(path) in caught.value.detail


def test_suffixes_are_read_without_case():
    assert form_of(Path("REPORT.XML")) == "junit"
