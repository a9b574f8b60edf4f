// name: unsupported-facts
// Active domain knowledge that no other memory supports, the least confident first.
// parameters: limit: int = 50
// returns: domain, fact, agent, confidence, contradictions, memory_id
MATCH (m:Memory {project_id: $project_id, kind: 'domain_knowledge', status: 'active'})
WHERE NOT EXISTS { MATCH (supporter:Memory {status: 'active'})-[:SUPPORTS]->(m) }
OPTIONAL MATCH (m)-[c:CONTRADICTS]-(other:Memory)
WHERE other.status <> 'retracted'
RETURN m.category AS domain, m.text AS fact, coalesce(m.agent, '') AS agent, m.confidence AS confidence,
       count(DISTINCT other.id) AS contradictions, m.id AS memory_id
ORDER BY contradictions DESC, confidence, memory_id
LIMIT $limit
