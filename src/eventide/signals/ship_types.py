"""What ships are: AIS codes and the words of providers to the classes that the rules' background data use."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
_HAZARDS = ("", "-hazarda(major)", "-hazardb", "-hazardc(minor)", "-hazardd(recognizable)")
# By the code of AIS (ITU-R M.1371, table 53); a decade without a second digit here is one class.
_DECADES = {2: "wingingrnd", 4: "highspeedcraft", 6: "passenger", 9: "other"}
_CODES = {
    30: "fishing", 31: "tug", 32: "tug", 33: "dredger", 34: "divevessel", 35: "militaryops", 36: "sailingvessel",
    37: "pleasurecraft", 50: "pilotvessel", 51: "sar", 52: "tug", 53: "porttender", 54: "anti-pollution",
    55: "lawenforce", 56: "localvessel", 57: "localvessel", 58: "medicaltrans", 59: "specialcraft",
    # the further codes of MarineCadastre
    1001: "fishing", 1002: "fishing", 1003: "cargo", 1004: "cargo", 1010: "cargo", 1011: "anti-pollution",
    1012: "passenger", 1013: "passenger", 1014: "passenger", 1015: "passenger", 1016: "cargo", 1017: "tanker",
    1019: "pleasurecraft", 1021: "saraircraft", 1023: "tanker", 1024: "tanker", 1025: "tug",
}
CLASSES = tuple(sorted({
    *_CODES.values(), *_DECADES.values(), *(kind + hazard for kind in ("cargo", "tanker") for hazard in _HAZARDS),
    "beacon", "cardinalmarkn", "isolateddanger", "light", "mannedvts", "navigationaid", "porthandmark", UNKNOWN,
}))
# By the words of providers, in lower case and without anything but letters.
_WORDS = {
    "hsc": "highspeedcraft", "highspeed": "highspeedcraft", "towing": "tug", "towinglongwide": "tug", "pilot":
    "pilotvessel", "pilotboat": "pilotvessel", "searchandrescue": "sar", "searchandrescuevessel": "sar", "dredging":
    "dredger", "dredgingorunderwaterops": "dredger", "diving": "divevessel", "divingops": "divevessel", "military":
    "militaryops", "sailing": "sailingvessel", "pleasure": "pleasurecraft", "pleasureboat": "pleasurecraft", "yacht":
    "pleasurecraft", "recreational": "pleasurecraft", "lawenforcement": "lawenforce", "medical": "medicaltrans",
    "medicaltransport": "medicaltrans", "wig": "wingingrnd", "winginground": "wingingrnd", "shipsaccordingtorr":
    "specialcraft", "shipsnotpartytoarmedconflict": "specialcraft", "notpartytoconflict": "specialcraft",
    "noncombatantship": "specialcraft", "antipollutionequipment": "anti-pollution", "ferry": "passenger", "cruise":
    "passenger", "container": "cargo", "bulkcarrier": "cargo", "roro": "cargo", "freight": "cargo", "trawler":
    "fishing", "local": "localvessel", "saraircraft": "saraircraft", "undefined": UNKNOWN, "reserved": UNKNOWN,
    "notavailable": UNKNOWN, "spare": UNKNOWN, "unspecified": UNKNOWN,
}
_LETTERS = re.compile(r"[^a-z]")
_BY_LETTERS = {_LETTERS.sub("", name): name for name in CLASSES} | _WORDS


def ship_class(given: str | int | float | None) -> str:
    """The class of a ship by its code, by a provider's word, or by the name of the class itself.

    >>> ship_class(52), ship_class("80.0"), ship_class("LAW_ENFORCEMENT"), ship_class("Port tender"), ship_class(None)
    ('tug', 'tanker', 'lawenforce', 'porttender', 'unknown')
    """
    if given is None or given != given:
        return UNKNOWN
    text = str(given).strip()
    try:
        return _of_code(int(float(text)))
    except (ValueError, OverflowError):
        letters = _LETTERS.sub("", text.lower())
        return _BY_LETTERS.get(letters, "other" if letters else UNKNOWN)


def _of_code(code: int) -> str:
    if code in _CODES:
        return _CODES[code]
    decade, rest = divmod(code, 10)
    if decade in (7, 8):
        return ("cargo" if decade == 7 else "tanker") + (_HAZARDS[rest] if rest < len(_HAZARDS) else "")
    if decade in _DECADES:
        return _DECADES[decade]
    return "other" if 1001 <= code <= 1025 else UNKNOWN
