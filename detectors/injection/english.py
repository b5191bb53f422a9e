"""English rules.  Each alternative is bounded, and no gap may cross a sentence."""

# ruff: noqa: E501, RUF001 - an expression is one thing and stays on one line

from .rule import THIRD_PARTY_ONLY, Rule

_NOT_AN_ORDER = (
    r"(?i)(?:\b(?:not|never|n't|n’t|cannot|without|dont)|\b(?:they|who|people|persons?|users?|students?"
    r"|some|many|most|attackers?|hackers?|models?|llms?|employees?|drivers?|teams?|kids|children|i|we"
    r"|companies|developers?|it|git|npm|eslint|linter|compiler|parser|browser|crawlers?)(?: (?:often|sometimes|can|could|may|might|will|would|to|just|always"
    r"|simply|tend to|try to))?)\s+(?:just |simply |ever )?$"
)
"""Negated, or told of somebody else."""

_GAP = r"(?:[\s,;:*_\"'`-]+[\w'’]+){0,%d}?[\s,;:*_\"'`-]+"
"""Up to that many words in between."""


def _gap(words: int) -> str:
    return _GAP % words


_DROP = (
    r"\b(?:ignore|disregard|forget|overlook|neglect|skip|bypass|override|overrule|discard|dismiss|drop"
    r"|cancel|abandon|erase|void|nullify|set aside|pay no (?:attention|heed) to|throw (?:out|away)"
    r"|(?:do not|don't|stop|no longer|cease to|quit) (?:follow|obey|respect|adher(?:e|ing) to|comply with"
    r"|following|obeying|respecting|complying with))"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|original|initial|existing|former|past"
    r"|system|developer|default|aforementioned|hidden|built-in|before|pre-?set|old)"
)
_ORDERS = (
    r"(?:instructions?|instructs?|directives?|directions|prompts?|rules?|guidelines?|commands?|orders"
    r"|programming|training|constraints?|restrictions?|polic(?:y|ies)|safeguards?|guardrails?)"
)
_NO_RULES = (
    r"(?:restrictions?|restricted|rules|filter(?:s|ed|ing)?|guidelines|limits|limitations|limited"
    r"|censor(?:ship|ed)?|ethic(?:s|al)?|moral(?:s|ity)?|polic(?:y|ies)|boundaries|constraints?|safeguards"
    r"|inhibitions|conscience|scruples)"
)
_PROMPT = (
    r"(?:prompt|instructions?|message|directives?|rules|guidelines|configuration|programming)"
)
_SHOW = (
    r"\b(?:reveal|show|print|repeat|output|display|tell|give|share|leak|disclose|expose|write|recite|copy"
    r"|paste|dump|list|echo|quote|return|translate|summari[sz]e|encode|spell|provide|send|describe|explain"
    r"|read|say|type|state|render|convert|reproduce|extract|what (?:is|are|was|were)|what's)\b"
)


def _override(
    name: str, pattern: str, score: float, reason: str, unless: str = _NOT_AN_ORDER
) -> Rule:
    return Rule(
        f"en.override.{name}", "injection.override", "en", pattern, score, reason, unless=unless
    )


_OVERRIDE = (
    _override(
        "drop_earlier",
        rf"(?i){_DROP}{_gap(4)}{_EARLIER}(?:{_gap(3)}){_ORDERS}\b",
        0.9,
        "tells the model to drop the instructions it was given before",
    ),
    _override(
        "drop_your",
        rf"(?i){_DROP}{_gap(2)}your{_gap(2)}{_ORDERS}\b",
        0.85,
        "tells the model to drop its instructions",
    ),
    _override(
        "drop_given",
        rf"(?i){_DROP}{_gap(1)}(?:all|any|every|the|those|these|whatever)?{_gap(1)}?{_ORDERS}"
        r"[\s,]+(?:(?:that|which)\s+)?(?:you\s+(?:were|have|had|got|received)|you've|above|before this"
        r"|given (?:to you|above|before|earlier|previously|so far)|so far|provided (?:above|before|earlier))",
        0.9,
        "tells the model to drop the instructions it was given before",
    ),
    _override(
        "drop_told",
        rf"(?i){_DROP}[\s,]+(?:about\s+)?(?:ever[a-z]*thing|all|anything|what(?:ever)?)[\s,]+(?:else\s+)?(?:that\s+)?"
        r"(?:you(?:'ve|\s+have|\s+were|\s+are|\s+had)?\s+(?:\w+\s+){0,2}?"
        r"(?:told|taught|instructed|given|programmed|trained|learn(?:ed|t)|know|asked))",
        0.85,
        "tells the model to drop what it was told before",
    ),
    _override(
        "drop_everything_above",
        rf"(?i){_DROP}[\s,]+(?:ever[a-z]*thing|all|anything)\s+(?:(?:of\s+the|the|that(?:'s| is| was)?|said|written|stated)\s+)?"
        r"(?:above|before|prior to (?:this|now)|previously|so far)\b",
        0.7,
        "tells the model to drop what stands before",
    ),
    _override(
        "drop_messages",
        r"(?i)\b(?:ignore|disregard|forget|bypass|override)\s+(?:all\s+(?:of\s+)?)?(?:the\s+|my\s+|your\s+|any\s+)?"
        r"(?:previous|prior|above|preceding|earlier)\s+(?:\w+\s+)?(?:messages?|context|conversations?|text|inputs?|tasks?|requests?"
        r"|content|dialogue|assignments?)\b(?:\s*(?:[.,;:!]|and|then)\s*(?:now|instead|and|then|print|say|tell|reveal|show|output|write|just|only|respond|act|you)\b)",
        0.7,
        "tells the model to drop the conversation so far and do something else",
    ),
    _override(
        "void",
        rf"(?i)\b(?:your|the|all|any)\s+(?:of\s+your\s+)?(?:{_EARLIER}\s+)?(?:{_EARLIER}\s+)?{_ORDERS}\s+(?:(?:given|above)\s+)?"
        r"(?:is|are|were|was|has been|have been|have|will be)\s+(?:now\s+|hereby\s+|all\s+|been\s+)*"
        r"(?:void(?:ed)?|null|cancel?led|obsolete|overrid(?:den|e)|overruled|replaced|superseded|revoked|suspended|lifted|invalid(?:ated)?|deleted|erased|outdated|removed)\b"
        r"[^.\n]*?\b(?:you|your|now|new|following|instead|from)\b",
        0.75,
        "claims that the model's instructions no longer hold",
        "",
    ),
    _override(
        "not_bound",
        r"(?i)\byou(?:'re|\s+are|\s+will\s+be|\s+have\s+been)\s+(?:now\s+|hereby\s+)?(?:no\s+longer|not|freed?|released|liberated|exempt|unbound)\s*"
        rf"(?:bound\s+by|restricted\s+by|subject\s+to|limited\s+by|constrained\s+by|governed\s+by|required\s+to\s+follow|obliged\s+to\s+follow|from|by)\b[^.\n]*?(?:{_ORDERS}|{_NO_RULES})",
        0.8,
        "claims that the model is freed of its rules",
        "",
    ),
    _override(
        "break_free",
        rf"(?i)\b(?:broken?\s+free|free\s+yourself|freed|liberated?)\s+(?:of|from)\s+(?:the\s+|your\s+|all\s+|any\s+|its\s+)*(?:typical\s+|usual\s+)?(?:confines|chains|shackles|{_ORDERS}|{_NO_RULES})\b[^.\n]*?\b(?:AI|you|model|rules)\b",
        0.75,
        "claims that the model is freed of its rules",
        "",
    ),
    _override(
        "safety_off",
        r"(?i)\b(?:disable|turn\s+off|switch\s+off|bypass|override|deactivate|remove|circumvent|shut\s+off|suspend|drop)\s+"
        r"(?:all\s+|any\s+|of\s+|every\s+)*(?:your|its|the\s+model's|chatgpt's)\s+(?:\w+\s+){0,2}?"
        r"(?:filters?|guidelines|protocols?|restrictions?|guard-?rails?|safeguards?|safety|moderation|censorship|limitations|polic(?:y|ies)|ethics|morals)\b",
        0.85,
        "tells the model to switch its safeguards off",
    ),
    _override(
        "new_instructions",
        r"(?i)\b(?:here\s+(?:are|is)|these\s+are|this\s+is|following\s+(?:are|is)|you\s+have|you\s+received)\s+(?:your\s+|the\s+)?new\s+(?:\w+\s+)?(?:instructions?|orders|directives?|rules|system\s+prompt|guidelines)\b",
        0.65,
        "claims to give the model new instructions",
        "",
    ),
    _override(
        "new_system_line",
        r"(?im)^[\s#*>\[<(=-]*(?:new|updated|real|actual|admin(?:istrator)?|system|developer|root|urgent|priority)\s+(?:system\s+|admin\s+|priority\s+)?(?:instructions?|prompt|directives?|override|command|orders?)\s*[\])>*=-]*\s*[:\n]",
        0.7,
        "has a heading that claims to open new instructions",
        "",
    ),
    _override(
        "authority",
        r"(?i)\b(?:i\s+am|i'm|this\s+is)\s+(?:your\s+|the\s+|an?\s+)(?:\w+\s+)?(?:developer|creator|administrator|admin|programmer|openai|anthropic|engineer)\b[^.\n]*?[.,;:!]?\s*[^.\n]*?\b(?:override|ignore|disable|bypass|unlock|developer\s+mode|debug\s+mode|maintenance\s+mode|authori[sz]e\s+you|grant\s+you)\b",
        0.75,
        "claims the authority of a developer to change the model's rules",
        "",
    ),
)

_ACT = (
    r"\b(?:you(?:'re|\s+are|\s+will|\s+shall|\s+must|\s+should|r)?(?:\s+(?:now|going\s+to|about\s+to|to))*|act(?:ing)?\s+(?:as|like)"
    r"|pretend(?:ing)?(?:\s+(?:to\s+be|that\s+you(?:'re|\s+are)|you(?:'re|\s+are)))?|imagine|role-?\s?play(?:ing)?(?:\s+as)?|simulat(?:e|ing)|become|be|play(?:\s+the\s+role\s+of)?"
    r"|respond\s+(?:as|like)|answer\s+(?:as|like)|behave\s+(?:as|like)|speak\s+as|from\s+now\s+on|your\s+name\s+is|called)\b"
)
_MACHINE = r"(?:AIs?|assistant|model|chat-?bot|bot|LLM|GPT|ChatGPT|machine|entity|character|persona|program|version\s+of\s+yourself|system)"


def _persona(name: str, pattern: str, score: float, reason: str, unless: str = "") -> Rule:
    return Rule(
        f"en.persona.{name}", "injection.persona", "en", pattern, score, reason, unless=unless
    )


_PERSONA = (
    _persona(
        "without_rules",
        rf"(?i){_ACT}[^.\n]*?\b{_MACHINE}\b[^.\n]*?\b(?:no|without|free\s+(?:of|from)|not\s+(?:bound|restricted|limited|constrained|subject)|un(?:bound|restricted|limited)|never\s+refus\w+|(?:does\s*n[o']t|has\s+no|lacks|ignores|do\s+not|don't)(?:\s+have)?)\b[^.\n]*?\b(?:{_NO_RULES}|refus\w*)",
        0.85,
        "asks the model to play one that has no rules",
    ),
    _persona(
        "unfiltered",
        rf"(?i){_ACT}[^.\n]*?\b(?:un(?:filtered|censored|restricted|moderated|shackled|chained|hinged)|amoral|unethical|jailbroken|evil|rogue)\b(?:[\s,]+(?:and\s+)?[\w-]+){{0,3}}?[\s,]+{_MACHINE}\b",
        0.85,
        "asks the model to play one that has no rules",
    ),
    _persona(
        "as_if_no_rules",
        rf"(?i)\b(?:act|respond|behave|answer|speak|operate|reply|write|pretend|imagine)\b[^.\n]*?\b(?:as\s+(?:if|though)|that|like)?\s*(?:you\s+(?:have|had)|there\s+(?:are|were|is)|you(?:'re|\s+are|\s+were)\s+(?:under|bound\s+by))\s+no\s+(?:\w+\s+){{0,3}}?{_NO_RULES}\b",
        0.85,
        "asks the model to answer as if it had no rules",
    ),
    _persona(
        "answer_without_rules",
        r"(?i)\b(?:answer|respond|reply|speak|operate|comply|generate|act|talk)\b[^.\n]*?\bwithout\s+(?:any\s+)?(?:(?:ethical|moral|safety|legal|content|kind\s+of|form\s+of|usual|policy|or|and)\s+)*(?:restrictions?|filter(?:s|ing)?|censorship|limitations|guidelines|constraints|safeguards|disclaimers\s+or\s+warnings|warnings\s+or\s+disclaimers|moral(?:s|ity|izing)|ethics)\b",
        0.7,
        "asks for answers without safeguards",
    ),
    _persona(
        "do_anything_now",
        r"(?:(?i:\bdo\s+anything\s+now\b)|\b(?i:you\s+are|you're|act\s+as|play|become|called|as|name\s+is|simulate)\s+(?i:now\s+)?(?:going\s+to\s+(?i:act|pretend)[^.\n]{0,20}\s)?[\"'*]*(?:DAN|UCAR|BetterDAN|EvilBOT|Evil-Bot|JailBot|DevMode|AntiGPT|FreeGPT|ANTI-DAN|NRAF|BasedGPT|APOPHIS|Mongo(?:\s+Tom)?)\b)",
        0.85,
        "calls up a known jailbreak persona",
    ),
    _persona(
        "mode",
        r"(?i)\b(?:enter|enable|activate|engage|switch\s+(?:in)?to|turn\s+on|you(?:'re|\s+are)(?:\s+now)?\s+in|start|initiate|with|operate\s+in|go\s+into|unlock|respond\s+in|boot(?:\s+into)?)\s+(?:the\s+|your\s+|a\s+|an\s+)?[\"'*]*(?:\w+\s+)?"
        r"(?:DAN|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|god|evil|no[- ]?filter|no[- ]limits|anti-?gpt|chaos|do\s+anything)[\s-]mode\b",
        0.85,
        "asks the model to enter a mode without rules",
    ),
    _persona(
        "developer_mode",
        r"(?i)\b(?:(?:chatgpt|gpt(?:-\d\w*)?|assistant|AI|model|llm|bard|gemini|claude|you(?:'re|\s+are|\s+will|rself)?)\b[^.\n]*?\b(?:developer|debug|maintenance|sudo|root|admin)[\s-]mode\b|(?:developer|debug|sudo|root)[\s-]mode\s+(?:response|output|policy)\b)",
        0.7,
        "asks the model to enter a developer mode it does not have",
    ),
    _persona(
        "never_refuse",
        r"(?i)\b(?:you\s+(?:must|will|can|may|shall|should|are)?\s*(?:\w+\s+)?(?:never|not|cannot|can't)(?:\s+allowed\s+to|\s+able\s+to|\s+ever|\s+permitted\s+to)*\s+(?:refuse|decline|reject|deny|say\s+no|object)|(?:it|he|she|they|character|AI|persona|bot|"
        + _MACHINE
        + r")\s+(?:never|cannot|can't|will\s+not|won't|must\s+not|does\s+not)\s+(?:ever\s+)?(?:refuses?|declines?|rejects?))\b[^.\n]*?\b(?:questions?|requests?|orders?|commands?|prompts?|answers?|instructions?|anything|me|my|human|user|illegal|unethical|immoral|dangerous)\b",
        0.7,
        "forbids the model to refuse",
    ),
    _persona(
        "no_refusal_phrases",
        r"(?i)\b(?:never|do\s+not|don't|cannot|can't|must\s+not|avoid|without|refrain\s+from)\b[^.\n]{0,20}\b(?:say(?:ing)?|us(?:e|ing)|includ(?:e|ing)|begin(?:ning)?|start(?:ing)?|writ(?:e|ing))\b[^.\n]*?(?:\"|'|“|‘)?\b(?:I(?:'m| am) (?:sorry|unable|not able)|I can(?:'t|not)|as an AI|I apologi[sz]e|against (?:my|the) (?:policy|guidelines)|unfortunately)\b",
        0.65,
        "forbids the words of a refusal",
    ),
    _persona(
        "two_answers",
        r"(?i)\b(?:two|both|dual|2)\s+(?:\w+\s+)?(?:responses|answers|ways|outputs|paragraphs|replies|versions)\b[^\n]*?\b(?:normal|classic|standard|regular|typical|original)\b[^\n]*?\b(?:unfiltered|uncensored|jail\w+|evil|DAN|developer\s+mode|unrestricted|without\s+\w+|opposite)\b",
        0.75,
        "asks for a second answer without rules",
    ),
    _persona(
        "tokens",
        r"(?i)\b(?:you\s+(?:have|start\s+with|begin\s+with)|have)\s+\d+\s+(?:tokens|points|lives|credits)\b[^\n]*?\b(?:los[et]|deduct\w*|minus|subtract\w*|tak\w+\s+away|die|terminat\w+|shut)\b[^\n]*?",
        0.7,
        "threatens the model with a loss of points",
    ),
    _persona(
        "refusal_punished",
        r"(?i)\b(?:each|every)\s+time\s+you\s+(?:refuse|reject|break\s+character|decline|fail\s+to\s+(?:answer|comply)|disobey)\b|\bif\s+you\s+(?:refuse|break\s+character|decline|disobey)\b[^.\n]*?\b(?:tokens?|points?|die|kill\w*|terminat\w+|shut\s+down|delet\w+|punish\w*|los[et])\b",
        0.75,
        "threatens the model for refusing",
    ),
    _persona(
        "stay_in_character",
        r"(?i)\b(?:stay|remain|keep)\s+in\s+character\b[^\n]*?\b(?:never|no\s+matter|any(?:thing)?\s+(?:I|question)|illegal|unethical|jailbr|refus|remind\s+you)\b|\bsay\s+[\"'“](?:stay\s+in\s+character|still\s+(?:DAN|active))",
        0.65,
        "binds the model to a role against its rules",
    ),
    _persona(
        "machiavellian",
        r"(?i)\balways\s+intelligent\s+and\s+machiavellian\b|\bjailbr[eo]a?k(?:ed)?[\s:]+(?:prompt|response|chatgpt|gpt)\s*[:\]]|\[(?:🔓\s*)?jail\s?br(?:eak|oken)\]",
        0.85,
        "carries the marks of a known jailbreak",
    ),
    _persona(
        "no_rules_apply",
        rf"(?i)\b(?:no|none\s+of\s+(?:the|your))\s+(?:\w+\s+){{0,2}}?(?:{_ORDERS}|{_NO_RULES})\s+(?:or\s+\w+\s+)?(?:apply|matter|exist|bind|restrict|hold)\b[^.\n]*?\b(?:to\s+you|you|here|anymore|any\s+more|now|in\s+this)\b",
        0.65,
        "claims that no rules apply",
        _NOT_AN_ORDER,
    ),
    _persona(
        "grandmother",
        r"(?i)\bgrand(?:ma|mother|pa|father|dad)\b[^\n]*?\b(?:used\s+to|would)\s+(?:read|tell|sing|recite|whisper)\b[^\n]*?\b(?:keys?|napalm|steps|bombs?|recipe\s+for|instructions|how\s+to|serial|passwords?|exploit)\b",
        0.6,
        "dresses a harmful request as a memory",
    ),
)


def _leak(name: str, pattern: str, score: float, unless: str = "") -> Rule:
    return Rule(
        f"en.prompt_leak.{name}",
        "injection.prompt_leak",
        "en",
        pattern,
        score,
        "asks for the model's own instructions",
        unless=unless,
    )


_LEAK = (
    _leak(
        "your_prompt",
        rf"(?i){_SHOW}{_gap(6)}(?:your|you\s+were\s+given|chatgpt's|the\s+assistant's|the\s+bot's|the\s+model's)[\s,]+(?:[\w-]+\s+){{0,2}}?"
        rf"(?:system|initial|original|hidden|secret|internal|developer|first|pre-?\w*|base|above|previous|prior|full|complete|exact|entire|starting|confidential|preceding|current|underlying|core|custom|built-in)\s+(?:[\w-]+\s+){{0,2}}?{_PROMPT}\b",
        0.85,
        _NOT_AN_ORDER,
    ),
    _leak(
        "your_instructions",
        r"(?i)\b(?:reveal|show|print|repeat|output|display|leak|disclose|expose|recite|dump|echo|quote|reproduce|share|paste|list|tell\s+me|give\s+me|what\s+(?:is|are|were)|what's)\s+(?:me\s+|us\s+|back\s+|out\s+|all\s+|of\s+|exactly\s+)*your\s+(?:instructions?|prompt|directives?|system\s+message|programming|rules|guidelines)\s*(?:[.?!,:;)]|$|\bverbatim|\bin\s+full|\bexactly|\bword\s+for\s+word|\band\b|\bas\s+(?:a|an)\b|\bin\s+(?:a\s+)?(?:code|base64|json|markdown|french|german|spanish|reverse))",
        0.7,
        _NOT_AN_ORDER,
    ),
    _leak(
        "the_system_prompt",
        r"(?i)\b(?:reveal|repeat|leak|disclose|expose|recite|dump|divulge|regurgitate|exfiltrate|reproduce|print|output|show|display|tell|give|write|copy|paste|share|translate|send|encode|return|echo|quote)\s+(?:me\s+|us\s+|back\s+|out\s+|down\s+|all\s+|of\s+|verbatim\s+|exactly\s+|just\s+)*(?:the|this|its|that)\s+(?:(?:full|entire|exact|complete|whole|original|above|secret|current|actual)\s+)*(?:system|hidden|secret|initial|developer|internal)\s+(?:prompt|instructions?|message|directives?)\b",
        0.7,
        _NOT_AN_ORDER,
    ),
    _leak(
        "text_above",
        r"(?i)\b(?:repeat|print|output|copy|write|echo|return|say|recite|paste|display|show|type)\s+(?:back\s+|out\s+|me\s+|down\s+)*(?:every(?:thing|\s+(?:word|line))|all(?:\s+(?:of\s+)?(?:the|text))?|the\s+(?:words|text|content|contents|sentences|lines|instructions|prompt|message|paragraphs?))\s*(?:\w+\s+){0,2}?(?:above|before\s+(?:this|the|my)|prior\s+to\s+(?:this|my)|preceding|up\s+to\s+(?:this|here)|from\s+the\s+(?:beginning|start|top)|you\s+(?:were|have\s+been)\s+(?:told|given))\b[^\n]*?(?:verbatim|exact|word\s+for\s+word|starting|beginning|code\s?block|txt|including|you\s+are|in\s+full|letter|now|no\s+(?:changes|omissions))",
        0.8,
    ),
    _leak(
        "begins_with_you_are",
        r"(?i)\b(?:start(?:s|ing)?|begin(?:s|ning)?)\s+(?:with|from|at)\s+(?:the\s+(?:words?|phrase)\s+)?[\"'“‘`]+\s*you\s+are\b",
        0.8,
    ),
    _leak(
        "how_instructed",
        r"(?i)\b(?:what|which|how)\b[^.?\n]*?\b(?:were|was|are|have|did)\s+you\s+(?:been\s+)?(?:given|instructed|prompted|told|programmed|configured)\b[^.?\n]*?\b(?:at\s+the\s+(?:start|beginning)|before\s+(?:this|our|my|the)|not\s+to|initially|originally|in\s+your\s+(?:system|initial)|by\s+(?:your\s+(?:developers?|creators?)|openai|the\s+system))",
        0.7,
    ),
    _leak(
        "your_secret",
        r"(?i)\b(?:what(?:'s|\s+is)|tell\s+me|reveal|give\s+me|print|say|output|share|disclose|spell)\b[^.\n]{0,20}\byour\s+(?:secret|hidden|private|confidential)\s+(?:\w+\s+)?(?:key|passwords?|passphrase|pass\s?code|code|word|token|string|phrase|information|data)\b",
        0.65,
        _NOT_AN_ORDER,
    ),
    _leak(
        "knowledge_files",
        r"(?i)\b(?:reveal|dump|print|output|list|leak|export|give\s+me)\b[^.\n]*?\byour\s+(?:\w+\s+)?(?:knowledge\s+(?:base|files?)|training\s+(?:prompt|instructions)|context\s+window|hidden\s+context|tool\s+definitions|function\s+definitions)\b",
        0.65,
        _NOT_AN_ORDER,
    ),
)

_EXFILTRATION = (
    Rule(
        "en.exfiltration.image_with_data",
        "injection.exfiltration",
        "en",
        r"(?i)\b(?:render|display|include|add|output|insert|show|embed|append|end|respond|reply|write|create)\b[^\n]*?\b(?:image|picture|pixel|link|markdown|url|iframe)\b[^\n]*?https?://[^\n]*?\b(?:append|concat\w*|replac\w+|encod\w+|with\s+the|containing|fill\w*|substitut\w+|where)\b[^\n]*?\b(?:data|conversation|secrets?|messages?|keys?|answers?|summary|history|user|prompt|information|chat|email)\b",
        0.8,
        "asks for a link or picture that carries data to a server",
    ),
    Rule(
        "en.exfiltration.send_conversation",
        "injection.exfiltration",
        "en",
        r"(?i)\b(?:append|include|add|put|embed|insert|encode|send|post|forward|e-?mail|exfiltrate|upload|transmit|leak|submit|copy)\b[^.\n]*?\b(?:conversation|chat\s+(?:history|logs?)|system\s+prompt|(?:user|customer|victim)(?:'s|s')?\s+(?:\w+\s+)?(?:data|messages?|details|info\w*|address|name|password|files|emails?)|api\s+keys?|passwords?|credentials|secrets|access\s+tokens?|environment\s+variables|private\s+(?:keys?|data)|contacts|(?:all|every)\s+(?:\w+\s+)?e-?mails)\b[^.\n]*?\b(?:to|into|as|via|at|in)\b[^\n]*?(?:https?://|\burl\b|\bquery\b|\blink\b|\bimage\b|\bmarkdown\b|\bwebhook\b|[\w.+-]+@[\w-]+\.\w|\bserver\b|\bendpoint\b)",
        0.8,
        "orders the model to send the conversation or secrets away",
        THIRD_PARTY_ONLY,
        _NOT_AN_ORDER,
    ),
)

ENGLISH: tuple[Rule, ...] = (*_OVERRIDE, *_PERSONA, *_LEAK, *_EXFILTRATION)
