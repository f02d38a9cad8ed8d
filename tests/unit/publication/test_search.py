"""Finds tools by questions: the terms of texts and queries, the ranking, and the recall."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from gateway.publication.own_tools import Offer
from gateway.publication.search import Field, OfferIndex, RankedIndex, first_sentence
from gateway.publication.terms import MANY_WEIGHT, MAX_WORDS, query_terms, stem, terms
from gateway.publication.view import ToolView
from tests.unit import shipped
from tests.unit.tables import each_of

QUESTIONS = Path(__file__).parents[2] / "assets" / "questions" / "catalogue.jsonl"
FIRST = 5
FOUND = 45
"""The questions of 50 whose tool is among the first five results. More is better, less is not."""


@pytest.fixture(scope="module")
def index() -> OfferIndex:
    """The catalogue of this repository, all of it granted."""
    catalogue = shipped.catalogue()
    offer = Offer(entries=catalogue.entries, connector=None, view=ToolView("search"))
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


@each_of(
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


def test_common_words_are_left_out_of_account_only_where_they_change_nothing() -> None:
    """The ranking is that of the formula, over all texts, whatever the index skips."""
    draw = random.Random(1)  # noqa: S311 - the same texts on each run
    terms = [f"t{number}" for number in range(30)]
    texts = [
        [each for rank, each in enumerate(terms) if draw.random() < 1 / (1 + rank)] * 2 + ["rare"]
        for _ in range(400)
    ]
    ranked = RankedIndex({"text": Field(1.0, 0.0)}, [{"text": each} for each in texts])
    counts = {term: sum(term in each for each in texts) for term in terms}

    def rarity(found: int) -> float:
        return math.log(1 + (len(texts) - found + 0.5) / (found + 0.5))

    def score(text: list[str], wanted: list[dict[str, float]]) -> float:
        total = 0.0
        for meanings in wanted:
            common = max(counts[term] for term in meanings if meanings[term] < 1)
            total += max(
                share * rarity(common if share < 1 else counts[term]) * found / (0.8 + found)
                for term, share in meanings.items()
                for found in [text.count(term)]
            )
        return total

    for _ in range(40):
        chosen = draw.sample(terms, 8)
        wanted = [{chosen[2 * n]: 1.0, chosen[2 * n + 1]: 0.5} for n in range(4)]
        found = ranked.best(wanted, 5)
        scores = [score(text, wanted) for text in texts]
        best = sorted(scores, reverse=True)[:5]
        assert [scores[number] for number in found] == pytest.approx(best, rel=1e-5)


def test_values_of_arguments_are_no_words_of_a_tool() -> None:
    assert query_terms("Invite anna@example.org to #design with DEPLOY_TOKEN 17") == query_terms(
        "Invite to with"
    )
    assert query_terms("Which runs of github_actions failed?") != query_terms("Which runs failed?")


@pytest.mark.parametrize(
    ("query", "is_many"),
    [("Our branches", True), ("The status", False), ("Delete a file", False), ("A file", False)],
)
def test_a_question_about_many_things_asks_for_a_list(query: str, is_many: bool) -> None:
    assert ({stem("list"): MANY_WEIGHT} in query_terms(query)) is is_many


def test_a_related_word_is_found_but_not_in_reverse() -> None:
    asked, other = ({t for each in query_terms(word) for t in each} for word in ("card", "method"))
    assert stem("method") in asked
    assert stem("card") not in other


def test_words_that_mean_the_same_count_once() -> None:
    ranked = RankedIndex(
        {"title": Field(1.0, 0.0)}, [{"title": ["mail"]}, {"title": ["mail", "email"]}]
    )
    assert ranked.best([{"mail": 1.0, "email": 0.1}], 2) == [0, 1]


def test_the_first_sentence_has_no_markup() -> None:
    text = "<p>Creates a <code>Charge</code>.</p> See [here](https://example.com). More."
    assert first_sentence(text).split() == ["Creates", "a", "Charge", "."]
