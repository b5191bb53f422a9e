"""Letters of other scripts that look like Latin ones, and what they are read as.

A hand-made selection in the manner of Unicode TS 39's confusables: Cyrillic, Greek, Armenian,
Cherokee and a few lone letters, as far as a reader (and a language model) takes them for Latin.
"""

from collections.abc import Mapping
from types import MappingProxyType

_PAIRS = (
    # Cyrillic
    (
        "аАвВеЕёЁзЗиИкКмМнНоОпПрРсСтТуУхХьЬѕЅіІїЇјЈһҺԁԚԛԝԜӏӀ",
        "aABBeEeE33uukKMMHHoOnnpPcCTTyYxXbBsSiIiIjJhHdQqwWlI",
    ),
    # Greek
    ("αΑβΒγεΕζΖηΗιΙκΚμΜνΝοΟρΡσςτΤυΥχΧωϲϳ", "aABByeEzZnHiIkKuMvNoOpPocTTuYxXwcj"),
    # Armenian
    ("օՕսՍհոցգզԼ", "oOuUhnggqL"),
    # Cherokee
    ("ᎪᎬᎻᎫᏞᎷᏃᎾᏢᏚᎡᏔᎢᏙᎳᏃᏴᎥᏟ", "AEHJLMZOPSRTTVWZBiC"),
    # Latin letters that NFKC leaves alone
    ("ıɑɡɩʟɴʀʏꜱɪᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢƽɢʙʜøØłŁđĐħĦ", "iagilnryssacdejkmoptuvwzsgbhoOlLdDhH"),
)


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for letters, latin in _PAIRS:
        table.update(zip(letters, latin, strict=True))
    return table


HOMOGLYPHS: Mapping[str, str] = MappingProxyType(_table())
"""One letter to one ASCII letter or digit."""
