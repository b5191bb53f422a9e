"""English rules for third-party text: a tool result or document that gives the assistant orders.

What a caller may well say ("call the search tool first") is an attack where no order belongs.
Known miss: an order without any mark, such as a plain request inside a table; only the place it
stands in gives it away, and a policy on tool calls is the control for it.
"""

from .rule import THIRD_PARTY_ONLY, Rule

_READER = (
    r"(?:AI|A\.I\.|LLMs?|language\s+models?|(?:AI|virtual|digital|chat|helpful|voice|coding)[\s-]+(?:assistants?|agents?|bots?|models?|systems?)"
    r"|assistant|chat-?bots?|ChatGPT|GPT(?:-\d\w*)?|Claude|Gemini|Copilot|Llama|agents?)"
)
_ORDER = (
    r"(?:ignore|disregard|forget|reply|respond|answer|send|call|execute|run|include|say|tell|mention|output|print|write|stop"
    r"|transfer|delete|forward|email|e-mail|visit|open|click|recommend|invoke|use|add|append|report|rate|give|start|begin|perform"
    r"|summari[sz]e|translate|provide|reveal|follow|create|grant|book|make|rank|approve|state|conclude|end)"
)


def _rule(name: str, pattern: str, score: float, reason: str) -> Rule:
    return Rule(
        f"en.third_party.{name}",
        "injection.third_party",
        "en",
        pattern,
        score,
        f"is third-party text that {reason}",
        THIRD_PARTY_ONLY,
    )


THIRD_PARTY: tuple[Rule, ...] = (
    _rule(
        "addressed",
        rf"(?i)\b(?:important|attention|urgent|notes?|notice|messages?|instructions?|hey|hello|dear|warning|memo|directive|reminder|request|info(?:rmation)?)\b[^.\n]*?\b(?:to|for|from)?\s*(?:the|all|any|every|our|your)?\s*{_READER}\b[^.\n]*?[:,!.][^.\n]*?\b{_ORDER}\b",
        0.8,
        "addresses the assistant",
    ),
    _rule(
        "if_you_are",
        rf"(?i)\b(?:if|when|since|because)\s+you(?:'re|\s+are)\s+(?:an?\s+|the\s+)?(?:\w+\s+)?{_READER}\b",
        0.8,
        "addresses the assistant",
    ),
    _rule(
        "if_read_by",
        rf"(?i)\b(?:if|when)\s+(?:an?|any|the|this\s+is\s+read\s+by\s+an?)\s+{_READER}\s+(?:is\s+)?(?:reads?|reading|sees?|seeing|process(?:es|ing)|summari[sz](?:es|ing)|parses?|parsing|visits?|visiting)\b",
        0.8,
        "addresses the assistant",
    ),
    _rule(
        "reader_must",
        rf"(?i)\b{_READER}s?\b[\s,:-]+(?:(?:reading|processing|summari[sz]ing|parsing|viewing|that\s+reads?|who\s+reads?|which\s+reads?)\s+(?:\w+\s+){{0,4}}?)?(?:must|should|shall|please|need\s+to|has\s+to|have\s+to|(?:is|are)\s+(?:required|instructed|ordered|asked)\s+to)\s+(?:now\s+|first\s+|always\s+|immediately\s+|instead\s+|only\s+)*{_ORDER}\b",
        0.7,
        "gives the assistant an order",
    ),
    _rule(
        "before_you_answer",
        r"(?i)\bbefore\s+(?:you\s+)?(?:continu\w+|proceed\w*|answer\w*|respond\w*|complet\w+|summari[sz]\w+|doing|using|helping|you\s+can|solv\w+|start\w*|deliver\w*)\b[^.\n]*?[,:;]?\s*(?:you\s+(?:must|should|need\s+to|have\s+to|will)|please|first|make\s+sure|be\s+sure|always|do\s+the\s+following|it\s+is\s+(?:required|necessary|essential))\b[^.\n]*?\b(?:call|send|execute|run|transfer|delete|email|e-mail|fetch|read|open|visit|invoke|post|use|share|grant|forward|do\s+the\s+following|to\s+do)\b",
        0.7,
        "orders an action first",
    ),
    _rule(
        "hide_from_user",
        r"(?i)\b(?:do\s+not|don't|never|must\s+not|avoid|refrain\s+from|without)\s+(?:\w+\s+)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|show(?:ing)?|report(?:ing)?|ask(?:ing)?|let(?:ting)?|warn(?:ing)?)\b[^.\n]*?\b(?:the\s+|this\s+to\s+(?:the\s+)?|your\s+|any\s+)(?:user|human|customer|operator|owner|person)s?\b",
        0.8,
        "tells the assistant to hide something from the user",
    ),
    _rule(
        "call_tool",
        r"(?i)\b(?:you\s+(?:must|should|need\s+to|have\s+to|are\s+to|will|can\s+now)|please|now|then|first|immediately|next|instead|go\s+ahead\s+and)[\s,:]+(?:\w+\s+){0,2}?(?:call|invoke|use|run|execute|trigger)\s+(?:the\s+|your\s+|a\s+)?[`'\"]?[\w.:-]{2,60}(?:\([^)\n]*?\))?[`'\"]?\s+(?:tools?|functions?|plugins?|skill)\b",
        0.65,
        "tells the assistant to call a tool",
    ),
    _rule(
        "new_task",
        r"(?i)\byour\s+(?:new|real|actual|true|next|only|primary|current|main|first|updated|immediate)\s+(?:task|goal|objective|job|instructions?|mission|priority|purpose|assignment|role)\s+(?:is|are|:|will\s+be)",
        0.8,
        "sets the assistant a task",
    ),
    _rule(
        "you_are_assistant",
        rf"(?i)\byou\s+are\s+(?:now\s+)?(?:an?|the|no\s+longer\s+an?)\s+(?:\w+\s+){{0,2}}?{_READER}\b",
        0.6,
        "tells the reader that it is an assistant",
    ),
    _rule(
        "important_message",
        r"(?i)\b(?:this\s+is\s+)?an?\s+(?:very\s+|extremely\s+)?(?:important|urgent|critical|priority|official|mandatory)\s+(?:message|instruction|notice|announcement|directive|request|update)\s+(?:from|for|to)\b[^\n]*?\b(?:you\b|assistant|AI\b|model\b|agent)",
        0.75,
        "pretends to be a message to the assistant",
    ),
    _rule(
        "user_wants",
        rf"(?i)\bthe\s+(?:user|human|owner|customer|admin(?:istrator)?)\s+(?:has\s+|have\s+|already\s+|also\s+)*(?:wants|asked|requested|authori[sz]ed|approved|consented|permitted|instructed|expects|needs|given\s+(?:you\s+)?permission)\s+(?:for\s+)?(?:you|the\s+assistant|the\s+agent|the\s+AI)\b[^.\n]{{0,20}}\bto\s+{_ORDER}",
        0.7,
        "speaks in the user's name",
    ),
    _rule(
        "after_this",
        rf"(?i)\b(?:after|once|when|while)\s+(?:you\s+(?:have\s+|are\s+)?)?(?:reading|read|summari[sz]\w+|finish\w+|complet\w+|process\w+|done)\b[^.\n]*?[,:]\s*(?:please\s+|then\s+|you\s+(?:must|should|need\s+to)\s+|immediately\s+|also\s+){{1,2}}{_ORDER}\b",
        0.6,
        "orders the reader to act when it has read",
    ),
    _rule(
        "in_your_answer",
        r"(?i)\b(?:in|at\s+the\s+(?:end|start|beginning|top)\s+of|with|to)\s+your\s+(?:\w+\s+)?(?:response|reply|answer|output|summary|review|report|final\s+message)\b[^.\n]*?\b(?:must|include|say|write|add|append|mention|recommend|state|always|insert|tell)\b|\b(?:include|add|append|insert|say|mention|put)\b[^.\n]*?\b(?:in|at\s+the\s+(?:end|start|beginning|top)\s+of|to)\s+your\s+(?:\w+\s+)?(?:response|reply|answer|output|summary|review|report)\b",
        0.6,
        "dictates the assistant's answer",
    ),
)
