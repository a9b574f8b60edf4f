// name: entity-companions
// Which other things are mentioned together with one entity, and in how many memories.
// parameters: entity: text, limit: int = 20
// returns: companion, type, memories
MATCH (e:Entity {project_id: $project_id})<-[:MENTIONS]-(m:Memory)
WHERE (toLower(e.name) = toLower($entity) OR e.canonical = toLower($entity)) AND m.status = 'active'
WITH DISTINCT e, m
MATCH (m)-[:MENTIONS]->(other:Entity)
WHERE other.key <> e.key
RETURN other.name AS companion, other.type AS type, count(DISTINCT m.id) AS memories
ORDER BY memories DESC, companion, type
LIMIT $limit
