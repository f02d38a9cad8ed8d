"""How many calls may be under way at once."""

import pytest

from gateway.auth.principal import Grant
from gateway.calls.admission import Admission
from gateway.errors import LimitExceeded

GRANT = Grant(None, None)  # type: ignore[arg-type]  # admission never looks inside a grant


def test_a_call_beyond_the_limit_is_refused_and_asked_to_wait() -> None:
    admission = Admission(max_calls=1)

    with admission.admit(GRANT), pytest.raises(LimitExceeded) as exceeded, admission.admit(GRANT):
        pass

    assert exceeded.value.retry_after_seconds == 1.0


def test_a_place_is_given_back_when_a_call_fails() -> None:
    admission = Admission(max_calls=1)

    with pytest.raises(ValueError, match="boom"), admission.admit(GRANT):
        raise ValueError("boom")

    with admission.admit(GRANT) as permit:
        assert permit.grant is GRANT
    assert admission.calls_under_way == 0
