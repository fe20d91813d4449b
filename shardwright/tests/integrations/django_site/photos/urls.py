from django.contrib import admin
from django.http import HttpRequest, JsonResponse
from django.urls import path

from photos.models import Photo
from shardwright.django import shard_of, use_shard


async def show_photo(request: HttpRequest, photo_id: int) -> JsonResponse:
    with use_shard(shard_of(photo_id)):
        photo = await Photo.objects.select_related("author").aget(pk=photo_id)
        comments = [comment.text async for comment in photo.comments.all()]
    return JsonResponse({"caption": photo.caption, "author": photo.author.username, "comments": comments})


def count_photos(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"photos": Photo.objects.count()})


urlpatterns = [
    path("admin/", admin.site.urls),
    path("photos/count", count_photos),
    path("photos/<int:photo_id>", show_photo),
]
