// name: strategies-that-work
// What has worked: heuristics with their successes, failures and success rate, the most confident first.
// parameters: min_supports: int = 1, limit: int = 20
// returns: strategy, category, agent, supports, failures, success_rate, confidence, memory_id
MATCH (h:Memory {project_id: $project_id, kind: 'heuristic', status: 'active'})
OPTIONAL MATCH (success:Memory {status: 'active'})-[s:SUPPORTS]->(h)
WHERE s.retired_at IS NULL
WITH h, count(DISTINCT success.id) AS supports
WHERE supports >= $min_supports
OPTIONAL MATCH (failure:Memory {kind: 'outcome', status: 'active'})-[:CONTRADICTS]->(h)
WITH h, supports, count(DISTINCT failure.id) AS failures
RETURN h.text AS strategy, h.category AS category, coalesce(h.agent, '') AS agent, supports, failures,
       CASE WHEN supports + failures = 0 THEN NULL ELSE 1.0 * supports / (supports + failures) END AS success_rate,
       h.confidence AS confidence, h.id AS memory_id
ORDER BY confidence DESC, memory_id
LIMIT $limit
