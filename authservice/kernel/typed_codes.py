"""What a person means by a typed code, whatever the app shows and the keyboard or clipboard adds.

Apps show `123 456`; copied text ends with a line end, a no-break space or an invisible mark; a
keyboard may write the digits of another script. Every code is read here before it is counted or
compared, so each code has one form: a used one is refused in every spelling.
"""

from __future__ import annotations

import unicodedata

# White space, hyphens and dashes, and marks that nobody sees, such as the direction of text.
_IGNORED = {"Zs", "Zl", "Zp", "Pd", "Cf"}
_ALSO_IGNORED = "\t\n\v\f\r\x85\u2212\u02d7\u00b7"  # line ends, tabs, minus signs, a middle dot


def read(typed: str) -> str:
    """The code without spaces, hyphens, line ends and invisible marks, its digits and letters in
    ASCII where they have such a form."""
    return "".join(
        _plain(character)
        for character in typed
        if unicodedata.category(character) not in _IGNORED and character not in _ALSO_IGNORED
    )


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    # Full-width letters, for backup codes.
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 and folded.isalpha() else character
