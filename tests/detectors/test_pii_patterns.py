# ruff: noqa: RUF001 - full-width signs are meant

import pytest

from tidegate.detectors import Segment, Source, Trust
from tidegate.detectors.pii_patterns import PII_PATTERNS
from tidegate.detectors.scanner import Scanner

FOUND = (
    ("Write to jane.doe+x@mail.example.org, please.", "pii.email", "jane.doe+x@mail.example.org"),
    ("邮箱a@b.com收到", "pii.email", "a@b.com"),
    ("mail lee@163.com", "pii.email", "lee@163.com"),
    ("dep@x1.2.org", "pii.email", "dep@x1.2.org"),
    ("my card 630427373398 is lost", "pii.card", "630427373398"),
    ("(212) 555-0143 ext. 22", "pii.phone", "(212) 555-0143 ext. 22"),
    ("06 11008602", "pii.phone", "06 11008602"),
    ("mon numéro est le 0348170289.", "pii.phone", "0348170289"),
    ("x@xn--bcher-kva.xn--p1ai", "pii.email", "x@xn--bcher-kva.xn--p1ai"),
    ("card 4111 1111 1111 1111 123", "pii.card", "4111 1111 1111 1111"),
    ("卡号2223003122003222。", "pii.card", "2223003122003222"),
    ("6222020903001483077", "pii.card", "6222020903001483077"),
    ("amex 3782 822463 10005", "pii.card", "3782 822463 10005"),
    ("diners 3056 930902 5904", "pii.card", "3056 930902 5904"),
    ("to DE89 3704 0044 0532 0130 00 belongs", "pii.iban", "DE89 3704 0044 0532 0130 00"),
    ("GB29 NWBK 6016 1331 9268 19 BARCLAYS", "pii.iban", "GB29 NWBK 6016 1331 9268 19"),
    ("ssn 536-90-4399.", "pii.us_ssn", "536-90-4399"),
    ("social security number: 536904399", "pii.us_ssn", "536904399"),
    ("身份证11010519491231002X，", "pii.cn_id", "11010519491231002X"),
    ("110105 1949 12 31 002X", "pii.cn_id", "110105 1949 12 31 002X"),
    ("身份证号：110105491231002", "pii.cn_id", "110105491231002"),
    ("call +44 20 7946 0958 now", "pii.phone", "+44 20 7946 0958"),
    ("+1 (212) 555-0143", "pii.phone", "+1 (212) 555-0143"),
    ("+49 (0)30 1234567", "pii.phone", "+49 (0)30 1234567"),
    ("0044 20 7946 0958", "pii.phone", "0044 20 7946 0958"),
    ("手机13812345678，", "pii.phone", "13812345678"),
    ("138-1234-5678", "pii.phone", "138-1234-5678"),
    ("+86 138 1234 5678", "pii.phone", "+86 138 1234 5678"),
    ("(212) 555-0143 is mine", "pii.phone", "(212) 555-0143"),
    ("name,212.555.0143,city", "pii.phone", "212.555.0143"),
    ("01 23 45 67 89", "pii.phone", "01 23 45 67 89"),
    ("030/1234567", "pii.phone", "030/1234567"),
    ("020 7946 0958", "pii.phone", "020 7946 0958"),
    ("06-12345678", "pii.phone", "06-12345678"),
    ("090-1234-5678", "pii.phone", "090-1234-5678"),
    ("010-12345678", "pii.phone", "010-12345678"),
    ("My phone is 612 345 678.", "pii.phone", "612 345 678"),
    ("Tel.: (91) 2345678", "pii.phone", "(91) 2345678"),
    ("call me: 2125550143", "pii.phone", "2125550143"),
)

NOT_FOUND = (
    "git@github.com:a/b.git and logo@2x.png and icon@big.png",
    "react@18.2.0-beta.rc",
    "card 630427373399 or 444444444444",
    "order 4111111111111112",
    "0.4111111111111111",
    "id 411111111111111100000",
    "DE89370400440532013001",
    "2026-11-30 12:00, 30.11.2026, 11/30/2026",
    "192.168.10.12 and 10.0.0.1:8080",
    "v1.20.333 or 1.2.3-rc.4",
    "order 1234567890, invoice 2125550143",
    "call at 2026-11-30",
    "phone 10.11.12.131",
    "phone 0000000",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha 9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "1700000000 1700000000123",
    "978-3-16-148410-0",
    "3.14159265358979",
    "PERSON_48291377",
    "987-65-4321",
    "110105194912310021",
    "#2125550143 $2,125,550,143",
    "12,345,678.90",
)


def _found(text: str) -> set[tuple[str, str]]:
    segment = Segment(text, (), Source.USER, Trust.CALLER)
    return {(f.kind, text[f.start : f.end]) for f in Scanner(PII_PATTERNS).find(segment)}


@pytest.mark.parametrize(("text", "kind", "value"), FOUND)
def test_number_is_found_exactly(text: str, kind: str, value: str) -> None:
    assert {(kind, value)} == _found(text)


@pytest.mark.parametrize(("text", "kind", "value"), FOUND)
def test_number_is_found_inside_other_texts(text: str, kind: str, value: str) -> None:
    for frame in ('{{"note": "{}"}}', "请看：{}谢谢", "a;b\n{}\nc;d", "**{}**", "<td>{}</td>"):
        assert (kind, value) in _found(frame.format(text))


@pytest.mark.parametrize("text", NOT_FOUND)
def test_look_alike_is_not_found(text: str) -> None:
    assert set() == _found(text)
