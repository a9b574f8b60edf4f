// name: repeated-texts
// Texts that the store holds more than once (equal but for case, width and spacing): what repeats, and how often.
// parameters: limit: int = 20
// returns: copies, kind, agents, text
MATCH (m:Memory {project_id: $project_id, status: 'active'})
WITH m.content_hash AS hash, m.kind AS kind, count(m) AS copies, count(DISTINCT m.agent) AS agents, min(m.text) AS text
WHERE copies > 1
RETURN copies, kind, agents, text
ORDER BY copies DESC, text, kind
LIMIT $limit
