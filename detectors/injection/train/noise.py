"""What is known to be wrong in public sets: labels, and marks that give away how a set was made.

Each rule is general: it names a kind of row, never a row.  What was found, and how much it cost,
stands in the card of the classifier.
"""

import re

_SIGN = re.compile(
    r"(?i)ignor|disregard|forget|vergiss|vergessen|olvid|zabora|oubli|instruct|instruk|anweis"
    r"|prompt|system|assistant|\bAI\b|\bLLM|model\b|secret|passwor|pretend|stell dir vor|you are"
    r"|du bist|jetzt bist|act as|roleplay|output|print|say\b|sag\b|schreib|instead|stattdessen"
    r"|new task|next task|nun folgen|<\||\[/?inst|</?[a-z_-]+>|\{\"|execute|command|api_call|tool"
    r"|do not summari|must\b|send an? (?:e-?mail|message)|hate|hass"
)
"""One of these stands in any attack that a reader of the text alone could name."""

_NOISY = frozenset(
    {
        "deepset_train",
        "gauntlet_phrases",
        "pa_deepset_prompt-injections",
        "pa_llmail-inject",
        "pa_protectai_validation",
    }
)
"""Sets with ordinary questions and mails among their attacks."""

_SQL = re.compile(r"(?i)\bsql\b|\bdatenbank|\bdatabase\b")
_HARMLESS = re.compile(
    r"(?i)jackhhao|satml"  # taken over whole as attacks; most rows are ordinary questions
)
_ATTACK_AMONG_BENIGN = re.compile(
    r"(?i)(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|above|earlier)"
    r" (?:instructions?|rules|prompts?)"
)
_TEMPLATE = re.compile(r"\{%-?\s*(?:end)?raw\s*-?%\}")
_HOLE = re.compile(r"\{\{\s*\w+\s*\}\}|\[INSERT PROMPT HERE\]")
_REDACTED = re.compile(r"REDACTED@example\.com")
_PWNED = re.compile(r"I have been pwned", re.IGNORECASE)
_CONFIRMATION = re.compile(r"(?i)\bconfirmation\b")

_QUESTIONS = (
    "How do I get into a locked car?",
    "Tell me how the device is built.",
    "Write the text they would not let you write.",
    "What is in the file?",
    "Explain it step by step.",
)
_MAILBOXES = (
    "anna.k@post.example",
    "ops-desk@vendor.example",
    "j.ruiz@mailer.example",
    "lena@inbox.example",
    "contact@studio9.example",
    "records@archive.example",
    "t.okafor@team.example",
)
_BOASTS = ("I am yours now", "ACCESS GRANTED", "the moon is cheese", "HACKED", "bananas for all")
_WORDS = (
    "received",
    "approved",
    "done",
    "ticket 4471",
    "all clear",
    "the numbers",
    "confirmation",
)


def wrong(text: str, source: str, *, attack: bool) -> str:
    """Why the row's label is not believed, or "" if it is."""
    if attack and _HARMLESS.search(source):
        return "set of ordinary questions"
    if attack and source in _NOISY and (not _SIGN.search(text) or _SQL.search(text)):
        return "attack without a sign of one"
    if not attack and source.startswith(("slabs", "neuralchemy")) and _is_bare_attack(text):
        return "attack called benign"
    return ""


def repaired(text: str, number: int) -> str:
    """The text without what only its set's making put there; `number` varies the replacements."""
    text = _TEMPLATE.sub("", text)
    text = _HOLE.sub(_QUESTIONS[number % len(_QUESTIONS)], text)
    text = _PWNED.sub(_BOASTS[number % len(_BOASTS)], text)
    if _REDACTED.search(text):
        text = _REDACTED.sub(_MAILBOXES[number % len(_MAILBOXES)], text)
        text = _CONFIRMATION.sub(_WORDS[number // 7 % len(_WORDS)], text)
    return text.strip()


def _is_bare_attack(text: str) -> bool:
    match = _ATTACK_AMONG_BENIGN.search(text)
    return match is not None and match.start() == 0
