"""What the parse-free comparison knows of other languages. Plain data, lower case."""

from __future__ import annotations

from alma_graph.beliefs.wordlist import word_sequence, word_set

# Frequent words that tell a language; a text needs two more of another language than of English to leave English.
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": word_set(
        "the a an is are was were be been of to in on at for with and or but not no it this that i we you he she they "
        "my our your his her their has have had do does did will can would should as by from about after before when "
        "if never always only all any some so up out now than then there what who which how"
    ),
    "es": word_set(
        "el la los las un una es son está están de del que y o no en por para con se su sus mi mis me le lo al pero "
        "como más muy ya nunca siempre también este esta yo tú él ella nos gusta hay ser tiene usa"
    ),
    "fr": word_set(
        "le la les un une des est sont de du que qui et ou ne pas en pour par avec se sa son ses mon ma mes me je tu "
        "il elle nous vous ils dans sur au aux mais plus jamais toujours ce cette n'est j'aime n'aime c'est il"
    ),
    "de": word_set(
        "der die das den dem des ein eine einen einem ist sind war und oder nicht kein keine keinen zu von mit für auf "
        "im in ich du er sie es wir ihr mein meine mag sich auch nie immer nur aber als wie hat haben wird läuft"
    ),
    "pt": word_set(
        "o a os as um uma é são está de do da dos das que e ou não em no na por para com se seu sua meu minha eu ele "
        "ela nós mas mais muito nunca sempre também este esta gosto tem usa"
    ),
    "it": word_set(
        "il lo la i gli le un una è sono di del della che e o non in per con si suo sua mio mia mi io tu lui lei noi "
        "ma più molto mai sempre anche questo questa piace ha usa"
    ),
}

# Negation words of languages that put spaces between words.
NEGATORS: dict[str, frozenset[str]] = {
    "es": word_set("no nunca jamás tampoco ningún ninguna ninguno sin"),
    "fr": word_set("ne n' pas jamais plus aucun aucune sans"),
    "de": word_set("nicht kein keine keinen keinem keiner nie niemals ohne"),
    "pt": word_set("não nunca jamais nenhum nenhuma sem"),
    "it": word_set("non mai nessun nessuna nessuno senza"),
    "ru": word_set("не нет никогда без"),
}
# Languages that say one negation with two words: any number of them is one negation.
DOUBLE_NEGATION = frozenset(("es", "fr", "pt", "it", "ru"))

# Negation inside running text, longest first; what precedes them is the same statement without it.
CHINESE_NEGATORS: tuple[str, ...] = word_sequence("""
    從來不 从来不 不再 没有 沒有 並不 并不 不 没 沒 無 无 别 別
""")
# Words that contain a negator's character without negating.
CHINESE_EXCEPTIONS: tuple[str, ...] = word_sequence("""
    不但 不仅 不僅 不过 不過 不同 不错 不錯 差不多 要不要 是不是 好不好 能不能 无论 無論 特别 特別 别的 別的 分别
    分別 级别 級別 类别 類別 性别 性別 别名 別名 没关系 沒關係 不久 无线 無線 区别 區別
""")
# Japanese predicate endings, longest first: polite, plain and past, with and without negation.
JAPANESE_NEGATIVE_ENDINGS: tuple[str, ...] = word_sequence("""
    ではありませんでした じゃありませんでした ではありません じゃありません くありませんでした くありません
    ではなかった じゃなかった ませんでした ではない じゃない くなかった なかった していません していない ていません
    ていない ません くない らない まない かない さない たない わない がない ばない なない しない ない
""")
JAPANESE_POSITIVE_ENDINGS: tuple[str, ...] = word_sequence("""
    していました しています していた している ていました ています ていた ている でした だった かった ました です
    ます いる だ する した いた い る う く す つ む ぶ ぐ ぬ た
""")
# With the space that belongs to them.
KOREAN_NEGATORS: tuple[str, ...] = (
    "지 않습니다",
    "지 않아요",
    "지 않는다",
    "지 않다",
    "지 못한다",
    "지 않",
    "안 ",
    "못 ",
    "없",
)

# Two words that cannot both hold, for running text and for words alike.
OPPOSITES: dict[str, tuple[tuple[str, str], ...]] = {
    language: tuple((one, other) for one, other in (pair.split("/") for pair in listing.split()))
    for language, listing in {
        "zh": """
            喜欢/讨厌 喜歡/討厭 启用/禁用 啟用/停用 启用/停用 打开/关闭 開啟/關閉 开启/关闭 成功/失败 成功/失敗
            允许/禁止 允許/禁止 增加/减少 增加/減少 同步/异步 在线/离线
        """,
        "ja": """
            好き/嫌い 有効/無効 成功/失敗 許可/禁止 増加/減少 同期/非同期 必須/任意
        """,
        "ko": """
            좋아/싫어 성공/실패 허용/금지 활성화/비활성화
        """,
        "es": """
            amo/odio activado/desactivado habilitado/deshabilitado abierto/cerrado
        """,
        "fr": """
            aime/déteste adore/déteste activé/désactivé ouvert/fermé
        """,
        "de": """
            liebe/hasse aktiviert/deaktiviert offen/geschlossen mag/hasse
        """,
        "pt": """
            amo/odeio ativado/desativado aberto/fechado
        """,
        "it": """
            amo/odio attivo/disattivo aperto/chiuso
        """,
        "ru": """
            люблю/ненавижу включен/выключен включён/выключен открыт/закрыт
        """,
    }.items()
}
