// name: most-relied-on
// The memories that most others rest on: the ones whose error would cost most.
// parameters: limit: int = 20
// returns: resting, kind, agent, text, memory_id
MATCH (m:Memory {project_id: $project_id, status: 'active'})
OPTIONAL MATCH (m)-[:SUPPORTS]->(supported:Memory)
WITH m, count(DISTINCT supported.id) AS supported
OPTIONAL MATCH (heir:Memory)-[:INHERITS_FROM]->(m)
WITH m, supported, count(DISTINCT heir.id) AS heirs
WITH m, supported + heirs AS resting
WHERE resting > 0
RETURN resting, m.kind AS kind, coalesce(m.agent, '') AS agent, m.text AS text, m.id AS memory_id
ORDER BY resting DESC, memory_id
LIMIT $limit
