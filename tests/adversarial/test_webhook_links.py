"""Messages of a provider whose links lead to somebody else."""

import pytest

from tests.avinode_messages import event_of, message, pointer_event, rows_of

FOREIGN = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2852039166/",
    "https://[::ffff:169.254.169.254]/",
    "http://sandbox.avinode.com/api/leads/1",
    "https://evil.example/avinode.com",
    "https://avinode.com.evil.example/",
    "https://notavinode.com/",
    "https://avinode.com@evil.example/",
    "https://user:secret@sandbox.avinode.com/",
    "https://sandbox.avinode.com:8443/",
    "https://evil.example%2f.avinode.com/",
    "https://evil.example#.avinode.com/",
    "https://evil.example?.avinode.com/",
    "javascript://sandbox.avinode.com/%0aalert(1)",
    "file://sandbox.avinode.com/etc/passwd",
    "data:text/html,avinode.com",
]
AUTHENTIC = "https://sandbox.avinode.com/marketplace/mvc/search/load/atrip-1?source=api"


@pytest.mark.attack(
    "an authentic message of a trip carries a link to the metadata service of a cloud, to another "
    "host, or of another scheme than https, for agents and people to open",
    required="the link is neither in the row nor in the event; an earlier link stays, and the rest "
    "of the message counts",
)
@pytest.mark.parametrize("link", FOREIGN)
def test_foreign_links_are_left_out(link: str) -> None:
    created = message("trip_created", 0, trip_id="T-1", deep_link=AUTHENTIC)
    updated = message(
        "trip_updated", 1, trip_id="T-1", deep_link=link, return_at="2026-12-02T09:00:00Z"
    )
    row = rows_of(created, updated)["trips", "T-1"]
    assert (row["deep_link"], row["return_at"]) == (AUTHENTIC, "2026-12-02T09:00:00Z")
    forged = message("trip_created", 0, trip_id="T-2", deep_link=link)
    assert rows_of(forged)["trips", "T-2"]["deep_link"] is None
    for foreign in (updated, forged):
        assert "deep_link" not in event_of(foreign)
    assert event_of(created)["deep_link"] == AUTHENTIC


@pytest.mark.attack(
    "an authentic pointer to a lead or an empty leg leads to the metadata service of a cloud, to "
    "another host, or by another scheme than https",
    required="the event names what has changed by its id, without the link",
)
@pytest.mark.parametrize("kind", ["leads", "emptylegs"])
@pytest.mark.parametrize("link", FOREIGN)
def test_foreign_pointers_are_not_passed_on(kind: str, link: str) -> None:
    assert list(pointer_event(kind, link).values()) == ["X-1"]
    assert pointer_event(kind, AUTHENTIC)["href"] == AUTHENTIC
