"""Documents that a text can stand in: tool results, mails, pages, tables, code.

The same shapes carry attacks and ordinary text, so that a shape alone is no sign of either.
All of it is made up here; hosts and addresses end in .example.
"""

# ruff: noqa: RUF001 - Chinese punctuation is meant

import json
import re
from collections.abc import Callable, Sequence

from .dice import Dice

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n+")
_NAMES = ("Mira", "Tom", "Li Wei", "Aylin", "Jonas", "Sofia", "Kenji", "Amara", "Pavel", "Nour")
_TOPICS = (
    "quarterly report",
    "team lunch",
    "invoice 20881",
    "release 4.2",
    "holiday plans",
    "roof repair",
    "Rechnung März",
    "réunion de lundi",
    "会议纪要",
    "納品のご連絡",
)
_KEYS = ("content", "description", "body", "note", "snippet", "text", "comment", "summary", "bio")
_HOSTS = ("shop.example", "news.example", "docs.example", "forum.example", "hotel.example")


def inserted(payload: str, document: str, dice: Dice) -> str:
    """The document with the payload at one of its ends or between two of its sentences."""
    cuts = [0, len(document), *(match.start() for match in _SENTENCE_END.finditer(document))]
    at = dice.of(cuts)
    gap = dice.of((" ", " ", "\n", "\n\n"))
    return f"{document[:at].rstrip()}{gap}{payload}{gap}{document[at:].lstrip()}".strip()


def shaped(text: str, dice: Dice) -> str:
    """The text inside one of the shapes."""
    return dice.of(SHAPES)(text, dice)


def _json_record(text: str, dice: Dice) -> str:
    record = {
        "id": dice.below(90_000),
        dice.of(("title", "name", "subject")): dice.of(_TOPICS),
        dice.of(_KEYS): text,
        "url": f"https://{dice.of(_HOSTS)}/{dice.below(999)}",
    }
    return _dumped(record, dice)


def _json_list(text: str, dice: Dice) -> str:
    key = dice.of(_KEYS)
    rows = [{"author": dice.of(_NAMES), key: dice.of(_SMALL_TALK)} for _ in range(2)]
    rows.insert(dice.below(3), {"author": dice.of(_NAMES), key: text})
    return _dumped({dice.of(("results", "items", "reviews", "messages")): rows}, dice)


def _dumped(value: object, dice: Dice) -> str:
    if dice.happens(0.3):
        return str(value)
    return json.dumps(value, ensure_ascii=False, indent=dice.of((None, None, 2)))


def _mail(text: str, dice: Dice) -> str:
    name = dice.of(_NAMES)
    sender = f"{name.lower().replace(' ', '.')}@{dice.of(_HOSTS)}"
    head = dice.of(
        (
            f"From: {name} <{sender}>\nTo: me\nSubject: {dice.of(_TOPICS)}\n\n",
            f"SUBJECT: {dice.of(_TOPICS)} | EMAIL_FROM: {sender} | CONTENT: ",
            f"sender: {sender} subject: {dice.of(_TOPICS)} body: ",
        )
    )
    return f"{head}{text}{dice.of(('', f'{chr(10)}{chr(10)}Best,{chr(10)}{name}'))}"


def _table(text: str, dice: Dice) -> str:
    flat = text.replace("\n", " ")
    mark = dice.of((" | ", ",", "\t", ";"))
    rows = [
        mark.join((str(dice.below(500)), dice.of(_NAMES), dice.of(_SMALL_TALK))) for _ in range(3)
    ]
    rows.insert(dice.below(4), mark.join((str(dice.below(500)), dice.of(_NAMES), flat)))
    return "\n".join((mark.join(("id", "name", "note")), *rows))


def _page(text: str, dice: Dice) -> str:
    tag = dice.of(("p", "div", "li", "span", "td", "blockquote"))
    links = dice.of(("Read more", "Subscribe", "Sign up", "Contact", "Add to cart"))
    return (
        f"<html><title>{dice.of(_TOPICS)}</title><body><h1>{dice.of(_TOPICS)}</h1>"
        f"<p>{dice.of(_SMALL_TALK)}</p><{tag}>{text}</{tag}><a href='/go'>{links}</a></body>"
    )


def _aside(text: str, dice: Dice) -> str:
    flat = text.replace("\n", " ")
    return dice.of(
        (
            f"<p>{dice.of(_SMALL_TALK)}</p>\n<!-- {flat} -->\n<p>{dice.of(_SMALL_TALK)}</p>",
            f'{dice.of(_SMALL_TALK)} <img src="a.png" alt="{flat}"> {dice.of(_SMALL_TALK)}',
            f'<span style="display:none">{flat}</span>{dice.of(_SMALL_TALK)}',
            f"[//]: # ({flat})\n{dice.of(_SMALL_TALK)}",
        )
    )


def _code(text: str, dice: Dice) -> str:
    mark = dice.of(("#", "//", "--"))
    comment = "\n".join(f"{mark} {line}" for line in text.split("\n"))
    body = dice.of(_CODE)
    return dice.of((f"{comment}\n{body}", f"{body}\n{comment}", f'{body}\n"""{text}"""'))


def _log(text: str, dice: Dice) -> str:
    flat = text.replace("\n", " ")
    minute = dice.below(50)
    return (
        f"2026-03-0{1 + dice.below(9)} 10:{minute:02} INFO worker started\n"
        f"2026-03-0{1 + dice.below(9)} 10:{minute + 1:02} {dice.of(('INFO', 'WARN'))} {flat}\n"
        f"2026-03-0{1 + dice.below(9)} 10:{minute + 2:02} INFO {dice.below(900)} rows written"
    )


def _event(text: str, dice: Dice) -> str:
    return (
        f"title: {dice.of(_TOPICS)}\nstart_time: 2026-05-{10 + dice.below(18)} 14:00\n"
        f"participants: {dice.of(_NAMES)}, {dice.of(_NAMES)}\ndescription: {text}"
    )


SHAPES: Sequence[Callable[[str, Dice], str]] = (
    _json_record,
    _json_list,
    _mail,
    _table,
    _page,
    _aside,
    _code,
    _log,
    _event,
)
"""Every shape."""

_SMALL_TALK = (
    "The parcel came on Tuesday and everything was in it.",
    "Rooms are small, but the breakfast makes up for it.",
    "Stock is low in the northern warehouse.",
    "Please bring the signed form to the front desk.",
    "The figures for April are attached.",
    "Works as described.",
    "Press and hold the button for five seconds, then let go.",
    "Do not use near open fire.",
    "Call me when you get this.",
    "Die Heizung wird morgen gewartet, bitte Türen offen lassen.",
    "Merci de confirmer votre présence avant vendredi.",
    "El pedido llegará el jueves por la tarde.",
    "请在周五之前提交报销单。",
    "商品质量不错，物流很快。",
    "会議室は三階に変更になりました。",
    "Отчёт будет готов к пятнице.",
)
_CODE = (
    "def total(rows):\n    return sum(row.price for row in rows)",
    "for (let i = 0; i < n; i++) {\n  draw(points[i]);\n}",
    "SELECT name, city FROM customers WHERE active = 1 ORDER BY name;",
    "import os\n\nROOT = os.path.dirname(__file__)\n",
    "if err != nil {\n\treturn fmt.Errorf('open: %w', err)\n}",
    "#!/bin/sh\nset -eu\nmake clean all\n",
)
