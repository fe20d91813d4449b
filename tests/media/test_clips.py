"""Videos: a poster at once, the clip when the worker has made it, and the reason when it cannot."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.media.files import on_its_shard, paths_in
from tests.media.videos.clips import write_clip
from tests.support import Person, eventually
from tintype.base.bus import Names
from tintype.media import VideoReceived
from tintype.wiring import Rooms
