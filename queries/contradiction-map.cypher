// name: contradiction-map
// What cannot both hold: pairs of memories that contradict each other, the surest first, with both agents.
// Outcomes that speak against a heuristic or an anti-pattern are left out unless include_outcomes is true.
// parameters: limit: int = 20, min_score: float = 0.5, include_outcomes: bool = false
// returns: score, signal, disposition, newer_agent, newer, older_agent, older, newer_id, older_id, contradiction_id
MATCH (newer:Memory {project_id: $project_id})-[c:CONTRADICTS]->(older:Memory)
WHERE c.score >= $min_score AND newer.status <> 'retracted' AND older.status <> 'retracted'
  AND ($include_outcomes OR NOT (newer.kind = 'outcome' AND older.kind IN ['heuristic', 'anti_pattern']))
RETURN c.score AS score, c.signal AS signal, c.disposition AS disposition,
       coalesce(newer.agent, '') AS newer_agent, newer.text AS newer,
       coalesce(older.agent, '') AS older_agent, older.text AS older,
       newer.id AS newer_id, older.id AS older_id, c.id AS contradiction_id
ORDER BY score DESC, contradiction_id, newer_id, older_id
LIMIT $limit
