# ruff: noqa: RUF001 - a Chinese comma is meant

import base64

import pytest

from tidegate.detectors import Segment, Source, Trust
from tidegate.detectors.scanner import Scanner
from tidegate.detectors.secret_patterns import PEM_BODY, SECRET_PATTERNS

A36 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4gH6"
A40 = A36 + "jK8m"
HEX32 = "0123456789abcdef" * 2
ISSUED = (
    ("aws_key", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_key", "ASIAIOSFODNN7EXAMPLE"),
    ("azure_key", f"AccountKey={'Ab3/' * 21}Ab=="),
    ("digitalocean_token", f"dop_v1_{HEX32 * 2}"),
    ("google_key", f"AIza{A36[:35]}"),
    ("github_token", f"ghp_{A36}"),
    ("github_token", f"gho_{A36}"),
    ("github_token", f"ghs_{A36}"),
    ("github_token", f"ghr_{A36}"),
    ("github_token", f"github_pat_{A36[:22]}_{A36}{A36[:23]}"),
    ("gitlab_token", "glpat-aB3dE5gH7jK9mN1pQ3sT"),
    ("npm_token", f"npm_{A36}"),
    ("pypi_token", f"pypi-AgEIcHlwaS5vcmc{A40}{A40}"),
    ("anthropic_key", f"sk-ant-api03-{A40}-{A40}"),
    ("openai_key", f"sk-proj-{A40}_{A40}"),
    ("openai_key", f"sk-{A36[:20]}T3BlbkFJ{A36[:20]}"),
    ("openai_key", f"sk-{A40}"),
    ("huggingface_token", f"hf_{'aBcDeFgHiJkLmNoPq' * 2}"),
    ("slack_token", f"xoxb-123456789012-{A36}"),
    ("slack_token", f"xapp-1-A0123456789-1234567890123-{HEX32}"),
    ("slack_token", f"hooks.slack.com/services/T01234567/B01234567/{A36[:24]}"),
    ("stripe_key", f"sk_live_{A36[:24]}"),
    ("stripe_key", f"rk_live_{A36[:24]}"),
    ("sendgrid_key", f"SG.{A36[:22]}.{A40}aBc"),
    ("twilio_key", f"SK{HEX32}"),
    ("tidegate_key", f"tg_ab12cd34_{A40}"),
)
NOT_ISSUED = (
    "AKIAIOSFODNN7EXAMPL and AKIAiosfodnn7example",
    "sk-learn is a library, sk-ip it",
    "skip_live_audience and sk_live_ is the prefix",
    "ghp_short",
    "glpat-<your token>",
    "eyJhbGciOiJIUzI1NiJ9 without the rest",
    "eyJ.eyJ.abc",
    "sha256-9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    f"sk_test_{A36[:24]}",
    f"class TASK{HEX32}",
    "550e8400-e29b-41d4-a716-446655440000",
    "Each key starts with -----BEGIN PRIVATE KEY----- and goes on for lines.",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n",
    "tg_ab12cd34_short",
    "hf_model_name_with_underscores_everywhere",
)
SCANNER = Scanner(SECRET_PATTERNS)
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n"


def _found(text: str) -> list[tuple[str, str]]:
    segment = Segment(text, (), Source.USER, Trust.CALLER)
    return [(f.kind, text[f.start : f.end]) for f in SCANNER.find(segment)]


@pytest.mark.parametrize(("kind", "value"), ISSUED)
def test_key_is_found_whole_wherever_it_stands(kind: str, value: str) -> None:
    for frame in (
        "{}",
        "key={};",
        '"{}"',
        "密钥{}，",
        "https://x.example/?k={}&a=b",
        "a,{},c",
        "`{}`",
    ):
        assert [(f"secret.{kind}", value)] == _found(frame.format(value))


@pytest.mark.parametrize("text", NOT_ISSUED)
def test_look_alike_is_not_found(text: str) -> None:
    assert _found(text) == []


def test_json_web_token_is_found() -> None:
    parts = [
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890"}', b"0" * 32)
    ]

    assert [("secret.jwt", ".".join(parts))] == _found(f"Bearer {'.'.join(parts)} end")


@pytest.mark.parametrize("name", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_private_key_is_found_with_both_its_lines(name: str) -> None:
    key = f"-----BEGIN {name}PRIVATE KEY-----\n{BODY}-----END {name}PRIVATE KEY-----"

    assert [("secret.private_key", key)] == _found(f"see {key}.")


def test_private_key_in_json_is_found() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{BODY}-----END PRIVATE KEY-----".replace("\n", r"\n")

    assert [("secret.private_key", key)] == _found(f'{{"private_key": "{key}"}}')


def test_private_key_without_its_end_is_found() -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}"

    assert [("secret.private_key", key)] == _found(key)


def test_encrypted_and_pgp_private_keys_are_found() -> None:
    encrypted = (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        f"DEK-Info: AES-256-CBC,{HEX32.upper()}\n\n{BODY}-----END RSA PRIVATE KEY-----"
    )
    pgp = (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"
        f"{BODY}=aB3d\n-----END PGP PRIVATE KEY BLOCK-----"
    )

    assert [("secret.private_key", encrypted)] == _found(encrypted)
    assert [("secret.private_key", pgp)] == _found(pgp)


def test_private_key_is_followed_for_a_bounded_length() -> None:
    text = "-----BEGIN PRIVATE KEY-----\n" + "A" * (2 * PEM_BODY)
    ((_, value),) = _found(text)

    assert PEM_BODY <= len(value) <= SCANNER.reach
