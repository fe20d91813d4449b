"""The tenant is whoever owns the rows of other tables, not what those are described with."""

import pytest

from shardwright.adopt.catalog import Column, ForeignKey, Table
from shardwright.adopt.errors import AdoptRefused
from shardwright.adopt.propose import propose_plan
from shardwright.adopt.tenants import find_tenant, rank_tenants


def make_tables(*described: str) -> dict[str, Table]:
    """Tables written as `name: column, column!, column→parent, column?→parent`; ! is unique, ? may be null."""
    return {table.name: table for table in map(_make_table, described)}


def _make_table(described: str) -> Table:
    name, _, rest = described.partition(":")
    columns = {"id": _column("id")}
    keys: list[ForeignKey] = []
    unique: list[tuple[str, ...]] = []
    for word in filter(None, (part.strip() for part in rest.split(","))):
        column, _, parent = word.partition("→")
        is_unique, is_nullable = column.endswith("!"), column.endswith("?")
        column = column.rstrip("!?")
        columns[column] = _column(column, is_not_null=not is_nullable)
        if parent:
            key = ForeignKey(
                f"{name}_{column}", name, (column,), "public", parent, ("id",), is_validated=True
            )
            keys.append(key)
        if is_unique:
            unique.append((column,))
    return Table(
        name=name,
        columns=columns,
        key=("id",),
        foreign_keys=tuple(keys),
        unique=tuple(unique),
        identity="d",
        is_unlogged=False,
        rows=0,
        size_bytes=0,
        writes=0,
    )


def _column(name: str, *, is_not_null: bool = True) -> Column:
    return Column(name, "bigint", is_not_null, is_generated=False, has_sequence=False, sequence=None)


DJANGO = (
    "django_content_type: app_label!, model!",
    "auth_permission: name, codename!, content_type_id→django_content_type",
    "auth_group: name!",
    "auth_group_permissions: group_id→auth_group, permission_id→auth_permission",
    "auth_user: username!, password",
    "auth_user_groups: user_id→auth_user, group_id→auth_group",
    "auth_user_user_permissions: user_id→auth_user, permission_id→auth_permission",
    "django_admin_log: user_id→auth_user, content_type_id?→django_content_type, message",
    "django_migrations: app, name",
    "django_session: data",
)
TAGS = (
    "taggit_tag: name!, slug!",
    "taggit_taggeditem: tag_id→taggit_tag, content_type_id→django_content_type, object_id",
    "reversion_version: content_type_id→django_content_type, object_id, data",
    "guardian_grouppermission: content_type_id→django_content_type, group_id→auth_group, object_id",
)


@pytest.mark.parametrize("more", [(), TAGS], ids=["alone", "with generic relations"])
def test_the_users_of_a_django_site_are_its_tenants(more: tuple[str, ...]) -> None:
    plan = propose_plan(make_tables(*DJANGO, *more))

    assert plan.tenant == "auth_user"
    assert set(plan.lookups) >= {
        "auth_group",
        "auth_group_permissions",
        "auth_permission",
        "django_content_type",
    }
    assert {"django_migrations", "django_session"} <= set(plan.stay)


def test_whoever_owns_most_is_the_tenant_of_several_owners() -> None:
    tables = make_tables(
        "companies: name!",
        "users: company_id→companies, email!",
        "projects: company_id→companies, title",
        "tasks: project_id→projects, user_id?→users, title",
    )

    assert [each.table for each in rank_tenants(tables, "public")[:2]] == ["companies", "users"]


def test_a_catalogue_that_more_tables_describe_does_not_own_the_customers_orders() -> None:
    tables = make_tables(
        "shop_product: title",
        *(f"shop_product{name}: product_id→shop_product, value" for name in ("image", "price", "stock")),
        "shop_customer: name",
        "shop_order: customer_id→shop_customer, total",
        "shop_orderline: order_id→shop_order, product_id→shop_product, quantity",
    )

    assert find_tenant(tables, "public") == "shop_customer"


def test_an_owner_by_name_that_owns_next_to_nothing_is_not_the_tenant() -> None:
    tables = make_tables(
        "editor_user: name",
        "editor_login: user_id→editor_user, at",
        "blog: title",
        *(f"blog_{number}: blog_id→blog, body" for number in range(5)),
    )

    assert find_tenant(tables, "public") == "blog"


def test_a_vocabulary_is_the_tenant_only_where_nothing_else_owns_anything() -> None:
    things = ("color: name!", "thing: color_id→color, size", "label: color_id→color, text")
    assert find_tenant(make_tables(*things), "public") == "color"

    assert find_tenant(make_tables(*things, "part: thing_id→thing, size"), "public") == "thing"


def test_a_vocabulary_that_is_called_like_an_owner_may_be_one() -> None:
    tables = make_tables("workspace: slug!", "page: workspace_id→workspace, body", "line: page_id→page, text")

    assert find_tenant(tables, "public") == "workspace"


def test_without_a_key_of_one_column_there_is_no_tenant() -> None:
    with pytest.raises(AdoptRefused, match="--tenant"):
        find_tenant({}, "public")
