"""Closed word lists of the rules. Data only."""

from __future__ import annotations

COMPONENT_HEADS = frozenset(
    """
    service services api apis worker workers job pipeline gateway proxy server cluster module dashboard app
    application database queue scheduler cache layer store storage bus parser indexer generator detector endpoint
    frontend backend portal console engine table plugin handler controller daemon consumer producer balancer runner
    bucket topic crawler scraper catalog registry broker agent bot webhook middleware microservice component
    subsystem package adapter connector exporter importer resolver router renderer validator tokenizer loader
    extractor serializer batcher scorer resizer firmware widget page form screen panel branch repo repository export
    import index view warehouse lake monitor replica dispatcher orchestrator kubelet ingester watcher poller mailer
    collector node pod container namespace sidecar cron cronjob client sdk cli ui checkout pool
    """.split()
)
"""Nouns that make the words before them the name of a component ("invoice parser")."""

BARE_COMPONENTS = frozenset(
    """
    frontend backend dashboard scheduler worker checkout tokenizer crawler indexer scraper dispatcher orchestrator
    kubelet ingester exporter importer serializer mailer poller
    """.split()
)
"""Heads that name a component without a modifier."""

ORG_HEADS = frozenset("team squad department division committee guild crew board".split())

ORG_SUFFIXES = r"inc\.?|ltd\.?|llc|corp\.?|corporation|co\.?|gmbh|ag|plc|company|limited"
"""Legal forms after the name of a firm; a regular expression."""

ORG_NAME_ENDINGS = (
    r"Inc|Ltd|LLC|Llc|Corp|Corporation|Co|GmbH|Gmbh|AG|Ag|PLC|Plc|Company|Limited|SE|SA|BV|KG|Labs|Systems|Technologies|"
    r"Analytics|Robotics|Energy|Health|Foods|Freight|University|Institute|Bank|Group|Partners|Solutions|Networks|"
    r"Software|Industries|Logistics|Ventures|Studios|Media"
)
"""Last words that make capitalised words before them the name of a firm; a regular expression."""

ROLE_HEADS = frozenset(
    """
    cto ceo cfo coo vp manager lead engineer founder owner head director contact champion developer architect
    analyst designer buyer
    """.split()
)

OTHER_ROLES = frozenset(
    """
    president chairman chairwoman spokesman spokeswoman minister secretary chief officer member editor professor
    researcher leader governor mayor senator attorney lawyer agent consultant executive
    """.split()
)

WEAK_MODIFIERS = frozenset(
    """
    new old same other own main whole entire current previous next last first second many several some few more less
    amazing awesome great nice good bad best better worse different similar big small cool real full every stale
    slow fast flaky broken missing failed failing misconfigured nightly-only only local remote latest
    """.split()
)
"""Adjectives that are no part of a component's name."""

NOT_PERSON = frozenset(
    """
    I We You He She It They The This That There Then When If No Not Yes Please Always Never Use Set Run Add Fix Move
    Root Decision Deployment Requires Retry Rename Nit Neither Without Switched Talked Spoke Lead Customer Client
    User Champion Rolled Pushed Feature Helm Docker Error Budget Deployed Upgraded Increased Rate Docs Today
    Yesterday Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Fridays January February March April
    May June July August September October November December TODO FIXME NOTE On In At From To For By With After
    Before Since Prefer Prefers Nobody Everyone Everybody Someone Somebody Anyone Who What Which Our My Your Their
    His Her Its Thanks Thank Hi Hey Hello Dear Bye Congrats Congratulations Cool Wow Yeah Sure Sorry Nice Great
    Awesome Whoa Oh Okay Nah Yep Nope Wanna Gotta Gonna Woah Woohoo Haha Yay Btw People One Ones Ok Good Glad Happy
    Guys Folks Buddy Man Dude Mom Dad Well Just But And So Or Let Here Now How Why Where These Those Each Every All
    Both Some Any Most Many Several Team Support Marketing Sales Engineering Finance Legal
    """.split()
)
"""Capitalised words that are no names of people."""

PERSON_VERBS = frozenset(
    """
    review approve reject propose say think want prefer like dislike hate ask tell suggest report write open close
    merge fix deploy own lead manage maintain join work leave agree confirm mention request submit test restart talk
    believe decide complain know need reply call move live roll roll_back push commit revert investigate debug sign
    attend introduce present use recommend insist refuse
    """.split()
)
"""Verbs whose capitalised subject may be a person."""

PERSON_ONLY_VERBS = frozenset(
    """
    review approve reject propose merge write open investigate debug confirm mention think believe commit push
    revert tell notice explain remember refactor rename suggest test restart sign_off maintain roll diagnose migrate
    document complain prefer
    """.split()
)
"""Verbs whose subject is a person rather than a firm: they overrule the statistical label."""

FIRM_ONLY_VERBS = frozenset("acquire compete renew churn onboard headquarter".split())
"""Verbs whose capitalised subject is a firm."""

PERSON_PASSIVE_VERBS = PERSON_ONLY_VERBS | {"turn", "fix", "deploy", "own"}

ACRONYMS_WITHOUT_NAME = frozenset(
    """
    API APIs UI UX URL URI ID IDs UTC GMT CRUD TTL IP OS DB PR PRs MR QA CI CD TODO GUI ASCII LAN WAN FAQ IDE SLA
    SLO KPI ETA RAM ROM VRAM SSD HDD FK PK NULL OK N/A CTO CEO CFO VP DPA POC MVP EOD
    """.split()
)

GENERIC_TECH = frozenset(
    """
    DNS CSV JSON XML YAML HTTP HTTPS TLS SSL TCP CDN SQL HTML CSS GPU CPU LLM REST SSH Android iOS Windows Linux RAG
    CI
    """.split()
)
"""Technologies that belong to the component after them ("DNS cache"); products do not ("Redis cluster")."""

STRATEGY_HEADS = r"deployments?|deploys?|releases?|rollouts?|updates?|switch|strategy|approach|pattern|cutover"
"""Nouns that a practice takes along ("canary release"); a regular expression."""

NOT_ERRORS = frozenset({"Error", "Warning", "Exception", "Fault"})

PREFERS_NOT = frozenset("dislike hate avoid refuse oppose".split())

FAILING_VERBS = frozenset("fail refuse stop forget decline cease".split())

SUBJECT_RELATIONS = frozenset({"nsubj", "nsubjpass", "csubj"})
MODIFIER_RELATIONS = frozenset({"compound", "amod", "nmod", "nummod", "poss"})

RELATIVE_PRONOUNS = frozenset({"that", "which", "who", "whom", "where"})
SPEAKER_PRONOUNS = frozenset({"i", "me", "we", "us", "you"})
PERSON_PRONOUNS = frozenset({"he", "she", "him", "her"})
GROUP_PRONOUNS = frozenset({"they", "them"})
THING_PRONOUNS = frozenset({"it", "this", "that"})

VALUE_TYPES = frozenset({"DATE", "QUANTITY", "VERSION"})
"""Entities that are values, not things: most predicates do not take them."""
