// name: knowledge-by-domain
// How much is known in each domain, by how many agents, and how much of it is contradicted.
// parameters: limit: int = 50
// returns: domain, facts, agents, contradicted
MATCH (m:Memory {project_id: $project_id, kind: 'domain_knowledge', status: 'active'})
OPTIONAL MATCH (m)-[:CONTRADICTS]-(other:Memory)
WHERE other.status <> 'retracted'
WITH m, count(DISTINCT other.id) AS opponents
RETURN m.category AS domain, count(m) AS facts, count(DISTINCT m.agent) AS agents,
       count(CASE WHEN opponents > 0 THEN 1 END) AS contradicted
ORDER BY facts DESC, domain
LIMIT $limit
