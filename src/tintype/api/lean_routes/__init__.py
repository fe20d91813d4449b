"""Lean routes: the hottest routes, called without the framework's routing, dependency injection and middleware.

A route is marked with `lean=True`; its function, its types and its place in the OpenAPI document are the framework's as
before. `plan` reads from the signature how to call it; `dispatch` checks a request in the same order as the framework
does (`http/authentication.py`) and answers it, or leaves it to the framework, before anything is done for it, where
anything about it is unusual. A test compares the answers of both.
"""

from tintype.api.lean_routes.dispatch import LeanRoutes

__all__ = ["LeanRoutes"]
