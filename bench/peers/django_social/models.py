"""The tables, with an index for every query of the views."""

from django.db import models


class Account(models.Model):
    """An account."""

    username = models.CharField(max_length=30, unique=True)
    full_name = models.CharField(max_length=100, default="")
    bio = models.CharField(max_length=500, default="")
    is_private = models.BooleanField(default=False)
    is_verified = models.BooleanField(default=False)
    post_count = models.IntegerField(default=0)
    follower_count = models.IntegerField(default=0)
    following_count = models.IntegerField(default=0)
    unread_count = models.IntegerField(default=0)


class Token(models.Model):
    """A session."""

    key = models.CharField(max_length=64, primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()


class Follow(models.Model):
    """A follow."""

    follower = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="following")
    followee = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="followers")

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["follower", "followee"], name="follow_once")]


class Block(models.Model):
    """A block."""

    blocker = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocks")
    blocked = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocked_by")

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["blocker", "blocked"], name="block_once")]


class Post(models.Model):
    """A post."""

    author = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="posts")
    caption = models.TextField(default="")
    like_count = models.IntegerField(default=0)
    comment_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Pages of an author, newest first."""

        indexes = [models.Index(fields=["author", "-id"])]


class Media(models.Model):
    """An uploaded picture, with or without its post."""

    owner = models.ForeignKey(Account, on_delete=models.CASCADE)
    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="media")
    folder = models.CharField(max_length=100)
    width = models.IntegerField()
    height = models.IntegerField()
    alt_text = models.CharField(max_length=1000, default="")


class Like(models.Model):
    """One person's like of one post."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="likes")
    account = models.ForeignKey(Account, on_delete=models.CASCADE)

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["post", "account"], name="like_once")]


class Save(models.Model):
    """A saved post."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE)
    account = models.ForeignKey(Account, on_delete=models.CASCADE)

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["account", "post"], name="save_once")]


class Mute(models.Model):
    """A muted account."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mutes")
    muted = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["account", "muted"], name="mute_once")]


class Comment(models.Model):
    """A comment on a post."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="comments")
    account = models.ForeignKey(Account, on_delete=models.CASCADE)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)


class Follower(models.Model):
    """A follow, mirrored for reads by the followee: whom to put a new post before."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    follower = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        """One row per pair."""

        constraints = [models.UniqueConstraint(fields=["account", "follower"], name="follower_once")]


class Notification(models.Model):
    """An entry of somebody's list: one kind of activity about one thing, by any number of people."""

    recipient = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    group_id = models.BigIntegerField()
    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor_count = models.IntegerField(default=0)
    is_read = models.BooleanField(default=False)
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One unread entry per group; pages of a list, newest first."""

        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "kind", "group_id"],
                condition=models.Q(is_read=False),
                name="notification_grouped",
            )
        ]
        indexes = [models.Index(fields=["recipient", "-changed_at"])]


class NotificationActivity(models.Model):
    """What one person did, as part of a notification."""

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="activities")
    recipient = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    object_id = models.BigIntegerField()
    actor = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")

    class Meta:
        """One row per recipient, thing and person."""

        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "kind", "object_id", "actor"], name="notification_activity_once"
            )
        ]


class NotificationPreference(models.Model):
    """Whose activities of one kind somebody wants to be notified of."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    audience = models.CharField(max_length=20, default="everyone")

    class Meta:
        """One row per kind."""

        constraints = [models.UniqueConstraint(fields=["account", "kind"], name="preference_once")]


class SearchEntry(models.Model):
    """A word under which an account or a post is found, the most popular first."""

    kind = models.CharField(max_length=10)
    term = models.CharField(max_length=100, db_index=True)
    subject_id = models.BigIntegerField()
    weight = models.IntegerField(default=0)

    class Meta:
        """One row per word of a subject."""

        constraints = [
            models.UniqueConstraint(fields=["kind", "subject_id", "term"], name="search_entry_once")
        ]
