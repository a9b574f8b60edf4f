// name: standing-anti-patterns
// What not to do, with the failures that show it and the successes that speak against it, the most failures first.
// parameters: limit: int = 20
// returns: anti_pattern, category, agent, failures, successes, confidence, memory_id
MATCH (p:Memory {project_id: $project_id, kind: 'anti_pattern', status: 'active'})
OPTIONAL MATCH (failure:Memory {kind: 'outcome', status: 'active'})-[:SUPPORTS]->(p)
WITH p, count(DISTINCT failure.id) AS failures
OPTIONAL MATCH (success:Memory {kind: 'outcome', status: 'active'})-[:CONTRADICTS]->(p)
RETURN p.text AS anti_pattern, p.category AS category, coalesce(p.agent, '') AS agent, failures,
       count(DISTINCT success.id) AS successes, p.confidence AS confidence, p.id AS memory_id
ORDER BY failures DESC, memory_id
LIMIT $limit
