"""The routes, under the same addresses as ours."""

from django.urls import path

from bench.peers.django_social import feed, views

urlpatterns = [
    path("api/v1/posts/<int:post_id>/like", views.like),
    path("api/v1/posts/<int:post_id>/comments", views.comment),
    path("api/v1/accounts/<int:account_id>/follow", views.follow),
    path("api/v1/profiles/<str:username>", views.profile),
    path("api/v1/posts", views.publish),
    path("api/v1/feed", feed.feed),
]
