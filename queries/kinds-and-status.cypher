// name: kinds-and-status
// What the project holds: memories by kind and status, with the first and the last time they were recorded.
// parameters:
// returns: kind, status, memories, first_recorded, last_recorded
MATCH (m:Memory {project_id: $project_id})
RETURN m.kind AS kind, m.status AS status, count(m) AS memories,
       min(m.recorded_at) AS first_recorded, max(m.recorded_at) AS last_recorded
ORDER BY kind, status
