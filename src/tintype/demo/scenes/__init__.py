"""Every scene by name. A scene fills a sheet; the mood chooses among its palettes."""

from collections.abc import Callable
from typing import TypeAlias

from tintype.demo.light import Sheet
from tintype.demo.scenes import near, open_air, sky, town, water, woods

Scene: TypeAlias = Callable[[Sheet, str], None]

SCENES: dict[str, Scene] = {
    "arches": town.arches,
    "aurora": sky.aurora,
    "balloons": open_air.balloons,
    "birches": woods.birches,
    "bokeh": town.bokeh,
    "clouds": sky.clouds,
    "coffee": near.coffee,
    "dunes": open_air.dunes,
    "fireworks": town.fireworks,
    "firs": woods.firs,
    "fruit": near.fruit,
    "lake": open_air.lake,
    "leaf": woods.leaf,
    "meadow": woods.meadow,
    "milky_way": sky.milky_way,
    "moon": sky.moon,
    "rain": town.rain,
    "ridges": open_air.ridges,
    "sea": water.sea,
    "shore": water.shore,
    "skyline": town.skyline,
    "window_light": near.window_light,
}
