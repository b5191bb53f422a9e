"""Check digits and numbering rules: what tells a real identifier from a run of digits.

Every function takes the text as matched and ignores blanks and hyphens.  A true answer says that
the number is well formed, not that it was issued: nothing is looked up.
"""

# ruff: noqa: PLR2004, SIM905 - counts of digits are the rules themselves; codes read best in lines

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

IBAN_LENGTHS: Mapping[str, int] = MappingProxyType(
    {
        country: length
        for length, countries in (
            (15, "NO"),
            (16, "BE"),
            (18, "DK FI FK FO GL NL SD"),
            (19, "MK SI"),
            (20, "AT BA EE KZ LT LU MN XK"),
            (21, "CH HR LI LV"),
            (22, "BG BH CR DE GB GE IE ME RS VA"),
            (23, "AE GI IL IQ OM SO TL"),
            (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
            (25, "LY PT ST"),
            (26, "IS TR"),
            (27, "BI DJ FR GR IT MC MR SM"),
            (28, "AL AZ BY CY DO GT HN HU LB NI PL SV"),
            (29, "BR EG PS QA UA"),
            (30, "JO KW MU YE"),
            (31, "MT SC"),
            (32, "LC"),
            (33, "RU"),
        )
        for country in countries.split()
    }
)
"""Characters of an IBAN by country: SWIFT, IBAN Registry (ISO 13616), with release 99."""

CALLING_CODES = frozenset(
    (
        "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 "
        "62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 "
        "225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 "
        "248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 "
        "291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 "
        "378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 "
        "590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 "
        "683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 880 881 882 883 886 "
        "888 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 992 993 994 "
        "995 996 998"
    ).split()
)
"""Assigned country calling codes: ITU-T, list of E.164 assigned country codes."""

_E164_DIGITS = range(8, 16)
"""ITU-T E.164 allows fifteen digits; below eight no country has full international numbers."""

_CARD_LENGTHS = (
    # First digits from, to (inclusive, four digits), lengths: ISO/IEC 7812 and the networks.
    (2221, 2720, (16,)),  # Mastercard's second series, in use since 2017
    (3000, 3059, (14, 16)),  # Diners Club
    (3095, 3095, (14, 16)),
    (3400, 3499, (15,)),  # American Express
    (3528, 3589, (16, 17, 18, 19)),  # JCB
    (3600, 3699, (14, 16, 17, 18, 19)),  # Diners Club
    (3700, 3799, (15,)),  # American Express
    (3800, 3999, (14, 16)),  # Diners Club
    (4000, 4999, (13, 16, 19)),  # Visa
    (5000, 5099, (16, 17, 18, 19)),  # Maestro
    (5100, 5599, (16,)),  # Mastercard
    (5600, 5899, (16, 17, 18, 19)),  # Maestro
    (6011, 6011, (16, 19)),  # Discover
    (6200, 6299, (16, 17, 18, 19)),  # UnionPay
    (6304, 6304, (16, 17, 18, 19)),  # Maestro
    (6440, 6599, (16, 19)),  # Discover
    (6759, 6763, (16, 17, 18, 19)),  # Maestro
    (8100, 8199, (16, 17, 18, 19)),  # UnionPay
)

_SSN_ADVERTISED = frozenset({"078051120", "219099999"})
"""Printed in wallets and leaflets, hence never valid: SSA, "Social Security Cards Issued by
Woolworth"."""

_CN_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CN_CHECK = "10X98765432"
_CN_PROVINCES = frozenset(
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 "
    "71 81 82 83".split()
)
"""GB/T 2260 first digits.  No finer table: districts come and go, numbers stay."""


_NO_DIGITS = re.compile("[^0-9]+")


def compact(text: str) -> str:
    """The text without blanks and hyphens, in upper case."""
    return text.replace(" ", "").replace("-", "").upper()


def digits_of(text: str) -> str:
    """The ASCII digits of the text, in order."""
    return _NO_DIGITS.sub("", text)


def luhn(digits: str) -> bool:
    """Whether the last digit is right: ISO/IEC 7812-1, annex B.  `digits` MUST be ASCII digits."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) << (index & 1)
        total += value - 9 if value > 9 else value
    return bool(digits) and total % 10 == 0


def card(text: str) -> bool:
    """Whether it is a card number of a known network, of a length it issues, with its check."""
    digits = digits_of(text)
    issuer = int(digits[:4] or 0)
    return any(
        low <= issuer <= high and len(digits) in lengths for low, high, lengths in _CARD_LENGTHS
    ) and luhn(digits)


def iban(text: str) -> bool:
    """Whether country, length and both check digits are right: ISO 13616-1, ISO 7064 MOD 97-10."""
    code = compact(text)
    if len(code) != IBAN_LENGTHS.get(code[:2]) or not code.isascii() or not code.isalnum():
        return False
    return int("".join(str(int(sign, 36)) for sign in code[4:] + code[:4])) % 97 == 1


def us_ssn(text: str) -> bool:
    """Whether SSA could have issued it: 20 CFR 422.103 and SSA's randomisation rules of 2011."""
    digits = digits_of(text)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return (
        len(digits) == 9
        and area not in ("000", "666")
        and area[0] != "9"
        and group != "00"
        and serial != "0000"
        and digits not in _SSN_ADVERTISED
    )


def _is_date(year: int, month: str, day: str) -> bool:
    try:
        date(year, int(month), int(day))
    except ValueError:
        return False
    return True


def cn_id(text: str) -> bool:
    """Whether province, date of birth and check digit of an 18-digit number fit: GB 11643-1999."""
    code = compact(text)
    if len(code) != 18 or not (code[:17].isascii() and code[:17].isdigit()):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(code, _CN_WEIGHTS, strict=False))
    return (
        code[:2] in _CN_PROVINCES
        and _is_date(int(code[6:10]), code[10:12], code[12:14])
        and code[17] == _CN_CHECK[total % 11]
    )


def cn_id_15(text: str) -> bool:
    """Whether province and date of a 15-digit number of before 2000 fit; it has no check digit."""
    code = compact(text)
    return (
        len(code) == 15
        and code.isascii()
        and code.isdigit()
        and code[:2] in _CN_PROVINCES
        and _is_date(1900 + int(code[6:8]), code[8:10], code[10:12])
    )


def e164(text: str) -> bool:
    """Whether it begins with an assigned calling code and has a possible number of digits.

    The text begins with "+" or "00"; an "(0)" inside is not dialled from abroad and not counted.
    """
    digits = digits_of(text.replace("(0)", ""))
    if text.startswith("00"):
        digits = digits[2:]
    if len(digits) not in _E164_DIGITS:
        return False
    if digits[0] == "1":
        return nanp(digits)
    return any(digits[:length] in CALLING_CODES for length in (1, 2, 3))


def nanp(text: str) -> bool:
    """Whether it is a number of the North American plan: ATIS-0300051, area and exchange codes.

    Area code [2-9][0-8]X and not N11, exchange [2-9]XX and not N11; a leading 1 is allowed.
    """
    digits = digits_of(text)
    if len(digits) == 11 and digits[0] == "1":
        digits = digits[1:]
    if len(digits) != 10:
        return False
    area, exchange = digits[:3], digits[3:6]
    return (
        area[0] >= "2"
        and area[1] != "9"
        and area[1:] != "11"
        and exchange[0] >= "2"
        and exchange[1:] != "11"
    )
