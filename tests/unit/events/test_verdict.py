"""What each answer means for a delivery."""

from datetime import timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.http.posting import NoAnswer, PostAnswer
from gateway.events.deliver import verdict_of
from tests.clocks import NOW
from tests.unit.tables import each_of


@each_of("status", range(100, 600))
def test_of_all_statuses_only_2xx_delivers_and_all_others_but_gone_are_tried_again(status):
    """An endpoint may answer 401, 404 or a redirect while its owner deploys it."""
    verdict = verdict_of(PostAnswer(status=status), NOW)
    assert (verdict.error is None) == (200 <= status < 300)
    assert verdict.is_retryable == (not 200 <= status < 300 and status != 410)
    assert verdict.is_gone == (status == 410)
    assert verdict.answer == f"{str(status)[0]}xx"


@pytest.mark.parametrize(
    ("reason", "error", "is_retryable"),
    [
        ("timeout", "endpoint_timeout", True),
        ("unreachable", "endpoint_unreachable", True),
        ("unresolved", "endpoint_unresolved", True),
        ("untrusted", "endpoint_untrusted", True),
        ("broken", "endpoint_broken", True),
        ("address_refused", "address_refused", False),
    ],
)
def test_no_answer_is_tried_again_unless_the_address_is_refused(reason, error, is_retryable):
    verdict = verdict_of(NoAnswer(reason=reason, detail="words"), NOW)
    assert (verdict.answer, verdict.error, verdict.detail) == (reason, error, "words")
    assert verdict.is_retryable == is_retryable


@each_of(
    ("field", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        ("0", 0.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        ("Fri, 20 Nov 2026 14:31:30 -0000", 90.0),
        ("", None),
        ("-1", None),
        ("+5", None),
        ("1e9", None),
        ("1_0", None),
        ("٣", None),
        ("9" * 11, None),
        ("soon", None),
        ("Fri, 99 Nov 2026 14:31:30 GMT", None),
        ("1 Jan 99999999999999999999 00:00:00", None),
        ("Thu, 01 Jan 2026 00:00:00 +99999999999999", None),
        ("Thu, 01 Jan 2026 00:00:00 -99999999999999999999999", None),
    ],
)
def test_retry_after_is_read_in_both_its_forms_and_in_no_other(field, seconds):
    assert verdict_of(PostAnswer(status=503, retry_after=field), NOW).asked_seconds == seconds


@given(st.text())
def test_any_retry_after_is_survived(field):
    asked = verdict_of(PostAnswer(status=429, retry_after=field), NOW).asked_seconds
    assert asked is None or asked >= 0
