"""Finds tools by questions: the terms of texts and queries, the ranking, and the recall."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.catalogue import open_catalogue
from gateway.publication.own_tools import Offer
from gateway.publication.search.found import OfferIndex
from gateway.publication.search.index import Field, RankedIndex
from gateway.publication.search.queries import MAX_WORDS, query_terms
from gateway.publication.search.texts import first_sentence
from gateway.publication.search.words import stem, terms
from gateway.publication.view import ToolView

QUESTIONS = Path(__file__).parents[2] / "assets" / "questions" / "catalogue.jsonl"
FIRST = 5
FOUND = 45
"""The questions of 50 whose tool is among the first five results. More is better, less is not."""


@pytest.fixture(scope="module")
def index() -> OfferIndex:
    """The catalogue of this repository, all of it granted."""
    catalogue = open_catalogue("generated", ("gateway.connectors",))
    offer = Offer(
        entries=catalogue.entries,
        connector=None,
        view=ToolView("search"),
        allows=lambda _: True,
    )
    return OfferIndex(offer, lambda _: ("", ""))


def test_questions_that_were_written_before_the_index_find_their_tools(index: OfferIndex) -> None:
    questions = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    assert len(questions) == 50
    missed = [
        each["question"]
        for each in questions
        if each["operation"].replace(".", "_", 1)
        not in {found.name for found in index.find(each["question"], FIRST)}
    ]
    assert len(questions) - len(missed) >= FOUND, missed


@pytest.mark.parametrize(
    "forms",
    [
        "create created creates creating creation",
        "repository repositories",
        "delete deleted deleting deletion",
        "list lists listed listing",
        "address addresses",
        "assign assignment",
        "status",
        "bus",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_words_are_split_by_case_and_signs_and_lose_accents() -> None:
    assert terms("listPulls, get_HTTPStatus of Zürich") == terms(
        "list pulls listpulls get http status httpstatus zurich"
    )


@pytest.mark.parametrize("query", ["", "   ", "的", "\u0000\uffff", "?" * 200, "e\u0301" * 100])
def test_a_query_without_known_words_finds_nothing(index: OfferIndex, query: str) -> None:
    assert index.find(query, FIRST) == []


def test_a_query_is_searched_up_to_a_number_of_words() -> None:
    many = " ".join(f"word{number}" for number in range(10 * MAX_WORDS))
    assert len(query_terms(many)) == MAX_WORDS


def test_the_first_word_says_which_effect_is_wanted() -> None:
    effects = [
        [name for name in query_terms(query)[0] if name.startswith("effect:")]
        for query in ("Which mails are there?", "Delete a mail", "Send a mail", "Mail")
    ]
    assert effects == [["effect:read"], ["effect:destroy"], ["effect:write"], []]


def test_a_tool_is_found_by_what_it_returns(index: OfferIndex) -> None:
    """No argument and no description of the tool has this word, only a member of its result."""
    (first, *_) = index.find("humidity", FIRST)
    assert first.name == "weather_get_weather"


def test_a_verb_with_un_is_also_searched_as_its_removal() -> None:
    """As vendors name it: "Delete branch protection"."""
    meanings = query_terms("unprotect branch")
    assert {stem("remove"), stem("protect")} <= {term for each in meanings for term in each}
    assert stem("der") not in {term for each in query_terms("under") for term in each}


def test_heavier_fields_and_rarer_terms_come_first() -> None:
    fields = {"title": Field(3.0, 0.5), "text": Field(0.5, 0.5)}
    texts: list[dict[str, Any]] = [
        {"title": ["mail"], "text": ["common"]},
        {"title": ["common"], "text": ["mail"]},
        {"title": ["common"], "text": []},
    ]
    ranked = RankedIndex(fields, texts)
    assert ranked.best([{"mail": 1.0}], 3) == [0, 1]
    assert ranked.best([{"mail": 1.0}, {"common": 1.0}], 3) == [0, 1, 2]
    assert ranked.best([{"mail": 1.0}], 1) == [0]
    assert ranked.best([{"nothing": 1.0}], 3) == []


def test_words_that_mean_the_same_count_once() -> None:
    ranked = RankedIndex(
        {"title": Field(1.0, 0.0)}, [{"title": ["mail"]}, {"title": ["mail", "email"]}]
    )
    assert ranked.best([{"mail": 1.0, "email": 0.1}], 2) == [0, 1]


def test_the_first_sentence_has_no_markup() -> None:
    text = "<p>Creates a <code>Charge</code>.</p> See [here](https://example.com). More."
    assert first_sentence(text).split() == ["Creates", "a", "Charge", "."]
