"""Serving: signed URLs, who may open a file, and the WebP and AVIF variants made on demand."""
