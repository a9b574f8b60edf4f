"""English words that carry grammar rather than content: left out of token vectors, damped in the hashing embedder."""

from __future__ import annotations

_LISTED = """
a an the and or but nor if of in on at to for from by with about into over after before during between out up down
off as so than too very just also any some no not
is are was were be been being am do does did doing done have has had having can could will would shall should may
might must
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
this that these those there here what which who whom whose when where why how
s t d m re ve ll don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
got get let im ive thats
"""

STOP_WORDS: frozenset[str] = frozenset(_LISTED.split())
