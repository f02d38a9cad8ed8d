"""What an upstream says of a call with sensitive arguments reaches the log only without them."""

import pytest

from gateway.audit.facts import logged_text
from gateway.calls.changes import hide_sensitive
from gateway.contract.refusals import UpstreamAnswer
from gateway.errors import UpstreamNotSetUp
from tests.unit import shipped

GIVEN = {"table": "iso_workflows", "data": {"state": "Very private words"}}


@pytest.mark.parametrize(
    ("said", "is_logged"),
    [
        ("Could not find the table in the schema cache", True),
        ("Could not find 'Very private words'", False),
        ("Could not find the PRIVATE table", False),
    ],
)
def test_a_sentence_that_shares_a_word_with_them_stays_out_of_the_log(
    said: str, is_logged: bool
) -> None:
    error = UpstreamNotSetUp("Run tables.sql.")
    error.answer = UpstreamAnswer(status=404, body={"message": said})
    error.is_answer_logged = True

    hide_sensitive(error, shipped.catalogue().find("supabase.insert").operation, GIVEN)

    assert (said in logged_text(error)) is is_logged
    assert "Very private words" not in str(error.answer)
