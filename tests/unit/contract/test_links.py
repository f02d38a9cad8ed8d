import pytest

from gateway.contract.outbound import is_link_within
from tests.unit.tables import each_of


@pytest.mark.parametrize(
    "link",
    [
        "https://a.test",
        "https://A.Test/x?y#z",
        "https://b.c.a.test:443/",
    ],
)
def test_a_link_may_lead_to_a_domain_and_below_it(link):
    assert is_link_within(link, "a.test")


@each_of(
    "link",
    [
        "",
        "a.test",
        "//a.test/",
        "http://a.test/",
        "https://ba.test/",
        "https://a.test./",
        "https://.a.test/",
        "https://a.test:444/",
        "https://a.test:x/",
        "https://@a.test/",
        "https://user@a.test/",
        "https://[::1/a.test",
        "https://evil.test\\.a.test/",
        "https://evil.test%2f.a.test/",
        "https://evil.test;.a.test/",
        "https://a.test/\n",
        "https://a.test/ x",
        "https://\u0430.a.test/",
    ],
)
def test_no_other_link_may(link):
    assert not is_link_within(link, "a.test")
