"""The QR code that an authenticator app scans."""

from __future__ import annotations

import base64

import qrcode
from qrcode.image.svg import SvgPathImage


def data_uri(text: str) -> str:
    """`text` as a QR code: an SVG in a `data:` URI, which a browser shows without a request."""
    picture = qrcode.make(text, image_factory=SvgPathImage).to_string()
    return f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
