"""What is repeated of an upstream's error, and how it is found."""

import pytest

from gateway.contract.refusals import plain_code, with_code
from gateway.contract.upstream import Upstream, UpstreamOperation, status_names
from tests.unit.tables import each_of


@pytest.mark.parametrize("code", ["invalid_grant", "PGRST124", "22P02", "x" * 64])
def test_a_plain_code_is_reported(code) -> None:
    assert plain_code(code) == code
    assert with_code("It answered 400", code) == f"It answered 400: {code}."


@each_of("code", ["", "x" * 65, "two words", "a\n", "<b>", "é", 7, None, ["a"], {"a": 1}])
def test_whatever_else_stands_there_is_not(code) -> None:
    assert plain_code(code) == ""
    assert with_code("It answered 400", code) == "It answered 400."


def test_a_status_has_its_own_name_before_that_of_its_class() -> None:
    assert (status_names(404), status_names(200)) == (("404", "4XX"), ("200", "2XX"))


def test_an_operation_is_found_by_its_id() -> None:
    look = UpstreamOperation(id="look", method="GET", path="/")
    zoo = Upstream(name="zoo", title="Zoo", base_url=None, operations=(look,))
    assert (zoo.find("look"), zoo.find("feed")) == (look, None)
