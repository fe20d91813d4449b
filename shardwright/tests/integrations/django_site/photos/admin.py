from django.contrib import admin

from photos.models import Author, Comment, Photo, Tag
from shardwright.django.admin import ShardAdmin


class CommentInline(admin.TabularInline):
    model = Comment
    extra = 1


@admin.register(Author)
class AuthorAdmin(ShardAdmin):
    search_fields = ["username"]


@admin.register(Photo)
class PhotoAdmin(ShardAdmin):
    list_display = ["caption", "author"]
    list_filter = ["author"]
    inlines = [CommentInline]
    search_fields = ["caption"]


@admin.register(Comment)
class CommentAdmin(ShardAdmin):
    autocomplete_fields = ["photo"]


@admin.register(Tag)
class TagAdmin(ShardAdmin):
    pass
