from django.db import models


class Author(models.Model):
    username = models.CharField(max_length=30, unique=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.username


class Tag(models.Model):
    name = models.CharField(max_length=30, unique=True)

    def __str__(self) -> str:
        return self.name


class Photo(models.Model):
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="photos")
    caption = models.TextField(blank=True)
    tags = models.ManyToManyField(Tag, blank=True, related_name="photos")
    taken_by_user_id = models.BigIntegerField(null=True, blank=True)  # a user of the default database
    likes = models.IntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["author", "-likes"], name="photos_by_likes")]

    def __str__(self) -> str:
        return self.caption


class Comment(models.Model):
    photo = models.ForeignKey(Photo, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text
