"""Pictures of pages in a browser, and whether two of them show the same."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageChops
from selenium.webdriver import Chrome

from tests.hosts.runs import ROOT

# A picture for each state of the preview, size and colour scheme: `login.phone.dark.png`.
FOLDER = ROOT / "tests" / "screenshots" / "states"
SIZES = {"phone": (360, 640, True), "desktop": (1120, 800, False)}
SCHEMES = ("light", "dark")
# Levels of 255 by which a pixel may differ, and pixels that may differ more: browsers of other
# versions draw edges and check boxes a little differently.
LEVELS, PIXELS = 6, 260
_COLORS = 256
_ALL_LEVELS = 256


def resize(browser: Chrome, size: str) -> None:
    width, height, mobile = SIZES[size]
    metrics = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def emulate(browser: Chrome, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def take(browser: Chrome, size: str) -> Image.Image:
    """The whole page, also what is below the edge of the window."""
    width, height, _ = SIZES[size]
    whole = browser.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": max(height, whole), "scale": 1}
    options = {"format": "png", "captureBeyondViewport": True, "clip": clip}
    options["optimizeForSpeed"] = True
    answer = browser.execute_cdp_cmd("Page.captureScreenshot", options)
    return Image.open(BytesIO(base64.b64decode(answer["data"]))).convert("RGB")


def store(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Shadows have many colours.
    coarse = picture.point([min(255, round(level / 5) * 5) for level in range(_ALL_LEVELS)] * 3)
    small = coarse.quantize(_COLORS)
    _, most = _levels(small, picture).getextrema()
    # A palette has too few colours for a page with the marks of many providers.
    (coarse if most > LEVELS / 2 else small).save(path, optimize=True)


def difference(old: Image.Image, new: Image.Image) -> str:
    """What differs in words; "" if both show the same."""
    if old.size != new.size:
        return f"{new.width} x {new.height} pixels instead of {old.width} x {old.height}"
    largest = _levels(old, new)
    marked = largest.point([255 if level > LEVELS else 0 for level in range(_ALL_LEVELS)])
    count = marked.histogram()[-1]
    return f"{count} pixels differ, in {marked.getbbox()}" if count > PIXELS else ""


def _levels(old: Image.Image, new: Image.Image) -> Image.Image:
    """By how many levels each pixel differs, in the band with the largest difference."""
    red, green, blue = ImageChops.difference(old.convert("RGB"), new.convert("RGB")).split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def paths(states: list[str]) -> Iterator[tuple[str, str, str, Path]]:
    """State, size, scheme and file of each picture."""
    for state in states:
        for size in SIZES:
            for scheme in SCHEMES:
                yield state, size, scheme, FOLDER / f"{state}.{size}.{scheme}.png"
