"""Axes of opposites: two wordings at different poles of one axis are never one strategy.

One axis a line, its poles divided by `|`, the words of a pole by commas. An axis of more than two poles is a set of
alternatives (production, staging, development ...).
"""

from __future__ import annotations

_AXES = """
increase, raise, bump, grow, more, extend, expand, bigger, higher, longer, scale up, scale out, upsize, widen,
    maximize, maximise |
    decrease, reduce, lower, shrink, fewer, less, smaller, shorter, scale down, scale in, downsize, cut,
    minimize, minimise, narrow
bigger, large, huge, whole, entire, unsplit | smaller, small, tiny, minimal
asynchronous, async, asynchronously | synchronous, sync, synchronously
eager, eagerly, prefetch, upfront | lazy, lazily, on demand, on-demand, deferred
optimistic, optimistically | pessimistic, pessimistically
client-side, client side, browser, frontend, client_side, client | server-side, server side, backend, server
production, live | staging, pre-production, preprod | development, dev, locally, local | sandbox | qa
blue-green, bluegreen, blue green | canary, canaries | rolling | recreate, big bang | shadow
exponential, exponentially | linear, linearly | constant, fixed
fixed, constant, static | variable, dynamic, adaptive | section, semantic, heading, paragraph, sentence
mock, mocked, mocks, fake, stub, stubbed | real, actual, live | in-memory, in memory
morning, before noon | evening, afternoon, after 5pm, tonight | night
manual, manually, by hand | automatic, automatically, automated, auto
first-come, fifo | lifo
ascending | descending
public | private
inbound, incoming | outbound, outgoing
read | write
open | close, closed
start | stop
include, including, with | exclude, excluding, without
accept, approve, approved | reject, decline, deny, refuse
horizontal, horizontally, scale out | vertical, vertically, scale up
unit | integration | end-to-end, e2e
parallel, concurrently, concurrent | sequential, sequentially, serial, serially, one by one
push | pull
upgrade, newer, latest | downgrade, older, stay, keep, pin
direct, nonstop, non-stop | one-stop, one stop, onestop, connecting, connection | round trip, return
few-shot, few shot | zero-shot, zero shot
optional | required, mandatory
strict | lenient, loose, permissive
monolith, monolithic | microservice, microservices
batch, bulk | single, one at a time | streaming, stream
email, e-mail | phone | chat, sms, slack
left | right
top | bottom
hot, heat | cool, cold | clean
import | export
encrypt | decrypt
book, reserve, create, new booking | cancel, cancellation | change, modify, update, reschedule, edit
allow, whitelist, allowlist | block, deny, blacklist, denylist
early | late
mutable | immutable
stateless | stateful
https | http
cheap, cheapest, lowest | expensive, highest
economy | business
xpath | css | data-testid, testid
worker | database | server | browser | frontend | gateway | scheduler | queue | proxy | loadbalancer
at least, minimum | at most, maximum
opt in, opt-in | opt out, opt-out
log in, sign in, login | log out, sign out, logout
roll back, rollback, revert | roll forward
oldest | newest
local | remote
stable | unstable, nightly
"""


def _read_axes() -> list[list[frozenset[str]]]:
    joined = _AXES.strip().replace("\n    ", " ")
    return [
        [frozenset(word.strip() for word in pole.split(",")) for pole in line.split("|")]
        for line in joined.splitlines()
    ]


AXES: list[list[frozenset[str]]] = _read_axes()


def _poles_by_word() -> dict[str, tuple[tuple[int, int], ...]]:
    table: dict[str, list[tuple[int, int]]] = {}
    for axis_number, axis in enumerate(AXES):
        for pole_number, pole in enumerate(axis):
            for word in sorted(pole):
                table.setdefault(word, []).append((axis_number, pole_number))
    return {word: tuple(poles) for word, poles in table.items()}


POLES: dict[str, tuple[tuple[int, int], ...]] = _poles_by_word()
"""Word or phrase -> the (axis, pole) pairs it stands at."""

POLE_PHRASES: tuple[str, ...] = tuple(sorted(word for word in POLES if " " in word))
"""The entries of more than one word."""
