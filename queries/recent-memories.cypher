// name: recent-memories
// What the store learned last; kind and agent narrow where they are not empty.
// parameters: limit: int = 20, kind: text = "", agent: text = ""
// returns: recorded_at, kind, agent, status, text, memory_id
MATCH (m:Memory {project_id: $project_id})
WHERE ($kind = '' OR m.kind = $kind) AND ($agent = '' OR m.agent = $agent)
RETURN m.recorded_at AS recorded_at, m.kind AS kind, coalesce(m.agent, '') AS agent, m.status AS status,
       m.text AS text, m.id AS memory_id
ORDER BY recorded_at DESC, memory_id DESC
LIMIT $limit
