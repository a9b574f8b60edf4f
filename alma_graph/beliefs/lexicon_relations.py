"""Words that state something about the world: opposites, synonyms, verbs and nouns that hold one value.

Hand-written lists, plain data. Each word list is one string of lemmas, sorted; change them freely, the tests hold
the effect. Precision comes before recall: a word that is only sometimes an opposite does not belong here.
"""

from __future__ import annotations

from alma_graph.beliefs.wordlist import word_set

# Two sides of a state: words of one side are near-synonyms, words of different sides exclude each other.
OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (word_set(left), word_set(right))
    for left, right in (
        ("adopt eat use", "avoid quit stop"),
        ("enjoy like love prefer want", "avoid dislike hate"),
        ("contain include", "exclude lack omit"),
        ("green passing", "broken failing red"),
        ("blocked inaccessible locked", "accessible unblocked unlocked"),
        ("paid pay settled", "due outstanding overdue unpaid"),
        ("complete finished whole", "incomplete missing partial unfinished"),
        ("empty free vacant", "filled occupied taken"),
        ("functional operational working works", "broken defective faulty"),
        ("free gratis", "chargeable paid pay"),
        ("married", "divorced single unmarried"),
        ("discover find found", "lose lost"),
        ("accept accepted", "decline refuse reject rejected"),
        ("black", "milk white"),
        ("permanent", "temporary"),
        ("urgent", "unimportant"),
        ("concurrent concurrently parallel", "sequential sequentially serial"),
        ("growing", "declining shrinking"),
        ("attend", "miss skip"),
        ("activate activated active enable enabled on", "deactivate deactivated disable disabled inactive off"),
        (
            "alive answering available online reachable running up",
            "dead down offline stopped unavailable unreachable",
        ),
        (
            "ongoing open pending reopen unresolved",
            "close closed complete completed done fix fixed repaired resolve resolved",
        ),
        (
            "adopt encourage keep maintained prefer preferred recommend recommended supported use",
            "abandon abandoned avoid deprecate deprecated discourage discouraged drop forbid forbidden unsupported",
        ),
        ("complete pass succeed success successfully work", "abort break crash fail failure timeout"),
        ("exposed open public publicly visible", "confidential hidden internal private restricted secret"),
        ("encrypt encrypted", "plain plaintext unencrypted"),
        ("writable write", "read-only readonly"),
        ("blocking sync synchronous synchronously", "async asynchronous asynchronously nonblocking"),
        ("compulsory mandatory must need require required", "optional optionally unnecessary voluntary"),
        (
            "climb grow higher improve increase more raise rise up",
            "decline decrease down drop fall less lower reduce shrink",
        ),
        ("fast faster quick quickly speed", "slow slower slowly sluggish"),
        ("cheap cheaper inexpensive", "costly dear expensive pricey"),
        ("deterministic reliable stable steady", "flaky intermittent random unreliable unstable"),
        ("safe secure", "dangerous insecure risky unsafe vulnerable"),
        ("before", "after"),
        ("first", "last"),
        ("begin start", "end finish stop"),
        (
            "accept allow allowed approve approved permit permitted sign",
            "block decline deny forbid forbidden prohibit refuse reject rejected",
        ),
        ("compatible", "break breaking incompatible"),
        ("mutable", "immutable"),
        ("stateful", "stateless"),
        ("healthy", "broken faulty sick unhealthy"),
        ("manual manually", "automated automatic automatically"),
        ("one share shared single", "multiple per separate several"),
        ("static", "dynamic"),
        ("always", "never"),
        ("full", "empty"),
        ("exist present", "absent gone missing"),
        ("better improve", "deteriorate worse"),
        ("brief concise short terse", "detailed lengthy long verbose"),
        ("light", "dark"),
        ("close closest near nearest", "distant far farthest"),
        ("add include install", "exclude omit remove uninstall"),
        ("win won", "lose lost"),
        ("effective helpful useful", "ineffective pointless useless"),
        ("adore enjoy favor fond like love", "despise detest dislike hate loathe"),
        ("buy", "sell"),
        ("happy", "sad unhappy"),
        ("early morning", "late night"),
        ("pending unapproved undecided waiting", "accepted approved declined finished granted rejected"),
        ("local locally", "remote remotely"),
        ("known", "unknown"),
        ("correct right valid", "incorrect invalid wrong"),
        ("ready", "unready"),
        ("hire join", "fire leave quit"),
        ("abandoned discontinued unmaintained", "maintained supported"),
        ("idempotent", "non-idempotent"),
        ("centralised centralized monolithic", "decentralised decentralized distributed"),
        ("vegan vegetarian", "meat carnivore"),
        ("introvert introverted", "extrovert extroverted"),
        ("eager eagerly", "lazily lazy"),
        ("hot warm", "cold cool"),
        ("noisy loud", "quiet silent"),
        ("easy simple trivial", "complicated complex difficult hard"),
        ("clean tidy", "dirty messy"),
        ("strong", "weak"),
        ("sufficient enough", "insufficient"),
        ("expired", "valid unexpired"),
        ("merged", "unmerged"),
        ("signed", "unsigned"),
        ("tested", "untested"),
        ("documented", "undocumented"),
        ("paused suspended", "resumed"),
        ("upgrade", "downgrade"),
        ("horizontal horizontally", "vertical vertically"),
        ("optimistic", "pessimistic"),
        ("ascending", "descending"),
        ("sorted ordered", "unordered unsorted"),
        ("inside within", "outside"),
        ("present", "absent"),
        ("formal", "casual informal"),
        ("sweet", "bitter savoury"),
        ("awake", "asleep"),
        ("alive", "dead"),
        ("strict strictly", "lenient loose"),
        ("case-sensitive", "case-insensitive"),
        ("online", "offline"),
        ("pro", "anti"),
        ("weekly", "daily monthly"),
        ("daily", "hourly monthly"),
        ("agree", "disagree"),
        ("trust", "distrust"),
        ("merge", "split"),
        ("lock", "unlock"),
        ("encrypt", "decrypt"),
        ("mount", "unmount"),
        ("deployed live released shipped", "undeployed unreleased"),
        ("complete done finished over ready", "unfinished incomplete ongoing"),
        ("stay remain", "leave"),
    )
)

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    word_set(group)
    for group in (
        "cap ceiling limit max maximum",
        "employ employed employer employment job work",
        "apartment home house live reside residence",
        "age old",
        "call name named",
        "belong own owner ownership",
        "head lead leader led run",
        "keep live save store stored",
        "deliver go route send ship",
        "build develop implement write written",
        "begin kickoff start",
        "end expire finish terminate until",
        "necessary need require",
        "favorite favourite like prefer rather want",
        "fix repair resolve solve",
        "config configure configured set setup",
        "database db",
        "postgres postgresql",
        "k8s kubernetes",
        "javascript js",
        "repo repository",
        "doc docs documentation",
        "auth authentication",
        "base based headquarter headquarters host locate located",
        "husband spouse wife",
        "mom mother mum",
        "dad father",
        "developer engineer",
        "client customer",
        "maintain maintainer",
        "box machine server",
        "error exception failure fault",
        "answer reply respond return",
        "employ run use utilize",
        "delete remove",
        "allow let permit",
        "delay latency",
        "memory ram",
        "kill terminate",
        "switch turn",
        "job task",
        "check inspect validate verify",
        "answer reply respond return",
        "birth birthday born",
        "bug defect issue",
        "choose pick select",
        "appear introduce",
        "big large",
        "remain stay",
        "fetch get retrieve",
        "colleague coworker teammate",
        "rely depend dependency",
        "create generate make produce",
        "organise organize arrange",
        "holiday vacation",
        "cellphone phone smartphone",
        "car automobile",
        "kid child",
        "flat apartment",
        "assign allocate",
        "discover find found",
        "hq headquarters",
        "env environment",
        "param parameter",
        "dir directory folder",
        "config configuration",
        "endpoint route",
        "retry reattempt",
        "vm instance",
        "cert certificate",
        "perms permission",
        "docs documentation",
        "admin administrator",
        "prod production",
        "dev development",
        "perf performance",
        "deps dependency",
        "invoice bill",
        "doctor physician",
        "film movie",
        "student pupil",
        "begin start kickoff launch",
        "quota limit allowance",
        "replica copy",
        "pipeline workflow",
    )
)

# Verbs whose object may be many things at once: "uses X" and "uses Y" are both true.
MULTI_VALUED_VERBS = word_set("""
    add affect ask attend bring buy call cause change contain cook cover create depend discuss eat enjoy expose feel
    find fix get handle have help import include integrate know learn like list log love make mention move need
    offer own play provide read review say see show speak study support take tell test think try use visit want
    watch
""")
# Verbs whose object is normally one thing: hosted in, lives in, written in, runs on.
FUNCTIONAL_VERBS = word_set("""
    back base be bear belong build call chair cost create default depend_on develop die direct educate employ end
    expire found go head headquarter headquarters host implement keep lead license limit listen live locate manage
    marry name own perform pin point reside respond retain return run schedule seat set ship situate start store
    support_by switch weigh write
""")
# Nouns that name a slot with one value: the owner of X, the port of X.
SLOT_NOUNS = word_set("""
    address author backend birthday boss branch budget capital ceo chairperson citizenship color colour continent
    country cto currency database deadline default degree dentist director doctor editor employer engine format
    framework genre head headquarters home host husband job language lead licence license limit maintainer major
    manager mascot name office owner password port position price provider queue region registry religion rent role
    runner size speaker sport spouse theme therapist timeout timezone title tracker version wife
""")
