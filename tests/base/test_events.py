from hypothesis import given
from hypothesis import strategies as st

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId
from tintype.graph import FollowChanged
from tintype.posts import PostPublished

ids = st.integers(min_value=1, max_value=2**63 - 1)


@given(ids, ids)
def test_an_event_decodes_to_what_was_encoded(post_id: int, author_id: int) -> None:
    event = PostPublished(PostId(post_id), AccountId(author_id))

    assert PostPublished.decode(event.encode()) == event


def test_an_event_is_named_after_its_class() -> None:
    assert FollowChanged.name == "follow_changed"
    assert Event.known["post_published"] is PostPublished


def test_fields_of_a_newer_release_are_ignored() -> None:
    decoded = PostPublished.decode(b'{"post_id": 5, "author_id": 6, "mood": "new"}')

    assert decoded == PostPublished(PostId(5), AccountId(6))
