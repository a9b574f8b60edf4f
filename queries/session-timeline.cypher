// name: session-timeline
// One episode from first to last: its turns and outcomes in the order of their time.
// parameters: session_id: text, limit: int = 500
// returns: valid_from, kind, agent, text, memory_id
MATCH (m:Memory {project_id: $project_id})-[p:PART_OF]->(s:Session {id: $session_id})
RETURN m.valid_from AS valid_from, m.kind AS kind, coalesce(m.agent, '') AS agent, m.text AS text, m.id AS memory_id
ORDER BY valid_from, p.position, memory_id
LIMIT $limit
