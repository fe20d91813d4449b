"""Listeners are called in order, and the caller waits for them."""

from tintype.base.listeners import Listeners


async def test_every_listener_is_called_in_the_order_they_were_added() -> None:
    calls: list[tuple[str, int]] = []
    changed: Listeners[int] = Listeners()

    for name in ("first", "second"):

        async def listener(number: int, name: str = name) -> None:
            calls.append((name, number))

        changed.add(listener)
    await changed.notify(7)

    assert calls == [("first", 7), ("second", 7)]
