from django.apps import AppConfig


class PhotosConfig(AppConfig):
    name = "photos"
    default_auto_field = "django.db.models.BigAutoField"
