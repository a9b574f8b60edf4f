// name: thin-evidence
// Heuristics that rest on few successes: at most max_supports of them, the thinnest first.
// parameters: max_supports: int = 3, limit: int = 20
// returns: strategy, category, agent, supports, failures, confidence, memory_id
MATCH (h:Memory {project_id: $project_id, kind: 'heuristic', status: 'active'})
OPTIONAL MATCH (success:Memory {status: 'active'})-[s:SUPPORTS]->(h)
WHERE s.retired_at IS NULL
WITH h, count(DISTINCT success.id) AS supports
WHERE supports <= $max_supports
OPTIONAL MATCH (failure:Memory {kind: 'outcome', status: 'active'})-[:CONTRADICTS]->(h)
RETURN h.text AS strategy, h.category AS category, coalesce(h.agent, '') AS agent, supports,
       count(DISTINCT failure.id) AS failures, h.confidence AS confidence, h.id AS memory_id
ORDER BY supports, confidence, memory_id
LIMIT $limit
