"""Every scene by name. A scene fills a canvas; the mood chooses among its palettes."""

from collections.abc import Callable
from typing import TypeAlias

from tintype.demo.canvas import Canvas
from tintype.demo.scenes import close_up, landscape, sky, town, water, woods

Scene: TypeAlias = Callable[[Canvas, str], None]

SCENES: dict[str, Scene] = {
    "arches": town.arches,
    "aurora": sky.aurora,
    "balloons": landscape.balloons,
    "birches": woods.birches,
    "bokeh": town.bokeh,
    "clouds": sky.clouds,
    "coffee": close_up.coffee,
    "dunes": landscape.dunes,
    "fireworks": town.fireworks,
    "firs": woods.firs,
    "fruit": close_up.fruit,
    "lake": landscape.lake,
    "leaf": woods.leaf,
    "meadow": woods.meadow,
    "milky_way": sky.milky_way,
    "moon": sky.moon,
    "rain": town.rain,
    "ridges": landscape.ridges,
    "sea": water.sea,
    "shore": water.shore,
    "skyline": town.skyline,
    "window_light": close_up.window_light,
}
