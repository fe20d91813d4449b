"""The demo community over HTTP: the offer to fill a fresh site with generated people."""

from typing import Any

from litestar import Controller, Request, get, post

from tintype.api.http.dependencies import Viewer
from tintype.api.views.demo import DemoView, show_demo
from tintype.demo import DemoOffer


class DemoApi(Controller):
    """The demo community."""

    path = "/api/v1/demo"
    tags = ("Site",)

    @get("/", summary="The demo's offer and progress")
    async def find(self, request: Request[Any, Any, Any], viewer: Viewer) -> DemoView:
        """Offered to the only account of a fresh site; while it runs, its progress."""
        offer: DemoOffer = request.app.state.demo_offer
        return show_demo(await offer.get_status(viewer.id))

    @post("/", summary="Start the demo", status_code=202)
    async def begin(self, request: Request[Any, Any, Any], viewer: Viewer) -> DemoView:
        """Generated people join and post in the background; the viewer follows some of them. Safe to repeat."""
        offer: DemoOffer = request.app.state.demo_offer
        return show_demo(await offer.begin(viewer.id))
