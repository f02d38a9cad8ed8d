import pytest

from gateway.contract.fields.conversion import as_date, as_date_time
from tests.unit.tables import each_of


@each_of("value", ["12/01/2026", "tomorrow", "", 20261201, None])
@each_of(
    ("conversion", "refusal"),
    [
        (as_date, "is not a date, such as 2026-12-01"),
        (as_date_time, "is not a date-time with a time zone, such as 2026-12-01T15:00:00Z"),
    ],
)
def test_a_date_in_another_form_is_refused_with_an_example(conversion, refusal, value):
    with pytest.raises(ValueError, match=r".") as refused:
        conversion(value)

    assert str(refused.value) == refusal
