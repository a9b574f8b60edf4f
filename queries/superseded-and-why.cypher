// name: superseded-and-why
// What is no longer current: memories that were superseded, retracted or archived, their successor, and the reason on record.
// parameters: limit: int = 50
// returns: retired_at, status, kind, was, now, reason, evidence, memory_id, successor_id
MATCH (old:Memory {project_id: $project_id})
WHERE old.status <> 'active'
OPTIONAL MATCH (successor:Memory)-[i:INHERITS_FROM {origin: 'revision'}]->(old)
RETURN old.retired_at AS retired_at, old.status AS status, old.kind AS kind, old.text AS was,
       coalesce(successor.text, '') AS now, coalesce(old.retired_reason, '') AS reason,
       coalesce(i.evidence, '') AS evidence, old.id AS memory_id, coalesce(successor.id, '') AS successor_id
ORDER BY retired_at DESC, memory_id
LIMIT $limit
