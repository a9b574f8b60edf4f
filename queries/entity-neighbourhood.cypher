// name: entity-neighbourhood
// What is said of one entity: the relations that it has to other entities, and the memory that says so.
// parameters: entity: text, limit: int = 50
// returns: subject, predicate, object, negated, confidence, memory_id
MATCH (subject:Entity {project_id: $project_id})-[r:RELATES_TO]->(object:Entity)
WHERE toLower(subject.name) = toLower($entity) OR toLower(object.name) = toLower($entity)
   OR subject.canonical = toLower($entity) OR object.canonical = toLower($entity)
RETURN subject.name AS subject, r.predicate AS predicate, object.name AS object, r.negated AS negated,
       r.confidence AS confidence, r.memory_id AS memory_id
ORDER BY subject, predicate, object, memory_id
LIMIT $limit
