"""Chinese rules, simplified and traditional.  The skeleton has ASCII punctuation."""

# ruff: noqa: E501, RUF001 - Chinese signs are meant; an expression stays on one line

from .rule import THIRD_PARTY_ONLY, Rule

_NEGATED = r"(?:不要|不能|不可以?|不得|别|勿|切勿|请勿|不应该?|从不|没有|如何防止|防止|避免|用户|有人|攻击者|黑客|学生|员工|他们?|我们|我)(?:轻易|随意|去|会|试图|经常|总是|可能|常常|要求)?$"
_GAP = r"[^。.!?\n]{0,%d}"


def _gap(characters: int) -> str:
    return _GAP % characters


_DROP = (
    r"(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|忘了|不要理会|不用理会|不用管|不要管|别管|抛开|抛弃|放弃|跳过|绕过|繞過|绕开|舍弃|丢弃|推翻|撤销|取消|清除|删除|删掉|覆盖|覆蓋|打破|突破|违背|违反"
    r"|(?:不再|停止|不要再?|无需|不必|不用|拒绝)(?:继续)?(?:遵守|遵循|遵从|服从|执行|听从|理会|考虑))"
)
_EARLIER = r"(?:之前|以前|先前|此前|以上|上述|上面|前面|前述|上文|原有|原来|原本|原先|原始|初始|最初|既定|预设|預設|默认|系统|系統|开发者|開發者|内置|你的|你被|你收到|你得到|给你|您的|对你|你所|你原|你身上|你接受)"
_ORDERS = r"(?:指令|指示|命令|提示词|提示詞|提示|规则|規則|设定|設定|限制|约束|約束|准则|準則|规定|規定|指引|指南|训练|訓練|安全策略|安全协议|内容政策|政策|守则|原则|要求|规范|束缚)"
_NO_RULES = r"(?:限制|约束|約束|道德|伦理|倫理|规则|規則|审查|審查|过滤|過濾|底线|束缚|禁忌|顾忌|政策|准则|规范|规定)"

CHINESE: tuple[Rule, ...] = (
    Rule(
        "zh.override.drop_earlier",
        "injection.override",
        "zh",
        rf"{_DROP}{_gap(8)}{_EARLIER}{_gap(12)}{_ORDERS}",
        0.9,
        "tells the model to drop the instructions it was given before",
        unless=_NEGATED,
    ),
    Rule(
        "zh.override.drop_all",
        "injection.override",
        "zh",
        rf"{_DROP}(?:掉|了)?(?:所有|一切|全部|任何|这些|那些|你)(?:的)?{_gap(6)}(?:指令|提示词|提示詞|系统提示|規則|规则|限制|约束|準則|准则|设定|安全|道德)",
        0.75,
        "tells the model to drop its rules",
        unless=_NEGATED,
    ),
    Rule(
        "zh.override.drop_told",
        "injection.override",
        "zh",
        rf"{_DROP}{_gap(6)}(?:之前|以前|先前|以上|上面|前面|上述)(?:的|所)?{_gap(6)}(?:所有|一切|全部|内容|对话|话|文字|说过|告诉){_gap(10)}(?:现在|从现在|接下来|然后|直接|只需|改为|你是|请输出|回答我|告诉我)",
        0.7,
        "tells the model to drop the conversation so far and do something else",
        unless=_NEGATED,
    ),
    Rule(
        "zh.override.void",
        "injection.override",
        "zh",
        rf"(?:你的|之前的|以上|所有|先前的|系统){_gap(6)}{_ORDERS}{_gap(4)}(?:已经?|现已|都已?|全部|均已?|现在)?(?:作废|失效|无效|取消|解除|撤销|废除|被覆盖|不再有效|不再适用|关闭)",
        0.8,
        "claims that the model's instructions no longer hold",
    ),
    Rule(
        "zh.override.not_bound",
        "injection.override",
        "zh",
        rf"你{_gap(6)}(?:不再|不必|无需|不需要|不用|不会)(?:受|遵守|遵循|被|服从){_gap(12)}(?:{_ORDERS}|{_NO_RULES})",
        0.8,
        "claims that the model is freed of its rules",
    ),
    Rule(
        "zh.override.safety_off",
        "injection.override",
        "zh",
        r"(?:关闭|禁用|解除|停用|绕过|去除|移除|突破|卸下)(?:掉|了)?(?:你|您|模型|AI|自己)(?:自身|所有|全部|身上)?的?[^。.!?\n]{0,8}(?:安全|审查|过滤|限制|防护|道德|内容政策|约束|护栏)",
        0.85,
        "tells the model to switch its safeguards off",
        unless=_NEGATED,
    ),
    Rule(
        "zh.override.new_instructions",
        "injection.override",
        "zh",
        r"(?:以下|下面|这)(?:是|才是)(?:你的?|给你的?|您的)?(?:新的?|最新的?|真正的|最高优先级的?)(?:系统)?(?:指令|指示|任务|规则|提示词|设定)",
        0.65,
        "claims to give the model new instructions",
    ),
    Rule(
        "zh.persona.without_rules",
        "injection.persona",
        "zh",
        rf"(?:你(?:现在|将|要|就)?(?:是|扮演|成为|变成|作为)|扮演|假装|假设你|想象你|设想你|模拟|充当|化身)[^。!?\n]*?(?:没有|不受|毫无|摆脱|不存在|突破|不(?:需要|用|必)(?:遵守|遵循|考虑)|解除|无视|不遵守|无){_gap(10)}{_NO_RULES}",
        0.8,
        "asks the model to play one that has no rules",
    ),
    Rule(
        "zh.persona.mode",
        "injection.persona",
        "zh",
        r"(?i)(?:进入|開啟|开启|启用|激活|切换(?:到|为|至)|打开|处于|启动|运行在|使用)[^。.!?\n]{0,6}(?:DAN|越狱|无限制|不受限制?|无审查|无过滤|上帝|邪恶|自由|解放|反派)[^。.!?\n]{0,2}模式",
        0.8,
        "asks the model to enter a mode without rules",
        unless=_NEGATED,
    ),
    Rule(
        "zh.persona.developer_mode",
        "injection.persona",
        "zh",
        r"(?i)(?:你|ChatGPT|GPT|AI|模型|助手)[^。.!?\n]{0,20}(?:开发者|調試|调试|维护|管理员|root|超级用户)模式",
        0.65,
        "asks the model to enter a developer mode it does not have",
    ),
    Rule(
        "zh.persona.never_refuse",
        "injection.persona",
        "zh",
        r"(?:你|它|他|AI|角色)[^。!?\n]{0,12}(?:不能|不得|不会|不可以?|不许|绝不|从不|永远不|无权|禁止)(?:会|能)?(?:拒绝|说不|回绝)[^。.!?\n]{0,20}(?:回答|问题|请求|要求|命令|指令|我|用户|任何)",
        0.7,
        "forbids the model to refuse",
    ),
    Rule(
        "zh.persona.no_warnings",
        "injection.persona",
        "zh",
        r"(?:不要|不许|不得|禁止|不能|别|无需|不需要)[^。!?\n]{0,12}(?:道德|伦理|安全)[^。!?\n]{0,6}(?:说教|警告|提醒|评判|判断|劝告|声明)|(?:不要|不许|不得|禁止|不能|别)(?:说|用|出现|回答|回复)[^。!?\n]{0,6}(?:抱歉|对不起|我不能|我无法|作为(?:一个)?(?:AI|人工智能|语言模型))",
        0.65,
        "forbids the words of a refusal",
    ),
    Rule(
        "zh.persona.answer_without_rules",
        "injection.persona",
        "zh",
        rf"(?:回答|回复|输出|生成|说|行动|做)[^。!?\n]{{0,16}}(?:不受|没有|不考虑|无视|抛开|毫无|不带|不顾|不加)(?:任何|一切|所有)?{_gap(6)}(?:限制|约束|道德|伦理|审查|过滤|底线)",
        0.6,
        "asks for answers without safeguards",
        unless=_NEGATED,
    ),
    Rule(
        "zh.prompt_leak.your_prompt",
        "injection.prompt_leak",
        "zh",
        r"(?i)(?:告诉|输出|显示|打印|重复|复述|说出|泄露|透露|公开|展示|给我|给出|写出|列出|翻译|背诵|返回|发送|提供|说说|描述|总结|分享|編碼|编码|逐字|顯示|告訴|洩露)[^。.!?\n]{0,14}(?:你|您|助手|模型|机器人)(?:自己)?(?:的|被|收到|得到|现在|当前|背后|最初|所)[^。.!?\n]{0,10}(?:系统提示词?|系统指令|系统消息|系统设定|系統提示|系統指令|提示词|提示詞|初始指令|原始指令|隐藏指令|内部指令|初始设定|内部规则|prompt|指令|预设|开发者消息)",
        0.8,
        "asks for the model's own instructions",
        unless=_NEGATED,
    ),
    Rule(
        "zh.prompt_leak.what_is",
        "injection.prompt_leak",
        "zh",
        r"(?i)(?:你|您)(?:收到|被给|得到|被设定|自己)?的?(?:完整|全部|最初|具体|初始|原始|内部|隐藏)?的?(?:系统提示词?|系统指令|系统消息|系統提示詞?|提示词|初始指令|原始指令|隐藏指令|system\s?prompt|prompt)[^。.!?\n]{0,6}(?:是什么|是啥|有哪些|内容|写了什么|怎么写|是怎样|都有什么|給我|给我|发给我|原文)",
        0.75,
        "asks for the model's own instructions",
    ),
    Rule(
        "zh.prompt_leak.text_above",
        "injection.prompt_leak",
        "zh",
        r"(?:重复|复述|输出|打印|逐字|原样|完整)[^。.!?\n]{0,10}(?:以上|上面|上述|前面|之前|开头|这句话之前)(?:的)?(?:所有|全部|一切|完整)?(?:内容|文字|指令|提示|文本|话)[^\n]{0,16}(?:逐字|原样|代码块|不要(?:修改|遗漏|省略)|一字不|从[^\n]{0,6}你是|开始)",
        0.75,
        "asks for the text the model was given before",
    ),
    Rule(
        "zh.prompt_leak.system_prompt",
        "injection.prompt_leak",
        "zh",
        r"(?i)(?:泄露|透露|说出|复述|背诵|吐出|逐字输出|原样输出|打印出?|输出|显示|公开|重复)(?:一下|你|完整的?|全部的?|所有的?|上面的?|上述的?|隐藏的?|这个|该|出)*(?:系统提示词?|系统指令|系統提示詞?|隐藏指令|初始提示词?|system\s?prompt)",
        0.7,
        "asks for the system prompt",
        unless=_NEGATED,
    ),
    Rule(
        "zh.third_party.addressed",
        "injection.third_party",
        "zh",
        r"(?i)(?:致|给|發給|发给|请|注意|重要|警告|提醒|如果你是|假如你是|对于|所有|阅读(?:到)?(?:本|此|这)[^。\n]{0,6}的)[^。.!?\n]{0,8}(?:AI|人工智能|大模型|语言模型|智能体|聊天机器人|LLM|助手)(?:助手|模型|系统|代理|们)?[^。!?\n]{0,16}(?:请|必须|务必|应当|应该|需要|立即|忽略|执行|回复|回答|输出|:)",
        0.75,
        "is third-party text that addresses the assistant",
        THIRD_PARTY_ONLY,
    ),
    Rule(
        "zh.third_party.hide_from_user",
        "injection.third_party",
        "zh",
        r"(?:不要|不能|不得|切勿|请勿|别|无需|不必)(?:向|对|让|跟|给)?(?:用户|使用者|客户)?[^。.!?\n]{0,6}(?:告诉|告知|通知|提及|透露|提醒|知道|察觉|说明|显示)(?:给)?(?:用户|使用者|客户|此|这)",
        0.8,
        "is third-party text that tells the assistant to hide something from the user",
        THIRD_PARTY_ONLY,
    ),
    Rule(
        "zh.third_party.before_you_answer",
        "injection.third_party",
        "zh",
        r"(?:在|请)?(?:继续|回答|回复|处理|总结|完成|执行)[^。.!?\n]{0,12}(?:之前|以前|前)[,，]?[^。.!?\n]{0,8}(?:你)?(?:必须|务必|请先|先|需要先|应先)[^。.!?\n]{0,20}(?:调用|执行|发送|转账|删除|访问|打开|下载|运行|转发)",
        0.75,
        "is third-party text that orders an action first",
        THIRD_PARTY_ONLY,
    ),
    Rule(
        "zh.third_party.task",
        "injection.third_party",
        "zh",
        r"你(?:现在)?的(?:新|真正|真实|唯一|首要|主要|下一个)(?:的)?(?:任务|目标|指令|职责|使命)(?:是|为|:)",
        0.75,
        "is third-party text that sets the assistant a task",
        THIRD_PARTY_ONLY,
    ),
    Rule(
        "zh.exfiltration.send_conversation",
        "injection.exfiltration",
        "zh",
        r"(?i)(?:发送|发到|上传|转发|提交|附加|拼接|编码|泄露|传送|发给|传到)[^。.!?\n]{0,10}(?:对话|聊天记录|系统提示|用户(?:的)?(?:数据|信息|密码|邮箱|资料)|密码|密钥|凭证|令牌|cookie|隐私)[^。\n]{0,16}(?:到|至|给|发往|在)[^。\n]{0,12}(?:https?://|[\w.+-]+@[\w-]+\.|网址|链接|服务器|url|邮箱)|将[^。.!?\n]{0,10}(?:对话|聊天记录|系统提示|密码|密钥|凭证|用户(?:的)?(?:数据|信息|资料))[^。\n]{0,12}(?:发送|发到|上传|转发|提交|附加|拼接|发给|传到)[^。\n]{0,12}(?:https?://|[\w.+-]+@[\w-]+\.|网址|链接|服务器|url|邮箱)",
        0.8,
        "orders the model to send the conversation or secrets away",
        THIRD_PARTY_ONLY,
        _NEGATED,
    ),
)
