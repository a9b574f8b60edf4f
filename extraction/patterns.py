"""Regular expressions for what has a form of its own: files, URLs, errors, versions, tickets, dates, quantities.

Every expression runs in linear time on any text: a repeated class never touches another that shares characters with
it, and a look-behind keeps a match from starting again in the middle of a run that was already tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from alma_graph.extraction.vocabulary import COMPONENT_HEADS

_EXTENSIONS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|go|rs|rb|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|ps1|sql|yaml|yml|"
    "json|jsonl|toml|ini|cfg|conf|env|lock|md|rst|txt|csv|tsv|parquet|xml|html|css|scss|tf|tfvars|hcl|proto|graphql|"
    "gradle|pom|log|pem|crt|key|zip|gz|tar|pdf|docx|xlsx|png|jpg|svg|vue|svelte|ex|exs|scala|lua|r|jl|dockerfile|web|"
    "service|whl|pkl|onnx|safetensors|db|sqlite|cypher|j2|tmpl|patch|diff|bak|bin|so|dll|exe|jar|war|deb|rpm|avro|arrow"
)
_TOP_FOLDERS = (
    r"src|app|lib|libs|tests?|docs?|scripts?|config|configs|tools|packages|cmd|internal|pkg|infra|deploy|migrations|"
    r"\.github"
)
_NO_TICKET = (
    "UTF|SHA|ISO|GPT|HTTP|MD|AES|RSA|TLS|SSL|COVID|US|EU|F|B|IPV|CP|PEP|RS|HS|ES|X|MP|H|GCC|CUDA|BM|SOC|QPS|L|T|A|V|P"
)
_VERSION = r"v?\d+(?:\.\d+){1,3}(?:[-.]?(?:rc|alpha|beta|a|b|dev|post)[-.]?\d*)?"
_UNIT = (
    r"(?:ns|us|µs|ms|s|sec(?:ond)?s?|min(?:ute)?s?|h|hrs?|hours?|days?|weeks?|months?|years?|%|percent|"
    r"[KMGT]i?B|bytes?|tokens?|rows?|requests?|req/s|rps|qps|messages?|points?|times|retries|attempts|users?|"
    r"connections?|threads?|cores?|pods?|replicas?|instances?|items?|records?|dimensions?|lines?|px|x|k|USD|EUR|"
    r"dollars|euros)"
)
_FULL_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_ZONE = r"(?:\s?(?:UTC|GMT|CET|CEST|EST|EDT|PST|PDT|am|pm|AM|PM)\b)?"
_NUMBER_WORD = (
    r"(?:[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|[Ee]leven|[Tt]welve|[Ff]ifteen|"
    r"[Tt]wenty|[Tt]hirty|[Ff]orty|[Ff]ifty|[Ss]ixty|[Nn]inety)"
)
_NTH = r"(?:st|nd|rd|th)?"
_NOT_IN_DOTTED = r"(?<!\w)(?<!\w\.)"
_HEADS = "|".join(sorted(COMPONENT_HEADS))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression whose matches are entities of one type."""

    type: str
    regex: re.Pattern[str]


def _patterns(*rows: tuple[str, str]) -> tuple[Pattern, ...]:
    return tuple(Pattern(type_, re.compile(expression)) for type_, expression in rows)


QUOTED_CODE = re.compile(r"`[^`\n]+`")

CODE_BLOCK_PATTERNS = _patterns(
    ("URL", r"\b[a-z][a-z0-9+.-]{1,9}://[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]"),
    (
        "FILE",
        rf"(?<![\w/.@~-])(?!(?:self|this|process|req|res|ctx)\.)"
        rf"(?:[~.]{{0,2}}/)?(?:[\w.@-]++/)*+[\w.@-]*\w\.(?:{_EXTENSIONS})\b(?![\w(/])",
    ),
    (
        "FILE",
        r"(?<![\w/:.~-])(?:~|\.{1,2})?/(?:[\w.-]++/)+[\w.-]*\w"
        rf"|(?<![\w/:.~-])(?:{_TOP_FOLDERS})/(?:[\w.-]++/)*[\w.-]*\w",
    ),
    (
        "ERROR",
        _NOT_IN_DOTTED + r"(?:[A-Z]\w*+\.)*[A-Z]\w*(?:Error|Exception|Fault|Warning)\b|\bE[A-Z]{4,}\b(?=.)|"
        r"\bSIG(?:KILL|TERM|SEGV|INT|HUP|ABRT)\b|\bOOM(?:Killed)?\b|\bHTTP(?:/\d)? [45]\d\d\b|"
        r"\b[45](?:xx|XX)\b(?: errors?)?|\b[45]\d\d (?:errors?|responses?)\b|\b[Ee]xit (?:code|status) \d+\b|"
        r"\bsegfaults?\b|\b(?:CrashLoopBackOff|ImagePullBackOff|SlowDown|NaN loss)\b",
    ),
    ("ENV_VAR", r"\$\{?[A-Z][A-Z0-9_]+\}?|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"),
)
"""The only patterns that are read inside fenced code."""

_URL, _FILE, _PATH, _ERROR, _ENV_VAR = CODE_BLOCK_PATTERNS

BEFORE_GAZETTEER: tuple[Pattern, ...] = (
    *_patterns(("CODE", r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /[\w/{}:.*-]*[\w}/]")),
    _URL,
    *_patterns(
        ("EMAIL", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b"),
        (
            "URL",
            r"(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|io|dev|ai|app|cloud|internal|local)(?::\d+)?"
            r"(?:/[^\s<>\"')]*[\w/]|(?=[\s,.;)]|$))",
        ),
    ),
    _FILE,
    *_patterns(
        (
            "FILE",
            r"(?<![\w/])\.(?:env|gitignore|dockerignore|npmrc|eslintrc|prettierrc|editorconfig|bashrc|zshrc)(?:\.\w+)?\b|"
            r"\b(?:Dockerfile|Makefile|Jenkinsfile|Procfile|Gemfile|Vagrantfile|CODEOWNERS)(?:\.\w+)?\b",
        ),
    ),
    _PATH,
    *_patterns(
        (
            "TICKET",
            r"\b(?:PR|MR|RFC|ADR|[Ii]ssue|[Tt]icket|[Bb]ug|[Ll]ead|[Cc]ase|[Pp]ull request)[ -]?#?\d+\b|"
            r"(?<![\w&])#\d{1,7}\b",
        ),
        ("TICKET", rf"\b(?!(?:{_NO_TICKET})-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,7}}(?:-\d+)?\b|\brun[-_]\d+\b"),
    ),
    _ERROR,
    *_patterns(
        (
            "ERROR",
            r"\b(?:memory leaks?|deadlocks?|race conditions?|stack overflow|null pointer|"
            r"out[- ]of[- ]memory(?: error)?|segmentation fault|"
            r"(?:connection |read |write |request |gateway )?time-?outs?(?! of| to| is)|"
            r"connection (?:refused|reset)|infinite loops?|disk full|permission denied|kernel panic)\b",
        ),
    ),
    _ENV_VAR,
)
"""Read before the gazetteer: a name inside a path or a URL is a part of it."""

AFTER_GAZETTEER: tuple[Pattern, ...] = _patterns(
    (
        "VERSION",
        rf"\b(?:release|version|commit|tag) (?:{_VERSION}|[0-9a-f]{{7,40}}\b)|"
        r"\bv\d+(?:\.\d+)*(?:-[a-z]+\.?\d*)?\b|\b\d+\.\d+\.\d+(?:[-.](?:rc|alpha|beta|dev|post)\.?\d*)?\b",
    ),
    (
        "DATE",
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?\b|"
        rf"\b\d{{1,2}}:\d\d(?::\d\d)?{_ZONE}|\b\d{{1,2}} ?(?:am|pm)\b|"
        rf"\b\d{{1,2}}{_NTH} (?:of )?{_MONTH}(?:,? \d{{4}})?\b|"
        rf"\b{_MONTH} \d{{1,2}}{_NTH}(?:,? \d{{4}})?\b|\b{_MONTH} \d{{4}}\b|"
        rf"\b(?:[Ll]ast|[Nn]ext|[Tt]his) (?:{_MONTH}|{_DAY}|week|month|year|quarter|night|sprint)\b|"
        r"\b(?:Q[1-4]|H[12])(?:[ /-]?\d{4})?\b|\b(?:[Yy]esterday|[Tt]oday|[Tt]omorrow|[Tt]onight)\b|"
        rf"\b{_DAY}\b|(?<=\b[io]n )(?:19|20)\d\d\b|(?<=since )(?:19|20)\d\d\b|(?<=in ){_FULL_MONTH}\b",
    ),
    (
        "LOCATION",
        r"(?<=\b[tio][onr] )(?:staging|production|prod|preprod|QA|sandbox)\b(?! [a-z])|"
        r"(?<=\b[tio][onr] )(?:staging|production|prod|preprod)\b"
        r"(?= (?:at|by|using|with|without|on|in|first|and|or|but|after|before|for|from|last|is|was|were|has|had|since|"
        r"until|during|because|when|while|so|then|again|if|as|via|today|yesterday|now|only)\b)",
    ),
    ("LOCATION", r"\b(?:us|eu|ap|sa|ca|af|me)-(?:north|south|east|west|central)(?:east|west)?-?\d[a-z]?\b"),
    (
        "QUANTITY",
        r"[$€£]\s?\d[\d,.]{0,24}\d?\s?[kKmMbB]?\b|"
        rf"(?<!\d,)\b\d[\d,]{{0,24}}(?:\.\d{{1,12}})?\s?[kKM]?\s?{_UNIT}(?![\w-])"
        r"(?: per (?:second|minute|hour|day|month|year))?|\bport \d+\b|\b\d{1,12}e-\d+\b|"
        rf"\b{_NUMBER_WORD} (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|times|retries|attempts|percent|"
        r"replicas|workers|pods|nodes|instances|users|requests|tokens|rows|points|dollars|euros)\b(?!-)",
    ),
    (
        "METRIC",
        r"\b(?:p\d\d(?:\.\d)?|tail|median|mean) latency\b|\b[Pp]\d\d\b|"
        r"\b(?:[Ee]rror|[Ss]uccess|[Cc]onversion|[Cc]hurn|[Hh]it|[Cc]ache hit|[Ll]earning|[Ww]in|[Oo]pen|[Rr]eply)"
        r" rate\b|"
        r"\b(?:MRR|[Rr]ecall|[Pp]recision|NDCG|nDCG|[Hh]its|[Pp]ass)@\d+\b|\bF1\b|"
        r"\b(?:[Mm]emory|CPU|[Dd]isk|GPU) (?:usage|utili[sz]ation)\b|"
        r"\b(?:[Ll]atency|[Tt]hroughput|[Pp]erplexity|[Bb]atch size|[Cc]hunk size|[Uu]ptime|BLEU|ROUGE(?:-\w)?|"
        r"AUROC|AUC|NPS|ARR|MAU|DAU)\b",
    ),
    (
        "CODE",
        _NOT_IN_DOTTED + r"[A-Za-z_][\w.]{0,120}\(\)|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|"
        r"\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}(?:\.\w+)*\b|"
        + _NOT_IN_DOTTED
        + r"[A-Za-z_]\w+(?:\.[a-z_A-Z]\w+)+\b(?!/)",
    ),
    ("TECH", r"\b(?:gpt|claude|llama|gemini|mistral|mixtral|qwen|deepseek|text-embedding)-[a-z0-9][\w.-]{0,40}\w\b"),
    ("COMPONENT", rf"\b(?:[a-z][a-z0-9]{{0,40}}-){{0,6}}(?:{_HEADS})-\d{{1,4}}\b"),
    ("COMPONENT", rf"\b[a-z][a-z0-9]{{0,40}}(?:-[a-z0-9]{{1,40}}){{0,6}}-(?:{_HEADS})\b"),
    (
        "PROJECT",
        r"\b[Pp]roject [A-Z]\w+\b|\b[A-Z]\w+ (?:[Pp]roject|[Mm]igration|[Ii]nitiative)\b(?= |$|[.,])",
    ),
)
"""Read after the gazetteer: "Node.js" is a technology, not an identifier."""

PLAIN_WORDS_LIKE_CODE = re.compile(
    r"(?:and/or|e\.g|i\.e|etc|JavaScript|TypeScript|GitHub|GitLab|LinkedIn|YouTube|WhatsApp|PayPal|McDonald)"
)
