// name: repeated-texts
// Memories whose text the store holds more than once (equal but for case, width and spacing), the most repeated first.
// parameters: limit: int = 50
// returns: copies, kind, agent, text, memory_id
MATCH (m:Memory {project_id: $project_id, status: 'active'})
WITH m.content_hash AS hash, m.kind AS kind, count(m) AS copies
WHERE copies > 1
MATCH (copy:Memory {project_id: $project_id, status: 'active'})
WHERE copy.content_hash = hash AND copy.kind = kind
RETURN copies, kind, coalesce(copy.agent, '') AS agent, copy.text AS text, copy.id AS memory_id
ORDER BY copies DESC, text, memory_id
LIMIT $limit
