"""What a person means by a typed code, whatever the app shows and the keyboard or clipboard adds.

Apps show `123 456`; copied text ends with a line end, a no-break space or an invisible mark; a
keyboard may write the digits of another script. Every code is read here before it is counted or
compared, so each code has one form: a used one is refused in every spelling.
"""

from __future__ import annotations

import unicodedata

# Unicode categories of white space, hyphens and dashes, and of marks that nobody sees, such as
# those of the direction of text.
_IGNORED = {"Zs", "Zl", "Zp", "Pd", "Cf"}
_ALSO_IGNORED = "\t\n\v\f\r\x85\u2212\u02d7\u00b7"  # line ends, tabs, minus signs, a middle dot


def read(typed: str) -> str:
    """The code without spaces, hyphens, line ends and invisible marks, its digits and letters in
    ASCII where they have such a form."""
    code = ""
    for character in typed:
        if unicodedata.category(character) in _IGNORED or character in _ALSO_IGNORED:
            continue
        digit = unicodedata.decimal(character, None)
        # Full-width letters, for backup codes.
        folded = unicodedata.normalize("NFKC", character)
        if digit is not None:
            code += str(digit)
        else:
            code += folded if len(folded) == 1 and folded.isalpha() else character
    return code
