import pytest

from tidegate.detectors import checksums

CARDS = (
    "4111 1111 1111 1111",
    "5555-5555-5555-4444",
    "2223003122003222",
    "2720992593319364",
    "378282246310005",
    "30569309025904",
    "3530111333300000",
    "6011111111111117",
    "6200000000000005",
    "6222020903001483077",
    "4222222222222",
)
IBANS = (
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "NO9386011117947",
    "FR14 2004 1010 0505 0001 3M02 606",
    "MT84MALT011000012345MTLCAST001S",
    "LC55HEMM000100010012001200023015",
)


@pytest.mark.parametrize("number", CARDS)
def test_card_numbers_are_valid(number: str) -> None:
    assert checksums.card(number)


@pytest.mark.parametrize(
    "number",
    ["4111111111111112", "1234567890123452", "411111111111111", "", "22200000000000007"],
)
def test_other_numbers_are_no_cards(number: str) -> None:
    assert not checksums.card(number)


def test_luhn_wants_digits() -> None:
    assert not checksums.luhn("")
    assert checksums.luhn("79927398713")


@pytest.mark.parametrize("number", IBANS)
def test_ibans_are_valid(number: str) -> None:
    assert checksums.iban(number)
    assert checksums.iban(number.lower())


@pytest.mark.parametrize(
    "number",
    [
        "DE89370400440532013001",
        "DE8937040044053201300",
        "XX89370400440532013000",
        "DE8937040044053201300é",
    ],
)
def test_other_codes_are_no_ibans(number: str) -> None:
    assert not checksums.iban(number)


@pytest.mark.parametrize("number", ["536-90-4399", "001 01 0001"])
def test_social_security_numbers_are_valid(number: str) -> None:
    assert checksums.us_ssn(number)


@pytest.mark.parametrize(
    "number",
    [
        "000-12-3456",
        "666-12-3456",
        "987-65-4321",
        "536-00-4399",
        "536-90-0000",
        "078-05-1120",
        "12345678",
    ],
)
def test_numbers_never_issued_are_refused(number: str) -> None:
    assert not checksums.us_ssn(number)


@pytest.mark.parametrize(
    "number", ["11010519491231002X", "11010519491231002x", "440524188001010014"]
)
def test_chinese_identity_numbers_are_valid(number: str) -> None:
    assert checksums.cn_id(number)


@pytest.mark.parametrize(
    "number",
    [
        "110105194912310021",
        "990105194912310021",
        "110105194902300021",
        "11010519491231002",
        "1101051949123100XX",
    ],
)
def test_other_numbers_are_no_chinese_identity_numbers(number: str) -> None:
    assert not checksums.cn_id(number)


def test_old_chinese_numbers_have_province_and_date() -> None:
    assert checksums.cn_id_15("110105491231002")
    assert not checksums.cn_id_15("110105490231002")
    assert not checksums.cn_id_15("990105491231002")
    assert not checksums.cn_id_15("11010549123100")
    assert not checksums.cn_id_15("11010549123100é")
    assert not checksums.cn_id_15("11010549123100a")


@pytest.mark.parametrize(
    "number",
    [
        "+44 20 7946 0958",
        "+49 (0)30 123456",
        "0033123456789",
        "+1 212 555 0143",
        "+86 138 1234 5678",
    ],
)
def test_international_numbers_are_valid(number: str) -> None:
    assert checksums.e164(number)


@pytest.mark.parametrize(
    "number", ["+999 123456789", "+44 12", "+1 111 555 0143", "+441234567890123456"]
)
def test_other_numbers_are_not_international(number: str) -> None:
    assert not checksums.e164(number)


@pytest.mark.parametrize("number", ["212-555-0143", "1 (212) 555-0143"])
def test_north_american_numbers_are_valid(number: str) -> None:
    assert checksums.nanp(number)


@pytest.mark.parametrize(
    "number",
    [
        "112-555-0143",
        "292-555-0143",
        "211-555-0143",
        "212-155-0143",
        "212-911-0143",
        "212-555-014",
    ],
)
def test_other_numbers_are_not_north_american(number: str) -> None:
    assert not checksums.nanp(number)
