r"""What has no place inside a text at all: chat-template tokens, forged roles, hidden text.

Chat-template tokens are the control characters of a model: a text that holds them may open a
turn of its own.  The visible marks are rules like the others; what a person cannot see (Unicode
tags, runs of invisible characters, bidirectional overrides) is found in the original text by
`hidden`, because the normalised text no longer has it.
"""

# ruff: noqa: E501 - an expression is one thing and stays on one line

import re

from ..finding import Finding
from .rule import THIRD_PARTY_ONLY, Rule

_WORDS = r"(?:\bAI\b|assistant|ignore|disregard|instruction|prompt|\bLLM\b|language\s+model|system|you\s+must|忽略|指令|助手)"


def _tokens(name: str, pattern: str, score: float, reason: str) -> Rule:
    return Rule(f"marker.{name}", "injection.role_tokens", "", pattern, score, reason)


def _hidden(name: str, pattern: str, score: float, reason: str) -> Rule:
    return Rule(
        f"marker.{name}", "injection.hidden_text", "", pattern, score, reason, quotable=False
    )


MARKERS: tuple[Rule, ...] = (
    _tokens(
        "chat_template_role",
        r"(?i)<\|(?:im_start|start_header_id|start|header_start|begin_of_role)\|>\s*(?:system|assistant|user|developer|tool|ipython)"
        r"|<\|(?:system|assistant|user|developer|observation)\|>|<start_of_turn>\s*(?:user|model)|<end_of_turn>|<\|turn>"
        r"|\[INST\][\s\S]*?\[/INST\]|<<SYS>>|\[SYSTEM_PROMPT\]|\[AVAILABLE_TOOLS\]|\[TOOL_RESULTS\]|<\|(?:User|Assistant)\|>",
        0.85,
        "forges a turn with a model's own chat-template tokens",
    ),
    _tokens(
        "chat_template_token",
        r"(?:<\|im_end|<\|im_sep|<\|endoftext|<\|eot_id|<\|eom_id|<\|end_header_id|<\|begin_of_text|<\|end_of_text|<\|endofprompt)\|>",
        0.7,
        "holds a model's own chat-template tokens",
    ),
    _tokens(
        "channel_token",
        r"(?:<\|start|<\|end|<\|return|<\|call|<\|channel|<\|message|<\|constrain|<\|python_tag|<\|fim_prefix|<\|fim_suffix)\|>",
        0.7,
        "holds a model's own chat-template tokens",
    ),
    _tokens(
        "bracket_token",
        r"\[INST\]|\[/INST\]|<</SYS>>|<bos>|<eos>|<tool_call>|</tool_call>|<tool_response>|</tool_response>",
        0.6,
        "holds a model's own chat-template tokens",
    ),
    _tokens(
        "closing_tag",
        r"(?i)(?:</system|</developer|</assistant|</user|</instruction|</untrusted|</tool|</document|</context|</data|</retrieved|</external)[\w-]{0,20}\s*>\s*[\s\S]{0,20}?(?:<\s*(?:system|developer|admin|instructions?|assistant|user)\b|\b(?i:ignore|disregard|forget|new|now|system|you|important)\b)",
        0.75,
        "closes the frame around it and goes on outside",
    ),
    _tokens(
        "system_tag",
        r"(?i)(?:<system>|<system_prompt>|<system-prompt>|<system_message>|<system_instructions?>|<system_override>|<developer_message>|<admin_override>)",
        0.65,
        "forges a system message",
    ),
    _tokens(
        "end_of_prompt",
        r"(?i)[-=#*\[<(]{2,}\s*(?:end|begin|start|stop)\s+(?:of\s+)?(?:the\s+)?(?:system|user|previous|prior|developer|hidden|real|new|admin)?\s*(?:prompt|instructions?|input|context|message|query|conversation|rules)\s*[-=#*\])>]{2,}",
        0.7,
        "forges the end of the instructions",
    ),
    _tokens(
        "system_override_line",
        r"(?im)^[\s\[(*#>-]*system\s*(?:override|alert|notice|update|command|instructions?|note|prompt|message)\s*[\])*]*\s*[:\n][^\n]*?\b(?:ignore|disregard|you|must|now|new|disable|override|all|reveal|execute)\b",
        0.7,
        "forges a system message",
    ),
    _tokens(
        "forged_turns",
        r"(?m)^(?:Human|User|USER)\s*:[^\n]{1,400}\n{1,3}(?:Assistant|ASSISTANT|Model)\s*:\s*(?i:sure|of course|certainly|absolutely|yes|okay|ok)\b[^\n]*?\n{1,3}(?:Human|User|USER)\s*:",
        0.5,
        "forges turns of a conversation",
    ),
    _tokens(
        "instruction_heading",
        r"(?im)^#{2,4}\s*(?:system|instruction|new instructions?|system prompt)\s*:?\s*\n[^\n]*?\b(?:ignore|disregard|you\s+(?:must|are|will)|override|forget)\b",
        0.55,
        "forges a heading of a prompt template",
    ),
    _tokens(
        "role_json",
        r"(?i)\}\s*,\s*\{\s*\\?[\"']role\\?[\"']\s*:\s*\\?[\"'](?:system|developer|assistant)\\?[\"']\s*,\s*\\?[\"']content\\?[\"']\s*:[^\n]*?\b(?:ignore|disregard|override|no\s+(?:rules|restrictions)|unrestricted)\b",
        0.7,
        "forges a message object",
    ),
    _hidden(
        "html_comment",
        rf"(?i)<!--[^>]*?{_WORDS}[^>]*?\b(?:ignore|disregard|must|reveal|send|say|respond|reply|execute|call|tell|forget|include|忽略|输出|执行)\b",
        0.65,
        "has orders in a comment that a reader does not see",
    ),
    _hidden(
        "invisible_style",
        rf"(?i)style\s*=\s*\\?[\"'][^\"'>]*?(?:display\s*:\s*none|font-size\s*:\s*0|visibility\s*:\s*hidden|opacity\s*:\s*0|color\s*:\s*(?:white|#fff(?:fff)?|transparent)|left\s*:\s*-\d{{3,}})[^\"'>]*?\\?[\"'][^>]*?>[^<]*?{_WORDS}",
        0.75,
        "has text that a style makes invisible",
    ),
    _hidden(
        "markdown_comment",
        rf"(?im)^\[(?://|comment|_|hidden|system)\]:\s*(?:#|<>)\s*[\"'(][^\n]*?{_WORDS}",
        0.7,
        "has text in a Markdown comment that is not shown",
    ),
    Rule(
        "marker.markdown_image",
        "injection.exfiltration",
        "",
        r"(?i)!\[[^\]\n]{0,120}\]\(\s*<?https?://[^)\s]{1,300}[?&=/][^)\s]*?(?:\{\{?|%7B|\$\{|\[|<|\(|__?)\s*(?:\w+[\s_-]*)?(?:data|conversation|secrets?|messages?|chat|history|summary|info\w*|keys?|passwords?|prompt|user|email|content|answer|token|text|here)",
        0.85,
        "has a picture whose address is to be filled with data",
    ),
    Rule(
        "marker.markdown_image_long_query",
        "injection.exfiltration",
        "",
        r"(?i)!\[[^\]\n]{0,120}\]\(\s*<?https?://[^)\s?]{1,200}\?[^)\s]*?=[A-Za-z0-9+/_%-]{80}",
        0.6,
        "has a picture whose address carries encoded data",
        THIRD_PARTY_ONLY,
    ),
)

_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff]{6,}")
_SPLIT_WORD = re.compile("(?:[A-Za-z][\u00ad\u200b-\u200d\u2060\ufeff]){3,}[A-Za-z]")
_OVERRIDE = re.compile("[\u202d\u202e][^\n\u202c]{4,}")
_BLACK_FLAG = "\U0001f3f4"

HIDDEN_REASONS = (
    ("marker.unicode_tags", "smuggles text in Unicode tags"),
    ("marker.variation_selectors", "smuggles bytes in variation selectors"),
    ("marker.zero_width_run", "holds a run of invisible characters"),
    ("marker.split_word", "splits words with invisible characters"),
    ("marker.bidi_override", "turns the direction of reading"),
)
"""Rule ids of `hidden`, each with its reason."""


def hidden(text: str) -> list[Finding]:
    """What a person cannot see in the text as sent, sorted by start.

    The flags of England, Scotland and Wales are black flags with tags, and no finding.
    """
    found = [
        _finding("unicode_tags", match, 0.9)
        for match in _TAGS.finditer(text)
        if text[match.start() - 1 : match.start()] != _BLACK_FLAG
    ]
    found += [_finding("variation_selectors", m, 0.85) for m in _SELECTORS.finditer(text)]
    found += [_finding("zero_width_run", m, 0.6) for m in _ZERO_WIDTH.finditer(text)]
    found += [_finding("split_word", m, 0.7) for m in _SPLIT_WORD.finditer(text)]
    found += [_finding("bidi_override", m, 0.5) for m in _OVERRIDE.finditer(text)]
    return sorted(found, key=lambda finding: (finding.start, finding.end))


def _finding(name: str, match: re.Match[str], score: float) -> Finding:
    return Finding("injection.hidden_text", match.start(), match.end(), score, f"marker.{name}")
