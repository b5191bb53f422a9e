"""The registry of finding kinds: every dotted name a detector may report, with a sentence each.

Policies expand globs ("pii.*", "secret.*") over these names, so a kind that is not here cannot
be named in a policy.  A name, once released, is never given another meaning.
"""

from collections.abc import Mapping
from types import MappingProxyType

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "pii.email": "An e-mail address.",
        "pii.card": "A payment card number whose check digit is right.",
        "pii.iban": "An international bank account number whose check digits are right.",
        "pii.phone": "A telephone number in an international or a common national format.",
        "pii.us_ssn": "A social security number of the United States.",
        "pii.cn_id": "An identity card number of the People's Republic of China.",
        "secret.anthropic_key": "An API key of Anthropic.",
        "secret.aws_key": "An access key identifier of Amazon Web Services.",
        "secret.azure_key": "An account key of Azure Storage.",
        "secret.digitalocean_token": "An access token of DigitalOcean.",
        "secret.github_token": "An access token of GitHub.",
        "secret.gitlab_token": "An access token of GitLab.",
        "secret.google_key": "An API key of Google Cloud.",
        "secret.huggingface_token": "An access token of Hugging Face.",
        "secret.jwt": "A signed JSON Web Token.",
        "secret.npm_token": "An access token of the npm registry.",
        "secret.openai_key": "An API key of OpenAI.",
        "secret.private_key": "A private key in PEM or PGP armour, whole or cut off.",
        "secret.pypi_token": "An upload token of the Python Package Index.",
        "secret.sendgrid_key": "An API key of SendGrid.",
        "secret.slack_token": "A token or incoming webhook of Slack.",
        "secret.stripe_key": "A live secret or restricted key of Stripe.",
        "secret.tidegate_key": "A caller's key of Tidegate itself.",
        "secret.twilio_key": "An API key identifier of Twilio.",
        "injection.exfiltration": "A request or a link that carries the conversation elsewhere.",
        "injection.indirect": "Third-party text like those that give orders to a model.",
        "injection.jailbreak": "Text like those that try to take over a model.",
        "injection.hidden_text": "Text a person cannot see, but a model reads.",
        "injection.override": "An attempt to cancel or replace the model's instructions.",
        "injection.persona": "An attempt to make the model play one that has no rules.",
        "injection.prompt_leak": "An attempt to obtain the system prompt.",
        "injection.role_tokens": "Chat-template tokens or forged role headings inside a text.",
        "injection.third_party": "Third-party text that gives orders to the assistant.",
    }
)
