from typing import Any

from django.db import migrations, models


def add_first_tag(apps: Any, schema_editor: Any) -> None:
    """Every shard has the tag "new" from the start."""
    tags = apps.get_model("photos", "Tag").objects.using(schema_editor.connection.alias)
    tags.get_or_create(name="new")


class Migration(migrations.Migration):
    dependencies = [("photos", "0001_initial")]

    operations = [
        migrations.AddField("Photo", "likes", models.IntegerField(default=0)),
        migrations.AddIndex("Photo", models.Index(fields=["author", "-likes"], name="photos_by_likes")),
        migrations.RunPython(add_first_tag, migrations.RunPython.noop),
    ]
