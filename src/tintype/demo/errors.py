"""Ways in which the demo says no."""

from tintype.base.errors import Conflict


class DemoNotOffered(Conflict):
    """The demo can only be started while you are the only one who has joined this site."""

    code = "demo_not_offered"
