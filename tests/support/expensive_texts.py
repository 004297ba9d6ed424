"""Texts that are expensive to normalise, match or compare; usable without Django."""

# Canonical ordering moves each mark of class 220 past all those of class 230.
MARKS = "a" + "\N{COMBINING ACUTE ACCENT}" * 15_500 + "\N{COMBINING GRAVE ACCENT BELOW}" * 15_500
_ROW = "a" + "\N{COMBINING ACUTE ACCENT}" * 15 + "\N{COMBINING GRAVE ACCENT BELOW}" * 15
LONG = {
    "combining marks": MARKS,
    "rows of 30 marks": _ROW * 1000,
    "ligatures": "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 20_000,
    "composition exclusions": "\N{HEBREW LETTER SHIN WITH DAGESH AND SHIN DOT}" * 20_000,
    "right-to-left marks": "\N{RIGHT-TO-LEFT MARK}" * 20_000,
    "digits of another script": "\N{ARABIC-INDIC DIGIT THREE}" * 31_000,
    "one letter": "a" * 64_000,
    "one digit": "9" * 64_000,
    "spaces": " " * 61_000 + "a",
    "labels": "a@" + "a-." * 20_000,
    "web address": "http://" + "a-." * 20_000,
}
