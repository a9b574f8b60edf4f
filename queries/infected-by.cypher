// name: infected-by
// Everything that rests on a memory, up to three SUPPORTS and three INHERITS_FROM steps away: what to look at when it is wrong.
// parameters: memory_id: text, limit: int = 100
// returns: steps, kind, agent, status, text, memory_id
MATCH path = (source:Memory {project_id: $project_id, id: $memory_id})-[:SUPPORTS*0..3]->(middle:Memory)
             <-[:INHERITS_FROM*0..3]-(resting:Memory)
WHERE resting.id <> $memory_id AND resting.project_id = $project_id
RETURN min(length(path)) AS steps, resting.kind AS kind, coalesce(resting.agent, '') AS agent,
       resting.status AS status, resting.text AS text, resting.id AS memory_id
ORDER BY steps, memory_id
LIMIT $limit
