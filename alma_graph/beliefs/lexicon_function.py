"""Words that carry structure rather than content: negation, hedges, plans, quantifiers, scope, change.

Hand-written lists, plain data: lemmas unless a comment says otherwise.
"""

from __future__ import annotations

from alma_graph.beliefs.wordlist import word_set

# Environments, platforms, regions, tiers and times that restrict where a claim holds (surface forms).
SCOPE_WORDS = word_set("""
    admin admins android april asia august autumn basic contractors december desktop dev development enterprise eu
    europe external february fifth first fourth free friday guest guests internal ios january july june linux local
    locally mac macos march mobile monday november october premium prod production qa saturday second september
    spring staging summer sunday team test testing third thursday today tomorrow tuesday uk us web wednesday weekend
    weekends windows winter yesterday
""")
HEDGES = word_set("""
    appear could guess likely may maybe might perhaps possibly probably seem suspect unsure wonder
""")
PLAN_VERBS = word_set("""
    aim consider hope intend plan propose think try want wish
""")
BELIEF_VERBS = word_set("""
    assume believe expect feel fear think worry
""")
REPORT_VERBS = word_set("""
    allege argue ask claim joke pretend quote rumor rumour say suggest
""")
# Outcome words: what helped, and what did not.
GOOD_WORDS = word_set("""
    accelerate better boost cure effective eliminate faster fix good help improve pass prevent reduce repair resolve
    restore safe smooth solve sped speed stabilize stable succeed success useful well work
""")
BAD_WORDS = word_set("""
    break corrupt crash degrade fail failure flaky hang ineffective persist regress remain risky still unstable
    useless worse worsen
""")
# A number after one of these names a thing (sprint 14); it is never a value.
IDENTIFYING_NOUNS = word_set("""
    build chapter chat day decision desk episode figure floor galaxy gate hall issue item iteration line
    milestone page phase pixel pr question room season section sprint step table task ticket trial week
""")
# Of these, and like them, what says where: a meeting is in one room.
LOCATING_NOUNS = word_set("""
    building desk floor gate hall platform room seat
""")
# Words that say little by themselves.
LIGHT_WORDS = word_set("""
    's also be become do get go have here it just keep let make really so take that then there thing this very way
""")
# Verbs that only link a subject to its value.
COPULA_LIKE_VERBS = word_set("""
    back base build call go hold host implement keep live locate look name power remain respond return run say send
    serve set ship sit stay store take tell use work write
""")
NEGATIVE_DETERMINERS = word_set("""
    barely cannot hardly neither never no nobody none nor nothing nowhere scarcely
""")
NEGATIVE_VERBS = word_set("""
    cease decline fail forget lack miss refuse
""")
ALL_QUANTIFIERS = word_set("""
    all always any anybody anyone both each every everybody everyone everything whole
""")
SOME_QUANTIFIERS = word_set("""
    few partly several some sometimes
""")
# Verbs of change whose object, or "from" phrase, ceases to hold; and those that name what holds from now on.
CHANGE_FROM_VERBS = word_set("""
    abandon cancel ditch drop hand leave quit replace retire sell stop
""")
CHANGE_TO_VERBS = word_set("""
    become change convert defer delay migrate move port postpone promote push rebuild reimplement rename replace
    reschedule rewrite rewrote shift slip start swap switch transfer upgrade
""")
# For the parse-free comparison: negation words and words to ignore (surface forms).
SURFACE_NEGATORS = word_set("""
    cannot hardly n't neither never no nobody none nor not nothing without
""")
SURFACE_STOP_WORDS = word_set("""
    'll 're 's 've a all already also am an and any are as at be been before being but by can could did do does
    every far for had has have he her his i in is it its just may might must my of on or our she should so some that
    the their these they this those to very was we were will with would yet you your
""")
# First-person verbs that ask or wish rather than report.
SEEKING_VERBS = word_set("""
    ask be believe consider curious feel find get guess have help hope interested know learn like look need plan
    please prefer see seem struggle think try understand want wish wonder would
""")
# Words too general to show that two reports are about one thing.
GENERIC_NOUNS = word_set("""
    actually any app application before course ever example experience feature issue kind part problem project
    related session thing time tool training type use used using way work
""")
# Irregular surface forms and their lemmas, for the parse-free comparison.
IRREGULAR_FORMS = dict(
    pair.split(":")
    for pair in sorted(
        word_set("""
    began:begin bought:buy broke:break broken:break fallen:fall fell:fall grew:grow grown:grow held:hold hid:hide
    hidden:hide kept:keep lost:lose risen:rise rose:rise shrank:shrink shrunk:shrink sold:sell sped:speed went:go
    won:win
""")
    )
)
