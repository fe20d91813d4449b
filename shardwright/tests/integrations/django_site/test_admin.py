"""The admin of sharded models, through Django's test client."""

from itertools import count

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from site_cluster import Site

from shardwright.django import all_shards, shard_of

pytestmark = pytest.mark.slow  # the first of them migrates sixteen shards

_names = count(1)


@pytest.fixture
def client(site: Site) -> Client:
    user = get_user_model().objects.create_superuser(f"admin {next(_names)}")
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def name() -> str:
    return f"admin test {next(_names)}"


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, (path, response)
    return response.content.decode()


def test_a_list_shows_the_chosen_shard_and_remembers_it(site: Site, client: Client, name: str) -> None:
    here, there = all_shards()[3], all_shards()[4]
    site.models.Author.objects.using(here).create(username=name)

    assert name in page(client, f"/admin/photos/author/?shard={here}")
    assert name in page(client, "/admin/photos/author/")
    assert name in page(client, f"/admin/photos/author/?q={name}")
    assert name not in page(client, f"/admin/photos/author/?shard={there}")
    assert name not in page(client, "/admin/photos/author/")
    assert "?shard=s0015" in page(client, "/admin/photos/author/")


def test_an_object_is_added_to_the_chosen_shard(site: Site, client: Client, name: str) -> None:
    alias = all_shards()[7]
    author = site.models.Author.objects.using(alias).create(username=name)
    other = site.models.Author.objects.using(all_shards()[8]).create(username=f"{name} elsewhere")
    form = page(client, f"/admin/photos/photo/add/?shard={alias}")
    assert name in form
    assert other.username not in form
    response = client.post(
        "/admin/photos/photo/add/",
        {
            "author": author.pk,
            "caption": name,
            "likes": 0,
            "comments-TOTAL_FORMS": 1,
            "comments-INITIAL_FORMS": 0,
            "comments-0-text": "inline",
        },
        follow=True,
    )

    assert "was added successfully" in response.content.decode()
    photo = site.models.Photo.objects.using(alias).get(caption=name)
    assert shard_of(photo.pk) == alias
    assert [each.text for each in photo.comments.all()] == ["inline"]


def test_an_object_is_found_and_changed_by_its_id_whichever_shard_is_chosen(
    site: Site, client: Client, name: str
) -> None:
    author = site.models.Author.objects.using("s0009").create(username=name)
    page(client, "/admin/photos/author/?shard=s0002")
    path = f"/admin/photos/author/{author.pk}"
    assert name in page(client, f"{path}/change/")
    client.post(f"{path}/change/", {"username": f"{name}!"})
    author.refresh_from_db()
    assert author.username == f"{name}!"
    assert "Changed Username" in page(client, f"{path}/history/")
    assert "Are you sure" in page(client, f"{path}/delete/")
    client.post(f"{path}/delete/", {"post": "yes"})

    assert not site.models.Author.objects.using("s0009").filter(pk=author.pk).exists()


def test_actions_and_autocompletion_work_on_the_chosen_shard(site: Site, client: Client, name: str) -> None:
    author = site.models.Author.objects.using("s0010").create(username=name)
    photo = author.photos.create(caption=name)
    page(client, "/admin/photos/photo/?shard=s0010")
    found = client.get(
        "/admin/autocomplete/",
        {"term": name, "app_label": "photos", "model_name": "comment", "field_name": "photo"},
    ).json()
    assert [each["id"] for each in found["results"]] == [str(photo.pk)]
    client.post(
        "/admin/photos/photo/",
        {"action": "delete_selected", "_selected_action": photo.pk, "post": "yes"},
    )

    assert not author.photos.exists()


def test_an_unknown_shard_or_object_is_no_error(site: Site, client: Client) -> None:
    assert "s0000" in page(client, "/admin/photos/author/?shard=s0000")
    assert client.get("/admin/photos/author/?shard=s9999").status_code in {200, 302}
    for unknown in (12345678901234567, 7000 << 10 | 1 << 40, 1 << 70, "abc"):
        assert client.get(f"/admin/photos/author/{unknown}/change/").status_code == 302
