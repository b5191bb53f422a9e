r"""The shapes of personal data: one table, read by the PII detector and by the stream screen.

Digits and letters are ASCII and so are the sides, because a Chinese or Japanese neighbour is a
word character to `\b` and would hide the number next to it.  Full-width digits become ASCII
before the table is asked (`normalize.py`).

A number is reported when its form alone makes it one (separators, "+", a check digit), or when a
word before it says so (`context`).  Known misses: e-mail addresses with quoted or non-ASCII
parts; payment cards in groups other than the printed ones; national telephone formats outside
the ones below unless written in international form.
"""

# ruff: noqa: E501, PLR2004 - counts of digits are the rules themselves; expressions stay whole

import re

from . import checksums
from .pattern import WORD, Pattern

_SEP = "[ -]?"
_NUMBER_LEFT = WORD + r"\-+.,/#$%"
"""What makes the digits after it the rest of something longer: 1.2, 3/4, #5, $6, a-7."""
_PHONE_LEFT = _NUMBER_LEFT.replace(",", "")  # CSV: name,212-555-0143
_PHONE_RIGHT = WORD + r"%/\-"


def _words(english: str, other: str) -> str:
    """A context: an English word on its own, or any of the other words anywhere."""
    return rf"(?i:(?<![a-z])(?:{english})(?![a-z])|{other})"


_PHONE_WORDS = _words(
    r"(?:tele)?phones?|tel(?:ephone)?|mobile|cell(?:phone)?|call(?:ed|ing|s)?|call(?: me| us)?|dial"
    r"|fax|sms|text(?: me)?|whatsapp|contact|reach(?: me| us)?|ring|hotline|landline|ph",
    r"电话|電話|手机|手機|联系|聯絡|致电|座机|传真|拨打|号码|微信|telefon|telefoon|handy|mobil|ruf(?:nummer|en)"
    r"|t[ée]l[ée]|num[ée]ro|\bnumer|nummer|bel me|appel|tel[ée]fono|m[óo]vil|llam|cellulare|chiam|telem[óo]vel|kom[óo]rk|전화|휴대|연락",
)
_CARD_WORDS = _words(
    r"(?:credit|debit|bank|payment)?[ -]?cards?|cc|visa|mastercard|maestro|amex|jcb|discover|unionpay",
    r"卡号|卡號|银行卡|信用卡|银联|kreditkarte|carte|tarjeta|carta|cart[ãa]o|カード|카드",
)
_SSN_WORDS = _words(r"ssn|social security(?: (?:number|no\.?|num))?|social|tin", "社会安全|社安")
_CN_ID_WORDS = _words(
    r"id(?: (?:card|number|no\.?))?|identity|resident", "身份|身分|证件|證件|居民"
)

_CARD_ISSUER = (
    r"(?:4\d{3}|5[0-8]\d{2}|2(?:22[1-9]|2[3-9]\d|[3-6]\d{2}|7[01]\d|720)|35[2-8]\d|3[0689]\d{2}"
    r"|62\d{2}|6011|6304|64[4-9]\d|65\d{2}|67(?:59|6[0-3])|81\d{2})"
)

_DIGITS = re.compile("[0-9]+")
_EMAIL_FILES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".css", ".js", ".ts", ".html")


def _is_email(text: str) -> bool:
    """Refuses what is written like an address but is none: git@host, logo@2x.png, a@1.2.rc."""
    local, _, domain = text.lower().rpartition("@")
    is_version = all(label[:1].isdigit() for label in domain.split(".")[:2])  # but 163.com is real
    return local != "git" and not domain.endswith(_EMAIL_FILES) and not is_version


def _is_us_phone(text: str) -> bool:
    """A number of the North American plan; what follows an "x" or "ext" is an extension."""
    return checksums.nanp(text.partition("x")[0].removesuffix("e"))


def _is_told_card(text: str) -> bool:
    """A number that a word announced as a card: any issuer, but with its check digit."""
    return len(set(text)) > 2 and checksums.luhn(checksums.digits_of(text))


def _is_date_like(text: str) -> bool:
    """Whether the groups of a number read as a date: 2026-11-30, 01.02.2026, 2026 11 30."""
    groups = _DIGITS.findall(text)
    if len(groups) != 3:
        return False
    sizes = [len(group) for group in groups]
    year = groups[0] if sizes[0] == 4 else groups[2]
    return sorted(sizes)[:2] <= [2, 2] and len(year) == 4 and year[:2] in ("19", "20")


def _is_told_phone(text: str) -> bool:
    """A number that a word announced: 7 to 15 digits, no date and no sum of money or IP."""
    digits = checksums.digits_of(text)
    groups = _DIGITS.findall(text)
    return (
        7 <= len(digits) <= 15
        and len(set(digits)) > 2
        and not _is_date_like(text)
        and not (text.count(".") == 3 and len(groups) == 4)
    )


def _iban_bodies() -> list[str]:
    """One body a length, so that a match cannot run on into the word after the number."""
    countries: dict[int, list[str]] = {}
    for country, length in checksums.IBAN_LENGTHS.items():
        countries.setdefault(length, []).append(country)
    bodies = []
    for length, codes in countries.items():
        groups, rest = divmod(length - 4, 4)
        tail = rf"{_SEP}[A-Z0-9]{{{rest}}}" if rest else ""
        bodies.append(rf"(?:{'|'.join(codes)})\d{{2}}(?:{_SEP}[A-Z0-9]{{4}}){{{groups}}}{tail}")
    return bodies


_EMAIL = Pattern(
    id="pii.email.address",
    kind="pii.email",
    # RFC 5321 4.5.3.1: 64 characters of local part; labels of 63 (RFC 1035); the TLD is letters.
    body=r"[A-Za-z0-9_][A-Za-z0-9._%+'\-]{0,63}@(?:[A-Za-z0-9][A-Za-z0-9\-]{0,62}\.){1,6}"
    r"(?:[Xx][Nn]--[A-Za-z0-9\-]{2,59}|[A-Za-z]{2,24})",
    score=0.95,
    check=_is_email,
)

_CARDS = (
    Pattern(
        id="pii.card.sixteen",
        kind="pii.card",
        body=rf"{_CARD_ISSUER}(?:{_SEP}\d{{4}}){{3}}",
        score=0.95,
        left=WORD + ".",
        check=checksums.card,
    ),
    Pattern(
        id="pii.card.long",
        kind="pii.card",
        body=rf"(?:62\d{{2}}|81\d{{2}}|4\d{{3}}|5[0-8]\d{{2}}|6\d{{3}}|35[2-8]\d)"
        rf"(?:{_SEP}\d{{4}}){{3}}{_SEP}\d{{1,3}}",
        score=0.9,
        left=WORD + ".",
        check=checksums.card,
    ),
    Pattern(
        id="pii.card.amex",
        kind="pii.card",
        body=rf"3[47]\d{{2}}{_SEP}\d{{6}}{_SEP}\d{{5}}",
        score=0.95,
        left=WORD + ".",
        check=checksums.card,
    ),
    Pattern(
        id="pii.card.told",
        kind="pii.card",
        body=r"\d{12,19}",
        score=0.85,
        left=WORD + ".",
        check=_is_told_card,
        context=rf"{_CARD_WORDS}[^0-9\n]{{0,24}}$",
    ),
    Pattern(
        id="pii.card.diners",
        kind="pii.card",
        body=rf"3(?:0[0-59]|[689]\d)\d{_SEP}\d{{6}}{_SEP}\d{{4}}",
        score=0.9,
        left=WORD + ".",
        check=checksums.card,
    ),
)

_IBANS = tuple(
    Pattern(
        id="pii.iban.number",
        kind="pii.iban",
        body=body,
        score=0.98,
        check=checksums.iban,
        ignore_case=True,
    )
    for body in _iban_bodies()
)

_PHONES = (
    Pattern(
        id="pii.phone.nanp_international",
        kind="pii.phone",
        body=r"\+1[ .\-]?(?:\([2-9]\d{2}\)|[2-9]\d{2})[ .\-]?[2-9]\d{2}[ .\-]?\d{4}",
        score=0.9,
        check=checksums.nanp,
    ),
    Pattern(
        id="pii.phone.cn_international",
        kind="pii.phone",
        body=r"(?:\+|00)86[ \-]?1[3-9]\d[ \-]?\d{4}[ \-]?\d{4}",
        score=0.95,
    ),
    Pattern(
        id="pii.phone.international",
        kind="pii.phone",
        # Not +1, which has a pattern of its own with exact lengths.
        body=r"\+[2-9]\d{0,2}[ .\-/]?(?:\(0?\d{0,4}\)[ .\-/]?)?\d{1,11}(?:[ .\-/]\d{2,9}){0,5}",
        score=0.8,
        right=_PHONE_RIGHT,
        check=checksums.e164,
    ),
    Pattern(
        id="pii.phone.international_00",
        kind="pii.phone",
        body=r"00[2-9]\d{0,2}[ .\-/](?:\(0?\d{0,4}\)[ .\-/]?)?\d{1,11}(?:[ .\-/]\d{2,9}){0,5}",
        score=0.7,
        left=_PHONE_LEFT,
        right=_PHONE_RIGHT,
        check=checksums.e164,
    ),
    Pattern(
        id="pii.phone.cn_mobile",
        kind="pii.phone",
        body=r"1[3-9]\d(?:\d{8}|[ \-]\d{4}[ \-]\d{4})",
        score=0.7,
        left=_PHONE_LEFT,
        right=_PHONE_RIGHT,
    ),
    Pattern(
        id="pii.phone.us",
        kind="pii.phone",
        body=r"(?:1[ .\-])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[ .\-]\d{4}"
        r"|[2-9]\d{2}(?:-[2-9]\d{2}-|\.[2-9]\d{2}\.| [2-9]\d{2}[ \-])\d{4})"
        r"(?: ?(?:x|ext\.?) ?\d{1,6})?",
        score=0.75,
        left=_PHONE_LEFT,
        right=_PHONE_RIGHT,
        check=_is_us_phone,
    ),
    Pattern(
        id="pii.phone.pairs",
        kind="pii.phone",
        body=r"0[1-9](?: \d{2}){4}|0[1-9](?:\.\d{2}){4}|0[1-9](?:-\d{2}){4}",  # France
        score=0.75,
        left=_PHONE_LEFT,
        right=_PHONE_RIGHT,
    ),
    Pattern(
        id="pii.phone.trunk",
        kind="pii.phone",
        # A trunk 0 and an area, then the number: Germany, Britain, Italy, the Netherlands, China,
        # Japan, Korea.  No point: 01.02.2026.
        body=r"\(0\d{1,4}\) ?\d{3,8}(?:[ \-]\d{2,6}){0,2}"
        r"|0[1-9]\d{0,3}(?: ?/ ?|-)\d{6,9}|0[1-9]\d{0,3} \d{6,9}|0\d{1,4}-\d{3,4}[ \-]\d{4}"
        r"|0\d{1,4} \d{3,4} \d{3,4}|0\d{2,4}(?: ?/ ?| )\d{3,4} \d{2,4}",
        score=0.65,
        left=_PHONE_LEFT,
        right=_PHONE_RIGHT,
        check=lambda text: 9 <= len(checksums.digits_of(text)) <= 12,
    ),
    Pattern(
        id="pii.phone.told",
        kind="pii.phone",
        body=r"\(\d{1,5}\)[ \-]?\d(?:[ ./\-]?\d){4,12}|\d(?:[ ./\-]{0,3}\d){6,14}",
        score=0.65,
        left=_PHONE_LEFT,
        right=WORD + "%",
        check=_is_told_phone,
        # Directly before: nothing but a few words and signs between, and no other number.
        context=rf"{_PHONE_WORDS}[^0-9\n]{{0,16}}$",
    ),
)

_IDENTITIES = (
    Pattern(
        id="pii.us_ssn.hyphens",
        kind="pii.us_ssn",
        body=r"\d{3}-\d{2}-\d{4}",
        score=0.85,
        left=_NUMBER_LEFT.replace(",", ""),
        right=WORD + r"\-",
        check=checksums.us_ssn,
    ),
    Pattern(
        id="pii.us_ssn.told",
        kind="pii.us_ssn",
        body=r"\d{3} \d{2} \d{4}|\d{9}",
        score=0.8,
        left=_NUMBER_LEFT,
        right=WORD + r"\-",
        check=checksums.us_ssn,
        context=_SSN_WORDS,
    ),
    Pattern(
        id="pii.cn_id.eighteen",
        kind="pii.cn_id",
        body=rf"[1-8]\d{{5}}{_SEP}(?:18|19|20)\d{{2}}{_SEP}(?:0[1-9]|1[0-2]){_SEP}"
        rf"(?:0[1-9]|[12]\d|3[01]){_SEP}\d{{3}}[0-9Xx]",
        score=0.98,
        check=checksums.cn_id,
    ),
    Pattern(
        id="pii.cn_id.fifteen",
        kind="pii.cn_id",
        body=r"[1-8]\d{7}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}",
        score=0.7,
        check=checksums.cn_id_15,
        context=_CN_ID_WORDS,
    ),
)

PII_PATTERNS: tuple[Pattern, ...] = (_EMAIL, *_CARDS, *_IBANS, *_PHONES, *_IDENTITIES)
"""The whole bundle.  The order has no meaning: overlaps are resolved by the Scanner."""
