"""One visit: look, mend where that was asked for, look again."""

from __future__ import annotations

from dataclasses import dataclass, field

from alma_graph.backends.inspection import Inspectable
from alma_graph.backends.verify import Fault, graph_faults
from alma_graph.doctor import checks
from alma_graph.doctor.lessons import WrongLesson, wrong_lessons
from alma_graph.doctor.repairs import mend, rebuild_arrays
from alma_graph.doctor.report import Check, DoctorReport
from alma_graph.doctor.rules import Disorder, check_rules
from alma_graph.doctor.scratch import round_trip
from alma_graph.ingest.writer import Writer
from alma_graph.store import Store

_LOOKS = 5
_OF_ARRAYS = ("sequence", "index")


@dataclass(slots=True)
class Diagnosis:
    """What one look found: as checks to be told, and as data to be mended."""

    checks: list[Check] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    disorder: Disorder = field(default_factory=Disorder)
    lessons: list[WrongLesson] = field(default_factory=list)
    sequence: int = 0

    @property
    def fixable(self) -> bool:
        """Whether anything found can be mended."""
        return any(check.fixable for check in self.checks)


def examine(writer: Writer, *, fix: bool = False, rebuild: bool = False) -> DoctorReport:
    """Looks at the whole store, all projects; with `rebuild` everything derived is made anew first, with `fix` what was
    found is mended, one transaction for each kind of damage, and looked at again.

    The store's lock is held meanwhile. Beside a writer of another process one committed state is looked at.

    Raises:
        ReadOnlyError: the store is open read-only, and something was to be mended or rebuilt.
    """
    store = writer.store
    with store.lock:
        store.check_open()
        if fix or rebuild:
            store.check_writable()
        done = [*_rebuild_engine(store), *rebuild_arrays(store)] if rebuild else []
        diagnosis = _look(store)
        if fix and diagnosis.fixable:
            if any(check.name in _OF_ARRAYS and not check.ok for check in diagnosis.checks):
                done += rebuild_arrays(store)
            done += mend(writer, diagnosis.sequence, diagnosis.faults, diagnosis.disorder, diagnosis.lessons)
            diagnosis = _look(store)
        trip = [] if store.backend.read_only else [round_trip(store)]
        return DoctorReport((*diagnosis.checks, *trip), tuple(done))


def _rebuild_engine(store: Store) -> list[str]:
    """The indexes of the engine, where it has any."""
    return store.backend.rebuild() if isinstance(store.backend, Inspectable) else []


def _look(store: Store) -> Diagnosis:
    """Looks until the store did not change meanwhile; where it always does, the last look says so."""
    found = Diagnosis()
    for _ in range(_LOOKS):
        with store.one_state():
            before = store.backend.sequence()
            found = _look_once(store)
            found.sequence = before
            if store.backend.sequence() == before:
                return found
    found.checks.append(checks.unsteady())
    return found


def _look_once(store: Store) -> Diagnosis:
    found = Diagnosis()
    found.checks += checks.check_engine(store)
    found.checks += checks.check_schema(store)
    if store.backend.meta() is None:
        return found
    embedder, strange = checks.check_embedder(store)
    found.faults = [*graph_faults(store.backend), *strange]
    found.checks += checks.check_graph(found.faults)
    found.disorder = check_rules(store.backend)
    found.checks += checks.check_rules_of(found.disorder)
    found.lessons = wrong_lessons(store.backend)
    found.checks += checks.check_lessons(found.lessons)
    found.checks += embedder
    found.checks += checks.check_index(store)
    return found
