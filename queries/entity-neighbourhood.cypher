// name: entity-neighbourhood
// What is said of one entity: the relations that it has to other entities, and the memory that says so.
// parameters: entity: text, limit: int = 50
// returns: subject, predicate, object, negated, confidence, memory_id
MATCH (s:Entity {project_id: $project_id})-[r:RELATES_TO]->(o:Entity)
WHERE toLower(s.name) = toLower($entity) OR toLower(o.name) = toLower($entity)
   OR s.canonical = toLower($entity) OR o.canonical = toLower($entity)
RETURN s.name AS subject, r.predicate AS predicate, o.name AS object, r.negated AS negated,
       r.confidence AS confidence, r.memory_id AS memory_id
ORDER BY subject, predicate, object, memory_id
LIMIT $limit
