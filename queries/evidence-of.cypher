// name: evidence-of
// Everything one edge away that speaks for or against a memory, and what it was made from.
// parameters: memory_id: text
// returns: relation, kind, agent, text, detail, memory_id
MATCH (other:Memory)-[s:SUPPORTS]->(m:Memory {project_id: $project_id, id: $memory_id})
RETURN 'supported by' AS relation, other.kind AS kind, coalesce(other.agent, '') AS agent, other.text AS text,
       coalesce(s.origin, '') AS detail, other.id AS memory_id
UNION ALL
MATCH (other:Memory)-[c:CONTRADICTS]->(m:Memory {project_id: $project_id, id: $memory_id})
RETURN 'contradicted by' AS relation, other.kind AS kind, coalesce(other.agent, '') AS agent, other.text AS text,
       coalesce(c.signal, '') AS detail, other.id AS memory_id
UNION ALL
MATCH (m:Memory {project_id: $project_id, id: $memory_id})-[c:CONTRADICTS]->(other:Memory)
RETURN 'contradicts' AS relation, other.kind AS kind, coalesce(other.agent, '') AS agent, other.text AS text,
       coalesce(c.signal, '') AS detail, other.id AS memory_id
UNION ALL
MATCH (m:Memory {project_id: $project_id, id: $memory_id})-[i:INHERITS_FROM]->(other:Memory)
RETURN 'comes from' AS relation, other.kind AS kind, coalesce(other.agent, '') AS agent, other.text AS text,
       coalesce(i.mode, '') AS detail, other.id AS memory_id
