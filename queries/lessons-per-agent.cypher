// name: lessons-per-agent
// What each agent has contributed: memories by kind, with the successes and failures that stand behind a heuristic.
// parameters: limit: int = 100
// returns: agent, kind, memories, backs_heuristics, against_heuristics
MATCH (m:Memory {project_id: $project_id, status: 'active'})
OPTIONAL MATCH (m)-[:SUPPORTS]->(backed:Memory {kind: 'heuristic'})
WITH m, count(DISTINCT backed.id) AS backed
OPTIONAL MATCH (m)-[:CONTRADICTS]->(opposed:Memory {kind: 'heuristic'})
WITH m, backed, count(DISTINCT opposed.id) AS opposed
RETURN coalesce(m.agent, '') AS agent, m.kind AS kind, count(m) AS memories,
       count(CASE WHEN backed > 0 THEN 1 END) AS backs_heuristics,
       count(CASE WHEN opposed > 0 THEN 1 END) AS against_heuristics
ORDER BY agent, memories DESC, kind
LIMIT $limit
