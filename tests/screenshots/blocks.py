"""A font in which each character is a block of the same size.

Pictures that are compared must not depend on the fonts of a machine. With this font a text is a
bar: its place, length, size, weight and colour are in the picture, the shapes of its characters
are not.
"""

from __future__ import annotations

import base64
from functools import cache
from io import BytesIO

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

_EM, _ADVANCE, _BLOCK = 1000, 520, 480
_SPACES = (0x20, 0xA0)
# Weights of CSS, and how high a block is. Otherwise the browser makes bold characters itself.
_FACES = (("100 549", 420), ("550 900", 620))


@cache
def style() -> str:
    """The style sheet that shows every text of a page in blocks."""
    faces = "".join(
        f"@font-face {{ font-family: Blocks; font-weight: {weights};"
        f" src: url(data:font/ttf;base64,{_font(height)}); }}"
        for weights, height in _FACES
    )
    return f"{faces} * {{ font-family: Blocks !important; caret-color: transparent !important; }}"


def _font(height: int) -> str:
    builder = FontBuilder(_EM, isTTF=True)
    builder.setupGlyphOrder([".notdef", "space", "block"])
    pen = TTGlyphPen(None)
    corners = ((20, 0), (20, height), (_BLOCK + 20, height), (_BLOCK + 20, 0))
    pen.moveTo(corners[0])
    for corner in corners[1:]:
        pen.lineTo(corner)
    pen.closePath()
    empty, block = TTGlyphPen(None).glyph(), pen.glyph()
    builder.setupGlyf({".notdef": block, "space": empty, "block": block})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "space", "block"), (_ADVANCE, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Blocks", "styleName": "Regular"})
    builder.setupCharacterMap({})
    builder.font["cmap"].tables = [_every_character()]
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    file = BytesIO()
    builder.save(file)
    return base64.b64encode(file.getvalue()).decode()


def _every_character() -> CmapSubtable:
    # Format 13 maps a range of characters to one glyph.
    table = CmapSubtable.newSubtable(13)
    table.platformID, table.platEncID, table.language = 3, 10, 0
    table.format, table.reserved, table.length, table.nGroups = 13, 0, 0, 0
    table.cmap = {code: "space" if code in _SPACES else "block" for code in range(0x20, 0xD800)}
    return table
