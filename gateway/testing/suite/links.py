"""Links of imported documents: the target answers about what the source has answered."""

from collections.abc import Callable

import pytest

from gateway.testing.cases import stored_operation
from gateway.testing.fixtures import Loop, draw_of
from gateway.testing.gateways import Faces
from gateway.testing.judging import IMPOSSIBLE, breaks_document, is_impossible
from gateway.testing.links import REASON, LinkFollower, NotFollowed, link_of, named

__all__ = ["test_a_link_leads_from_one_answer_to_the_next"]


def test_a_link_leads_from_one_answer_to_the_next(
    gateway_faces: Faces,
    gateway_loop: Loop,
    gateway_link: str,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    """Both answers fit the document, and show the same thing where its identity is seen."""
    catalogue = gateway_faces.catalogue
    stored, link = link_of(catalogue, gateway_link)
    follower = LinkFollower(gateway_faces, stored.document, draw_of(pytestconfig).seed)
    try:
        found = gateway_loop.run_until_complete(follower.follow(stored.head.id, link))
    except NotFollowed as reason:
        record_property(REASON, named(stored.head.id, link, str(reason)))
        pytest.skip(str(reason))
    if is_impossible(found.target):
        pytest.skip(IMPOSSIBLE)
    source, target, things = found.source, found.target, follower.things
    assert breaks_document(stored, source.body) is None
    assert target.accepted, target.body
    assert breaks_document(stored_operation(catalogue, link.target), target.body) is None
    assert found.again is None or found.again.body == target.body
    if follower.is_same_thing(stored.head.id, source, link.target, found.arguments):
        shown = things.thing(link.target, target.body)
        identity = things.identity(stored.head.id, source.body)
        assert shown is None or things.identity(link.target, target.body) == identity
        if shown is not None and things.are_alike(link.target, stored.head.id):
            assert shown == things.thing(stored.head.id, source.body)
