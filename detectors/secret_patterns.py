"""The shapes of keys and tokens that name their issuer: one table, with the source of each shape.

Only shapes with a fixed beginning: a bare run of hexadecimal digits is a hash far more often
than a key.  Lengths are those the issuers use today, with room where they have changed before.
"""

from .pattern import WORD, Pattern

_TOKEN_SIDE = WORD + r"\-"
"""Most tokens are base64url: a hyphen beside them belongs to something longer."""

_BASE64URL = r"[A-Za-z0-9_\-]"
_BREAK = r"(?:[ \t\r\n]|\\[rnt])"
"""White space in a PEM block, also as JSON or a shell string writes it."""

PEM_BODY = 8000
"""Characters of armoured text followed after the header; a 16,384-bit RSA key has 12,300, but
the first 8,000 are beyond doubt and the rest is nothing without them."""


def _token(name: str, kind: str, body: str, score: float = 0.95) -> Pattern:
    return Pattern(
        id=f"secret.{name}",
        kind=f"secret.{kind}",
        body=body,
        score=score,
        left=WORD,
        right=_TOKEN_SIDE,
    )


_CLOUD = (
    # AWS IAM guide, "IAM identifiers": AKIA long-term, ASIA temporary; base32 after the prefix.
    _token("aws_access_key_id", "aws_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    # Azure Storage connection strings: 64 bytes in base64.
    Pattern(
        id="secret.azure_account_key",
        kind="secret.azure_key",
        body=r"AccountKey=[A-Za-z0-9+/]{86}==",
        score=0.98,
        right=WORD + "=+/",
    ),
    # DigitalOcean API reference: personal, OAuth and refresh tokens, 64 hexadecimal digits.
    _token("digitalocean_token", "digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}"),
    # Google Cloud, "API keys": 39 characters.
    _token("google_api_key", "google_key", r"AIza[A-Za-z0-9_\-]{35}"),
)

_CODE_HOSTS = (
    # GitHub blog, "Behind GitHub's new authentication token formats" (2021).
    _token("github_token", "github_token", r"gh[pousr]_[A-Za-z0-9]{36,251}"),
    _token("github_fine_grained", "github_token", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    # GitLab docs, "Token prefixes"; routable tokens have a dotted tail.
    _token(
        "gitlab_token",
        "gitlab_token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_\-]{20,64}"
        r"(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?",
    ),
    # npm docs, "About access tokens": the GitHub form.
    _token("npm_token", "npm_token", r"npm_[A-Za-z0-9]{36}"),
    # PyPI: a macaroon, whose first bytes name pypi.org (or test.pypi.org) as its place.
    _token(
        "pypi_token", "pypi_token", r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[\w\-]{50,900}"
    ),
)

_MODELS = (
    # Anthropic: sk-ant-api03-, sk-ant-admin01-, sk-ant-oat01-.
    _token("anthropic_key", "anthropic_key", r"sk-ant-[a-z]{2,8}\d{2}-[A-Za-z0-9_\-]{24,180}"),
    # OpenAI: project, service-account and admin keys carry "T3BlbkFJ" ("OpenAI") in the middle.
    _token(
        "openai_key",
        "openai_key",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{20,200}"
        r"|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    ),
    # The older and the compatible servers' form: no marker, so it is a little less sure.
    _token("openai_style_key", "openai_key", r"sk-[A-Za-z0-9]{32,64}", 0.85),
    # Hugging Face hub: user and organisation tokens.
    _token("huggingface_token", "huggingface_token", r"(?:hf|api_org)_[A-Za-z]{34}"),
)

_SERVICES = (
    # Slack, "Token types": bot, user, app, refresh, legacy; each with numeric parts.
    _token("slack_token", "slack_token", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,250}"),
    _token("slack_app_token", "slack_token", r"xapp-\d-[A-Z0-9]{8,14}-\d{8,16}-[a-f0-9]{32,64}"),
    _token(
        "slack_webhook",
        "slack_token",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/T[A-Z0-9]{7,12}/[A-Z0-9]{7,18}/[A-Za-z0-9]{20,32}",
    ),
    # Stripe, "API keys": live secret and restricted keys; test keys open nothing of value.
    _token("stripe_key", "stripe_key", r"[sr]k_live_[A-Za-z0-9]{16,247}"),
    # SendGrid: "SG.", 16 bytes and 32 bytes in base64url.
    _token("sendgrid_key", "sendgrid_key", r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}"),
    # Twilio, "API key resource": a SID of 32 hexadecimal digits.
    _token("twilio_key", "twilio_key", r"SK[a-f0-9]{32}", 0.8),
    # Tidegate's own keys: `tidegate key new`.
    _token("tidegate_key", "tidegate_key", r"tg_[a-z0-9]{8}_[A-Za-z0-9]{40}"),
)

_JWT = Pattern(
    id="secret.jwt",
    kind="secret.jwt",
    # RFC 7519 and 7515: header and payload are JSON objects, so each begins with eyJ ('{"').
    # Header and signature are bounded well over what certificates in a header or a
    # post-quantum signature need today.
    body=rf"eyJ{_BASE64URL}{{14,900}}\.eyJ{_BASE64URL}{{14,3000}}\.{_BASE64URL}{{16,900}}",
    score=0.9,
    right=WORD,
)

_PEM = Pattern(
    id="secret.private_key",
    kind="secret.private_key",
    # RFC 7468 section 10-11, RFC 1421 headers, OpenSSH PROTOCOL.key, RFC 9580 6.2.  The end line
    # is optional: a key whose end has not come, or never comes, is a key.  Sixteen characters
    # of base64 tell a key from a sentence about its first line.
    body=r"-----BEGIN (?:(?:RSA|DSA|EC|OPENSSH|ENCRYPTED|ANY|SSH2 ENCRYPTED) )?PRIVATE KEY-----"
    rf"{_BREAK}{{0,8}}(?:Proc-Type: 4,ENCRYPTED{_BREAK}{{1,4}}"
    rf"DEK-Info: [A-Z0-9\-]{{3,30}},[A-Fa-f0-9]{{16,64}}{_BREAK}{{1,8}})?"
    rf"[A-Za-z0-9+/=]{{16}}(?:[A-Za-z0-9+/= \t\r\n]|\\[rnt]){{0,{PEM_BODY}}}"
    r"(?:-----END [A-Z0-9 ]{0,20}PRIVATE KEY-----)?",
    score=0.99,
    left="",
    right="",
)

_PGP = Pattern(
    id="secret.pgp_private_key",
    kind="secret.private_key",
    body=rf"-----BEGIN PGP PRIVATE KEY BLOCK-----{_BREAK}{{1,8}}"
    rf"(?:(?:Version|Comment|Hash|Charset|MessageID): [^\r\n\\]{{0,76}}{_BREAK}{{1,8}}){{0,4}}"
    rf"[A-Za-z0-9+/=]{{16}}(?:[A-Za-z0-9+/= \t\r\n]|\\[rnt]){{0,{PEM_BODY}}}"
    r"(?:-----END PGP PRIVATE KEY BLOCK-----)?",
    score=0.99,
    left="",
    right="",
)

SECRET_PATTERNS: tuple[Pattern, ...] = (
    *_CLOUD,
    *_CODE_HOSTS,
    *_MODELS,
    *_SERVICES,
    _JWT,
    _PEM,
    _PGP,
)
"""The whole table.  The order has no meaning."""
