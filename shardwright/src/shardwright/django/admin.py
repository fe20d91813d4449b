"""The admin of sharded models, one shard at a time.

    @admin.register(Photo)
    class PhotoAdmin(ShardAdmin): ...

The list shows one shard, chosen by its filter and remembered for the session. The page of an object finds the shard
by the object's id, so links to objects work whichever shard was chosen.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from shardwright.django.aliases import all_shards, current_shard, is_shard, shard_of, use_shard
from shardwright.errors import InvalidId, ShardKeyMissing

PARAMETER = "shard"
SESSION_KEY = "shardwright_shard"
LISTED = 64
"""How many shards the filter offers at a time."""


class ShardFilter(admin.SimpleListFilter):
    """Chooses the shard that the list shows."""

    title = "shard"
    parameter_name = PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's hook
        """All shards."""
        return [(alias, alias) for alias in all_shards()]

    def choices(self, changelist: Any) -> Any:
        """The shards around the chosen one, without Django's "All": a list shows one. `?shard=` reaches the others."""
        chosen = self.value() or current_shard()
        aliases = [alias for alias, _ in self.lookup_choices]
        start = max(0, aliases.index(chosen) - LISTED // 2) if chosen in aliases else 0
        for alias, title in self.lookup_choices[start : start + LISTED]:
            query = changelist.get_query_string({self.parameter_name: alias}, remove=["p"])
            yield {"selected": alias == chosen, "query_string": query, "display": title}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002 - Django's hook
        """The rows of the shard, which the admin has chosen already."""
        return queryset


class ShardAdminMixin:
    """Makes an admin's views work on a shard."""

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """The shard first, then the model's own filters."""
        return [ShardFilter, *super().get_list_filter(request)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows of the chosen shard, wherever they are evaluated."""
        return super().get_queryset(request).using(current_shard() or chosen_shard(request))

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The list of the chosen shard."""
        return _on_shard(chosen_shard(request), super().changelist_view, request, *args, **kwargs)

    def changeform_view(self, request: HttpRequest, object_id: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The page of an object, or of a new one on the chosen shard."""
        shard = chosen_shard(request, object_id)
        return _on_shard(shard, super().changeform_view, request, object_id, *args, **kwargs)

    def delete_view(self, request: HttpRequest, object_id: Any, *args: Any, **kwargs: Any) -> Any:
        """The page that deletes an object."""
        shard = chosen_shard(request, object_id)
        return _on_shard(shard, super().delete_view, request, object_id, *args, **kwargs)

    def history_view(self, request: HttpRequest, object_id: Any, *args: Any, **kwargs: Any) -> Any:
        """The page with an object's history, which itself is kept in the default database."""
        shard = chosen_shard(request, object_id)
        return _on_shard(shard, super().history_view, request, object_id, *args, **kwargs)


class ShardAdmin(ShardAdminMixin, admin.ModelAdmin):
    """A `ModelAdmin` of a model on shards."""


def chosen_shard(request: HttpRequest, object_id: Any = None) -> str:
    """The shard of an object's id; else the one in the address; else the one chosen last; else the first."""
    if object_id is not None and str(object_id).isdecimal():
        with contextlib.suppress(InvalidId):  # no such object: the page says so
            return shard_of(int(object_id))
    wanted = request.GET.get(PARAMETER)
    if is_shard(wanted):
        request.session[SESSION_KEY] = wanted
        return wanted
    remembered = request.session.get(SESSION_KEY)
    if is_shard(remembered):
        return remembered
    shards = all_shards()
    if not shards:
        raise ShardKeyMissing("there are no shards yet: create some with `manage.py add_shards`")
    return shards[0]


def _on_shard(shard: str, view: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the view on the shard; a response that is rendered later is rendered there, too."""
    with use_shard(shard):
        response = view(*args, **kwargs)
    if hasattr(response, "render"):
        response.render = functools.partial(_render, shard, response.render)
    return response


def _render(shard: str, render: Callable[[], Any]) -> Any:
    with use_shard(shard):
        return render()
