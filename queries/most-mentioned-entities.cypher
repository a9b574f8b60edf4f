// name: most-mentioned-entities
// The things that most memories speak of, and how many agents speak of them; entity_type narrows (TECH, PERSON, ...).
// parameters: limit: int = 20, entity_type: text = ""
// returns: entity, type, memories, agents
MATCH (m:Memory {project_id: $project_id, status: 'active'})-[:MENTIONS]->(e:Entity)
WHERE $entity_type = '' OR e.type = $entity_type
RETURN e.name AS entity, e.type AS type, count(DISTINCT m.id) AS memories, count(DISTINCT m.agent) AS agents
ORDER BY memories DESC, entity, type
LIMIT $limit
