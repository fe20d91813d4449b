"""Colour palettes of scenes under the sky, by time of day and weather."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SkyPalette:
    """Colours of the sky from zenith to horizon, of the haze, of what is near, and of the sun or moon."""

    sky: tuple[str, ...]
    haze: str
    near: str
    sun: str
    strength: float = 1.0


SKY_PALETTES = {
    "dawn": SkyPalette(("#5d7fae", "#b9b4c6", "#f4c3a4", "#fde3bd"), "#f3c8ad", "#232f42", "#fff0cd"),
    "morning": SkyPalette(("#3f7fbd", "#86b6dc", "#cfe3ec", "#eef3ee"), "#bdd6e4", "#14303a", "#fffbe8", 0.7),
    "gold": SkyPalette(("#5f6f98", "#d69a6e", "#f7b45f", "#ffe09a"), "#f0b070", "#33201f", "#fff0b8"),
    "dusk": SkyPalette(("#1f2550", "#5b4784", "#c4648a", "#f79a6b"), "#9a5f8c", "#12152c", "#ffd9a0", 0.9),
    "night": SkyPalette(("#030713", "#081528", "#12294a", "#274a6a"), "#1a3552", "#03060c", "#dfe8ff", 0.25),
    "fog": SkyPalette(("#aebbc2", "#c6cfd2", "#d9dddb", "#e6e5df"), "#d5dad9", "#2f3d42", "#ffffff", 0.3),
}
