"""Uploads: receive a file (in one request, in tus parts, or straight into S3) and make media of it."""
