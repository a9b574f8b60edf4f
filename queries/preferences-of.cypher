// name: preferences-of
// What one user wants, the newest first, with what speaks against it.
// parameters: user_id: text, limit: int = 50
// returns: category, preference, status, valid_from, contradictions, memory_id
MATCH (m:Memory {project_id: $project_id, kind: 'user_preference', user_id: $user_id})
OPTIONAL MATCH (m)-[:CONTRADICTS]-(other:Memory)
WHERE other.status <> 'retracted'
RETURN m.category AS category, m.text AS preference, m.status AS status, m.valid_from AS valid_from,
       count(DISTINCT other.id) AS contradictions, m.id AS memory_id
ORDER BY valid_from DESC, memory_id
LIMIT $limit
