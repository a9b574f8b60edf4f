// name: agents-disagree
// Which agents contradict each other, how often, and how many of those contradictions nobody has settled.
// parameters: limit: int = 20, min_score: float = 0.5
// returns: agent, other_agent, contradictions, unsettled, highest_score
MATCH (newer:Memory {project_id: $project_id})-[c:CONTRADICTS]->(older:Memory)
WHERE newer.agent <> older.agent AND c.score >= $min_score
  AND newer.status <> 'retracted' AND older.status <> 'retracted'
  AND NOT (newer.kind = 'outcome' AND older.kind IN ['heuristic', 'anti_pattern'])
WITH CASE WHEN newer.agent < older.agent THEN newer.agent ELSE older.agent END AS agent,
     CASE WHEN newer.agent < older.agent THEN older.agent ELSE newer.agent END AS other_agent,
     c.score AS score, c.disposition AS disposition
RETURN agent, other_agent, count(*) AS contradictions,
       count(CASE WHEN disposition = 'open' THEN 1 END) AS unsettled, max(score) AS highest_score
ORDER BY contradictions DESC, agent, other_agent
LIMIT $limit
