"""The derived index: all arrays of one project, loaded from the graph and kept current by every committed write.

`ProjectIndex` is what others use; it knows backends only.

    index = ProjectIndex.load(backend, project_id)
    backend.write(work); index.apply(work)              # same data, nothing is read again

    rows, cosines = index.nearest(vector, 10)           # exact, filtered first; mask=, exclude=
    rows, counts = index.sharing(entity_keys)           # memories that mention any of them, and how many of them
    index.row(memory_id)                                # row number or None; index.ids[row], index.keys[row]
    index.by_hash(kind, owner, content_hash)            # owner: (agent, user_id, category); active ones only by default
    index.entity_key(name), index.entity_aliases(key)   # entities by canonical name or alias
    index.last_of_session(session_id)                   # the row that the next turn follows
    index.active(), index.kind_mask(kinds)              # masks over rows

Row numbers are stable while the index lives; a removed memory's row is never used again. `index.lock` is taken by
`apply`, `nearest`, `sharing` and `by_hash`; hold it over several calls that must see one state.
"""

from alma_graph.index.project import ProjectIndex

__all__ = ["ProjectIndex"]
