"""How many calls may be under way at once."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.auth.principal import Grant, Principal
from gateway.errors import LimitExceeded
from gateway.limits.places import Admission, Places, UpstreamShare

ANN = Principal(subject="ann", agent="administrator")
GRANT = Grant(ANN, None)  # type: ignore[arg-type]  # without shares, nothing looks at the entry


def using(*upstreams: str, principal: Principal = ANN) -> Grant:
    """The grant of a call that uses these upstreams."""
    entry: Any = SimpleNamespace(operation=SimpleNamespace(upstreams=upstreams))
    return Grant(principal, entry)


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
    assert admission.places.taken == 0


def test_calls_of_one_upstream_leave_places_for_others() -> None:
    shares = {"shop": UpstreamShare("Shop", 1), "bank": UpstreamShare("Bank", 1)}
    admission = Admission(max_calls=3, shares=shares)

    with admission.admit(using("shop")):
        for both in (("shop",), ("bank", "shop")):
            with pytest.raises(LimitExceeded, match="1 call to Shop may be under way"):
                admission.admit(using(*both)).__enter__()
        with admission.admit(using("bank")), admission.admit(using()):
            with pytest.raises(LimitExceeded, match="At most 3 calls may be under way"):
                admission.admit(using()).__enter__()
            assert admission.places.taken == 3

    assert admission.places.taken == 0
    with admission.admit(using("shop", "bank")):
        assert [each.places.taken for each in shares.values()] == [1, 1]
    assert [each.places.taken for each in shares.values()] == [0, 0]


def test_generations_share_places_and_each_has_its_own_limit() -> None:
    places = Places()
    old, new = Admission(max_calls=3, places=places), Admission(max_calls=2, places=places)

    with old.admit(GRANT), new.admit(GRANT):
        with pytest.raises(LimitExceeded, match="At most 2 calls may be under way"):
            new.admit(GRANT).__enter__()
        with old.admit(GRANT):
            assert places.taken == 3
    assert places.taken == 0


def test_the_calls_of_one_caller_leave_places_for_others() -> None:
    bob = using(principal=Principal(subject="bob", agent="administrator"))
    places = Places()
    old, new = (Admission(max_calls=4, places=places, max_of_one=2) for _ in range(2))

    with old.admit(GRANT), new.admit(GRANT), old.admit(bob), new.admit(bob):
        assert places.of_callers == {"ann": 2, "bob": 2}
    with old.admit(GRANT), new.admit(GRANT):
        for each in (old, new):
            with pytest.raises(LimitExceeded, match="At most 2 calls with this key may be"):
                each.admit(GRANT).__enter__()
    with new.admit(GRANT):
        pass
    assert (places.taken, places.of_callers) == (0, {})
