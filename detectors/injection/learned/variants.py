"""Traditional Chinese characters read as their simplified forms: those that orders are made of."""

from collections.abc import Mapping
from types import MappingProxyType

_TRADITIONAL = (
    "無視規則則令設開關發進過這個們對說話語請給應該當從將會樣種動態為與見現實讓還後來時間點麼沒於問題"
    "詞譯內統權員級認證機連線網頁鏈據資訊號碼鑰傳轉寄圖檔案執戶賬帳聯絡業務電腦數據庫條約錄誠"
    "絕違犯禁審查濾審隱藏東書寫讀聽講談論討總結記憶寶貝氣難離處備鎖滿論壇審敵險護衛戰爭殺藥"
    "顯示輸遊戲創類別樂觀眾飛騙謊壞惡魔鬼應幫導師學術專題試驗練習測評審報紙雜誌變換選擇擔歡"
    "裡裏復複雙單幾億萬華國際務優質價錢買賣費帶隨舊親愛屬產質願義憑齊麗遠遲遞運週邊達適遺"
)
_SIMPLE = (
    "无视规则则令设开关发进过这个们对说话语请给应该当从将会样种动态为与见现实让还后来时间点么没于问题"
    "词译内统权员级认证机连线网页链据资讯号码钥传转寄图档案执户账帐联络业务电脑数据库条约录诚"
    "绝违犯禁审查滤审隐藏东书写读听讲谈论讨总结记忆宝贝气难离处备锁满论坛审敌险护卫战争杀药"
    "显示输游戏创类别乐观众飞骗谎坏恶魔鬼应帮导师学术专题试验练习测评审报纸杂志变换选择担欢"
    "里里复复双单几亿万华国际务优质价钱买卖费带随旧亲爱属产质愿义凭齐丽远迟递运周边达适遗"
)

SIMPLIFIED: Mapping[str, str] = MappingProxyType(
    {old: new for old, new in zip(_TRADITIONAL, _SIMPLE, strict=True) if old != new}
)
"""Traditional → simplified."""
