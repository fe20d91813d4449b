"""Metadata of originals: a copy that keeps the picture and what the camera was set to, and nothing else.

A location hides in more places than can be listed: GPS tables, XMP, IPTC, maker notes, texts, clips and images appended
to a photo, tracks of a video. So the copy is not the original minus a list of known fields, but what an allowlist has.
The result is then read again by parsers that share no code with the ones that made it (`read_back`). A photo that
cannot be copied this way has no stored original, and a video is refused. Runs in the sandbox; decodes no pixels.
"""
