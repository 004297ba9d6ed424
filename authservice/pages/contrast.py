"""The contrast of two colours, by the Web Content Accessibility Guidelines (WCAG) 2.2."""

from __future__ import annotations

import re
from functools import cache

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
# Success criterion 1.4.3 for text of usual size.
MINIMUM = 4.5
# Backgrounds of the page in light and dark mode.
PAGE, PAGE_DARK = "#ffffff", "#17191f"
# Colours of text on buttons.
_DARK_TEXT, _LIGHT_TEXT = "#101014", "#ffffff"


def ratio(first: str, second: str) -> float:
    """Between 1 and 21, for colours written as `#rrggbb`."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def text_on(color: str) -> str:
    """The colour of text on a button of this colour: the one with the higher contrast."""
    return max(_LIGHT_TEXT, _DARK_TEXT, key=lambda text: ratio(text, color))


def _luminance(color: str) -> float:
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    # Linear light: sRGB stores each share with a gamma (WCAG 2.2, relative luminance).
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)
        for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
