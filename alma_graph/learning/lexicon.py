"""Words that say how two wordings may and may not be alike: closed lists for English, negators for some others.

Everything here is lower case. Technologies are not listed here; they come from `alma_graph.extraction.gazetteer`.
"""

from __future__ import annotations

import re

from alma_graph.extraction.vocabulary import COMPONENT_HEADS


def _words(block: str) -> frozenset[str]:
    return frozenset(block.split())


STOP_WORDS = _words(
    """
    a all also always an and any are as at be been by can could did do does each every for from her his i in into is it
    it's its just may must my of on only or our per please s should so some that the their then there these they this
    those to up use used uses using very via was we were will with would you your
    """
)
"""Words without content."""

PREPOSITIONS = _words(
    """
    after at before by for from in into of on once prior to until when with
    """
)
"""A noun group ends before one of these."""

NEGATORS = _words(
    """
    can't cannot didn't doesn't don't dont n't neither never no none nor not without won't
    """
)
"""Words that negate what follows."""

REMOVING_VERBS = _words(
    """
    avoid bypass cancel disable drop exclude forbid ignore omit prevent prohibit refuse reject remove skip stop suppress
    unset
    """
)
"""Verbs that negate their object: to skip the tests is to have no tests."""

NUMBER_WORDS: dict[str, str] = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "thirteen": "13",
    "fourteen": "14",
    "fifteen": "15",
    "sixteen": "16",
    "seventeen": "17",
    "eighteen": "18",
    "nineteen": "19",
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "hundred": "100",
    "thousand": "1000",
    "once": "1",
    "twice": "2",
    "thrice": "3",
    "half": "0.5",
    "noon": "12:00",
    "midnight": "00:00",
}

UNITS: dict[str, tuple[str, float]] = {
    "ms": ("s", 0.001),
    "millisecond": ("s", 0.001),
    "s": ("s", 1),
    "sec": ("s", 1),
    "second": ("s", 1),
    "min": ("s", 60),
    "minute": ("s", 60),
    "m": ("s", 60),
    "h": ("s", 3600),
    "hr": ("s", 3600),
    "hour": ("s", 3600),
    "day": ("s", 86400),
    "d": ("s", 86400),
    "week": ("s", 604800),
    "kb": ("B", 1000.0),
    "mb": ("B", 1000000.0),
    "gb": ("B", 1000000000.0),
    "kib": ("B", 1024),
    "mib": ("B", 1048576),
    "gib": ("B", 1073741824),
    "%": ("%", 1),
    "percent": ("%", 1),
    "pct": ("%", 1),
    "k": ("", 1000.0),
}
"""Unit as written (singular) -> base unit and factor."""

_SYNONYMS = """
enable = turn on, switch on, activate, switched on, enabled, enables, enabling, turned on
disable = turn off, switch off, deactivate, disabled, disabling, turned off
deploy = deployment, rollout, roll out, release, ship, deploying, rolling out, rolled out, releasing
remove = drop, delete, purge, erase, removing, deleting, removed, flush, empty, clear
add = create, insert, adding, added, creating, introduce
restart = bounce, reboot, restarting
database = db, dbs, databases
production = prod
staging = stage
check = verify, validate, inspect, validation, verification, verifying, checking
search = look for, find, lookup, searching
phone = call, ring, telephone, calling
customer = client, customers, clients
kubernetes = k8s
postgresql = postgres, psql, pg
config = configuration, configure, settings
auth = authentication
repo = repository
doc = docs, documentation, document, documents
env = environment
wait = sleep, pause
ask = request, prompt for
send = submit
split = chunk, chunking, partition, chunks
migrate = move, switch, migration, port, migrating, moving
upgrade = update, bump, upgrading
begin = start
fix = repair, resolve
write = author, writing
confirm = confirmation, confirming
transfer = hand over, handover, escalate, escalation, pass
deletion = delete
clean = wash, rinse, cleaning, cleaned
heat = warm, warm up, microwave, heating, heated
cool = chill, refrigerate
put = place, placing, putting
show = display
fast = quick
summary = summarize, summarise
lock = locking, locks
test = tests, testing
retry = retries, retrying, retried, attempt, attempts
cache = caching, caches, cached
number = count
cancel = cancelled, cancelling, canceled, cancellation, cancels
bigger = larger, big, large
smaller = small
asynchronous = async
synchronous = sync
example = examples, few-shot, shot
select = locate, pick, choose
index = indexes, indices
server = backend, server-side
client_side = browser, client-side
"""

TARGET_HEADS = (
    COMPONENT_HEADS
    | _words(
        """
        account bowl bug column credential customer deal email environment field file flight key lead log
        message model mug order paper phase plate prompt region report reservation schema secret stage step
        suite team test ticket token user
        """
    )
) - _words("export form import index pool storage store view")
"""Nouns whose modifier says which one is meant: the auth service is not the payment service."""

NOT_MODIFIERS = _words(
    """
    add all ask big build call check clear close create deploy direct disable each empty enable entire find first
    fix flush get keep large last look make many more move new old one only open put read remove restart run same
    scale search send set several small split start test unit update use whole write
    """
)
"""Words before a target head that do not say which one is meant."""

IMPERATIVES = _words(
    """
    audit back backup bisect block break bring buffer cap chunk clean clone commit compile compress configure
    connect copy cut debug decode delegate detect draft drain edit emit encode escalate estimate evict explain
    export fetch filter flag fold follow force format freeze gather generate group guard handle hash hold import
    index infer inject inspect install isolate iterate join kill label limit link list load lock log mask match
    measure merge mock modify monitor mount name notify offer order pack parse paste patch pause pick pin ping plan
    poll prefetch prepare prewarm print prioritise prioritize probe profile prompt propose prove prune publish purge
    query queue quote rank rate recompute record redeploy redirect refactor refresh refund remind rename render
    reorder repeat replay replicate reply report reprocess reproduce request reset resize respond restore resume
    retrain retry return reuse revert review rewrite rotate route sample save scan schedule select separate serve
    shard share sign simplify skip sort stage stay stream stub submit sync tag throttle time trace track train
    translate trigger trim tune type undo unlock upload validate vary verify version view wait walk warm warn watch
    wrap
    """
)
"""Verbs that open a strategy. Where no parser has seen it, every content word that is no verb counts as a noun."""
FOREIGN_NEGATORS = _words(
    """
    nicht kein keine keinen ohne nie niemals ne pas sans jamais aucun aucune sin nunca ningún ninguna não sem senza mai
    niet geen zonder nooit bez ikke inte utan ingen ei
    """
)
"""Negators of other languages in Latin script: enough to keep "mit Cache" and "ohne Cache" apart."""

NEGATING_PREFIXES = ("un", "dis", "de", "non", "anti")
"""A word and the same word behind one of these are opposites: subscribe, unsubscribe."""


def _read_synonyms() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _SYNONYMS.strip().splitlines():
        representative, _, others = line.partition(" = ")
        for other in others.split(", "):
            table.setdefault(other, representative)
    return table


SYNONYMS: dict[str, str] = _read_synonyms()
"""What agents write for one act or thing -> one representative."""

SYNONYM_PHRASES = re.compile(
    r"\b("
    + "|".join(sorted((re.escape(phrase) for phrase in SYNONYMS if " " in phrase), key=len, reverse=True))
    + r")\b"
)
"""Synonyms of more than one word, the longest first."""
