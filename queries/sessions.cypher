// name: sessions
// The episodes of the project: how many memories belong to each, and from when to when.
// parameters: limit: int = 50
// returns: session_id, memories, first, last
MATCH (m:Memory {project_id: $project_id})-[:PART_OF]->(s:Session)
RETURN s.id AS session_id, count(DISTINCT m.id) AS memories, min(m.valid_from) AS first, max(m.valid_from) AS last
ORDER BY first, session_id
LIMIT $limit
