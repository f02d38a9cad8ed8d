"""The mail templates: complete, and inert whatever they are filled with."""

import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gateway.connectors.gmail
from gateway.connectors.gmail.fields import render, subject_of
from gateway.contract.values.pointers import follow
from tests.unit import shipped

FOLDER = Path(gateway.connectors.gmail.__file__).parent / "templates"
NAMES = ("flight_proposal", "booking_confirmation", "payment_receipt", "follow_up")
OPTIONAL = {"notes", "booking_reference"}
VOID = {"meta", "br"}
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><h1>owned</h1>",
    "{{ 7*7 }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{{ ''.__class__.__mro__ }}",
    '" onmouseover="alert(1)',
    "' style='display:none",
    "&lt;b&gt;",
    "<!--",
    "]]>",
    "\r\nBcc: evil@example.com",
    "\u202e\u2067gnirts\u202c",
    "שלום עולם",
    "\x00\x1b[31m\x07",
    "x" * 20_000,
)
hostile = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=30), min_size=1, max_size=3).map(
    "".join
)


class Outline(HTMLParser):
    """The elements of a page with all their attributes, its texts, and what else it holds."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.texts = []
        self.others = []
        self.open = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data.strip())

    def handle_comment(self, data):
        self.others.append(data)

    def handle_decl(self, decl):
        self.others.append(decl)

    def unknown_decl(self, data):
        self.others.append(data)

    def handle_pi(self, data):
        self.others.append(data)


def filled(name, text):
    """The example's variables, every text in them replaced but dates and times."""
    return json.loads(
        json.dumps(_examples()[name]), object_hook=lambda found: _with_text(found, text)
    )


def _with_text(found, text):
    kept = ("departure_date", "payment_date", "departure_time")
    return {
        key: text if isinstance(value, str) and key not in kept else value
        for key, value in found.items()
    }


def test_there_is_an_example_of_every_template():
    assert set(_examples()) == set(_branches()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@given(text=hostile)
@example(text="<script>alert(1)</script>{{ 7*7 }}")
def test_hostile_values_add_no_element_and_no_attribute(name, text):
    outline = Outline(render(name, filled(name, text)).html)
    harmless = Outline(render(name, filled(name, "x")).html)
    assert outline.elements == harmless.elements
    assert outline.others == ["DOCTYPE html"]
    assert outline.open == []
    assert "49" not in "".join(outline.texts).replace(text, "")


@pytest.mark.parametrize("name", NAMES)
@given(text=hostile)
def test_the_subject_stays_one_line_and_nothing_turns_what_follows(name, text):
    made = render(name, filled(name, text))
    assert len(made.subject.splitlines()) == 1
    assert "\r" not in made.text
    for version in (made.subject, made.text, made.html):
        assert not set(version) & set("\x00\x07\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u2068")


def test_a_value_is_shown_as_it_is():
    made = render(
        "follow_up", {**_examples()["follow_up"], "client_name": "<b>Ä & Ö</b> {{ 7*7 }}"}
    )
    assert "Dear <b>Ä & Ö</b> {{ 7*7 }}," in Outline(made.html).texts
    assert "Dear <b>Ä & Ö</b> {{ 7*7 }}," in made.text


@pytest.mark.parametrize("name", NAMES)
def test_each_version_shows_every_variable(name):
    """By values that occur nowhere else; a nested one counts too."""
    made = render(name, _examples()[name])
    shown = " ".join(Outline(made.html).texts)
    for key, value in _examples()[name].items():
        if isinstance(value, str) and not key.endswith("_date"):
            for line in filter(None, value.splitlines()):
                assert line in shown, key
                assert line in made.subject + made.text, key


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_variable_is_an_error_and_an_optional_one_is_not(name):
    for missing in _examples()[name]:
        data = {key: value for key, value in _examples()[name].items() if key != missing}
        if missing in OPTIONAL - set(_branches()[name]["required"]):
            assert "None" not in render(name, data).html
            continue
        with pytest.raises(jinja2.UndefinedError):
            render(name, data)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(48200, "$48,200"), (0.5, "$0.50"), (1e9, "$1,000,000,000"), (9.999, "$10")],
)
def test_amounts_are_in_dollars_and_cents(amount, shown):
    assert (
        shown
        in render("payment_receipt", {**_examples()["payment_receipt"], "amount_usd": amount}).text
    )


def test_an_integer_written_with_a_fraction_is_shown_without_it():
    data = {**_examples()["booking_confirmation"], "passengers": 6.0}
    assert "Passengers:  6\n" in render("booking_confirmation", data).text


def test_a_date_is_written_out():
    assert subject_of("flight_proposal", _examples()["flight_proposal"]).endswith(
        ", 1 December 2026"
    )


def test_each_template_demands_what_its_own_variables_require():
    """Data that some template admits, and that has all this one requires, is for this one."""
    demands = _resolved(_input()["schema"])["dependentSchemas"]["template_name"]["anyOf"]
    demanded = {
        each["properties"]["template_name"]["const"]: each["properties"]["template_data"][
            "required"
        ]
        for each in demands
    }
    branches = _branches()
    assert demanded == {name: branch["required"] for name, branch in branches.items()}
    for name, branch in branches.items():
        others = (set(each["properties"]) for other, each in branches.items() if other != name)
        assert all(not set(branch["required"]) <= known for known in others)


def test_every_template_is_a_file_that_the_wheel_holds():
    """Hatch packs every file of the package that git does not ignore."""
    names = {path.name for path in FOLDER.iterdir()}
    for name in NAMES:
        assert {f"{name}.html", f"{name}.txt", f"{name}.subject.txt"} <= names


@cache
def _document():
    return json.loads(shipped.catalogue().openapi)


def _input():
    content = "/paths/~1v1~1gmail~1send_template_email/post/requestBody/content"
    return follow(_document(), content)["application/json"]


def _examples():
    """The variables of each template, by its name."""
    values = (example["value"] for example in _input()["examples"].values())
    return {value["template_name"]: value["template_data"] for value in values}


def _branches():
    """The schema of each template's variables, by the template's name."""
    data = _resolved(_input()["schema"])["properties"]["template_data"]["anyOf"]
    return dict(zip(NAMES, (_resolved(branch) for branch in data), strict=True))


def _resolved(schema):
    while "$ref" in schema:
        schema = follow(_document(), schema["$ref"].removeprefix("#"))
    return schema
