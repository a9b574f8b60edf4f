BEGIN TRANSACTION;
CREATE TABLE _schema_versions (
id INTEGER PRIMARY KEY AUTOINCREMENT,
version TEXT NOT NULL UNIQUE,
applied_at TEXT NOT NULL,
description TEXT,
checksum TEXT
);
INSERT INTO "_schema_versions" VALUES(1,'1.0.0','2026-11-30T16:28:03.620814+00:00','Initial ALMA schema with core tables','2f4e5f38976f5c8c');
INSERT INTO "_schema_versions" VALUES(2,'1.1.0','2026-11-30T16:28:03.804931+00:00','Add workflow context layer (checkpoints, workflow_outcomes, artifact_links)','9d3f04320e17facf');
INSERT INTO "_schema_versions" VALUES(3,'1.2.0','2026-11-30T16:28:03.958165+00:00','Persist verification + forget_audit (Agent Memory Atlas gaps)','67ae38c9fd6eae5a');
CREATE TABLE alma_forget_audit (
id TEXT PRIMARY KEY,
project_id TEXT NOT NULL,
memory_type TEXT NOT NULL,
memory_id TEXT NOT NULL,
agent TEXT,
reason TEXT,
strategy TEXT,
pruned_at TEXT NOT NULL,
metadata TEXT
);
CREATE TABLE anti_patterns (
id TEXT PRIMARY KEY,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
pattern TEXT NOT NULL,
why_bad TEXT,
better_alternative TEXT,
occurrence_count INTEGER DEFAULT 1,
last_seen TEXT,
created_at TEXT,
metadata TEXT
, verification_status TEXT, verification_method TEXT, verification_confidence REAL, verification_reason TEXT, verified_at TEXT, contradicting_source TEXT, tenant_id TEXT DEFAULT 'default', workflow_id TEXT);
INSERT INTO "anti_patterns" VALUES('anti_1','helena','shop','using sleep() for async waits','flaky tests','wait for the condition',4,'2025-03-01T09:30:00+00:00','2025-02-26T09:30:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL);
CREATE TABLE artifact_links (
id TEXT PRIMARY KEY,
memory_id TEXT NOT NULL,
artifact_type TEXT NOT NULL,
storage_url TEXT NOT NULL,
filename TEXT,
mime_type TEXT,
size_bytes INTEGER,
checksum TEXT,
metadata TEXT,
created_at TEXT NOT NULL
);
CREATE TABLE checkpoints (
id TEXT PRIMARY KEY,
run_id TEXT NOT NULL,
node_id TEXT NOT NULL,
state TEXT NOT NULL,
sequence_number INTEGER DEFAULT 0,
branch_id TEXT,
parent_checkpoint_id TEXT,
state_hash TEXT,
metadata TEXT,
created_at TEXT NOT NULL
);
CREATE TABLE domain_knowledge (
id TEXT PRIMARY KEY,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
domain TEXT,
fact TEXT NOT NULL,
source TEXT,
confidence REAL DEFAULT 1.0,
last_verified TEXT,
metadata TEXT
, verification_status TEXT, verification_method TEXT, verification_confidence REAL, verification_reason TEXT, verified_at TEXT, contradicting_source TEXT, tenant_id TEXT DEFAULT 'default', workflow_id TEXT);
INSERT INTO "domain_knowledge" VALUES('know_1','victor','shop','auth','Login uses JWT with a 24 hour expiry','code_analysis',0.9,'2025-03-01T09:30:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL);
INSERT INTO "domain_knowledge" VALUES('know_2','victor','shop','auth','It''s O''Brien''s "service" – naïve 東京','hearsay',1.0,'2025-03-01T09:30:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL);
CREATE TABLE embeddings (
id INTEGER PRIMARY KEY AUTOINCREMENT,
memory_type TEXT NOT NULL,
memory_id TEXT NOT NULL,
embedding BLOB NOT NULL,
UNIQUE(memory_type, memory_id)
);
INSERT INTO "embeddings" VALUES(1,'heuristics','heur_1',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(2,'outcomes','out_0',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(3,'outcomes','out_1',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(4,'outcomes','out_2',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(5,'outcomes','out_3',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(6,'outcomes','out_4',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(7,'outcomes','out_other',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(8,'domain_knowledge','know_1',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(9,'domain_knowledge','know_2',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
INSERT INTO "embeddings" VALUES(10,'anti_patterns','anti_1',X'CDCCCC3DCDCC4C3E9A99993ECDCCCC3E');
CREATE TABLE heuristics (
id TEXT PRIMARY KEY,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
condition TEXT NOT NULL,
strategy TEXT NOT NULL,
confidence REAL DEFAULT 0.0,
occurrence_count INTEGER DEFAULT 0,
success_count INTEGER DEFAULT 0,
last_validated TEXT,
created_at TEXT,
metadata TEXT
, verification_status TEXT, verification_method TEXT, verification_confidence REAL, verification_reason TEXT, verified_at TEXT, contradicting_source TEXT, tenant_id TEXT DEFAULT 'default', workflow_id TEXT, run_id TEXT, node_id TEXT);
INSERT INTO "heuristics" VALUES('heur_1','helena','shop','form validation','test the happy path first',0.85,10,8,'2025-03-01T09:30:00+00:00','2025-01-30T09:30:00+00:00','{"note": "kept"}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
CREATE TABLE memory_archive (
id TEXT PRIMARY KEY,
original_id TEXT NOT NULL,
memory_type TEXT NOT NULL,
content TEXT NOT NULL,
embedding BLOB,
metadata TEXT,
original_created_at TEXT NOT NULL,
archived_at TEXT NOT NULL,
archive_reason TEXT NOT NULL,
final_strength REAL NOT NULL,
project_id TEXT NOT NULL,
agent TEXT NOT NULL,
restored INTEGER DEFAULT 0,
restored_at TEXT,
restored_as TEXT
);
CREATE TABLE memory_strength (
memory_id TEXT PRIMARY KEY,
memory_type TEXT NOT NULL,
project_id TEXT,
agent TEXT,
initial_strength REAL DEFAULT 1.0,
decay_half_life_days INTEGER DEFAULT 30,
created_at TEXT NOT NULL,
last_accessed TEXT NOT NULL,
access_count INTEGER DEFAULT 0,
explicit_importance REAL DEFAULT 0.5,
reinforcement_events TEXT DEFAULT '[]'
);
INSERT INTO "memory_strength" VALUES('out_0','outcome','shop','victor',1.0,30,'2025-03-01T09:30:00+00:00','2025-03-01T09:30:00+00:00',3,0.5,'[]');
CREATE TABLE outcomes (
id TEXT PRIMARY KEY,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
task_type TEXT,
task_description TEXT NOT NULL,
success INTEGER DEFAULT 0,
strategy_used TEXT,
duration_ms INTEGER,
error_message TEXT,
user_feedback TEXT,
timestamp TEXT,
metadata TEXT
, verification_status TEXT, verification_method TEXT, verification_confidence REAL, verification_reason TEXT, verified_at TEXT, contradicting_source TEXT, tenant_id TEXT DEFAULT 'default', workflow_id TEXT, run_id TEXT, node_id TEXT);
INSERT INTO "outcomes" VALUES('out_0','victor','shop','deploy','deploy the auth service, run 0',1,'blue-green deployment',1200,NULL,'fine','2025-03-01T09:30:00+00:00','{"run": 0}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES('out_1','victor','shop','deploy','deploy the auth service, run 1',1,'blue-green deployment',1201,NULL,'fine','2025-03-01T10:30:00+00:00','{"run": 1}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES('out_2','victor','shop','deploy','deploy the auth service, run 2',1,'blue-green deployment',1202,NULL,'fine','2025-03-01T11:30:00+00:00','{"run": 2}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES('out_3','victor','shop','deploy','deploy the auth service, run 3',0,'big bang release',1203,'timeout after 30 s',NULL,'2025-03-01T12:30:00+00:00','{"run": 3}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES('out_4','victor','shop','deploy','deploy the auth service, run 4',0,'big bang release',1204,'timeout after 30 s',NULL,'2025-03-01T13:30:00+00:00','{"run": 4}',NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES('out_other','victor','bank','report','write the report',1,'start from the numbers',NULL,NULL,NULL,'2025-03-01T09:30:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'default',NULL,NULL,NULL);
CREATE TABLE preferences (
id TEXT PRIMARY KEY,
user_id TEXT NOT NULL,
category TEXT,
preference TEXT NOT NULL,
source TEXT,
confidence REAL DEFAULT 1.0,
timestamp TEXT,
metadata TEXT
, verification_status TEXT, verification_method TEXT, verification_confidence REAL, verification_reason TEXT, verified_at TEXT, contradicting_source TEXT);
INSERT INTO "preferences" VALUES('pref_1','maya','style','no emojis in documentation','explicit_instruction',1.0,'2025-03-01T09:30:00+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE retrieval_feedback (
id TEXT PRIMARY KEY,
memory_id TEXT NOT NULL,
memory_type TEXT NOT NULL,
query TEXT,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
signal TEXT NOT NULL,
timestamp TEXT NOT NULL,
metadata_json TEXT DEFAULT '{}'
);
CREATE TABLE session_handoffs (
id TEXT PRIMARY KEY,
project_id TEXT NOT NULL,
agent TEXT NOT NULL,
session_id TEXT NOT NULL,
last_action TEXT NOT NULL,
last_outcome TEXT NOT NULL,
current_goal TEXT,
key_decisions TEXT,
active_files TEXT,
blockers TEXT,
next_steps TEXT,
test_status TEXT,
confidence_level REAL DEFAULT 0.5,
risk_flags TEXT,
session_start TEXT,
session_end TEXT,
duration_ms INTEGER DEFAULT 0,
metadata TEXT,
created_at TEXT NOT NULL
);
CREATE TABLE workflow_outcomes (
id TEXT PRIMARY KEY,
tenant_id TEXT,
workflow_id TEXT NOT NULL,
run_id TEXT NOT NULL,
agent TEXT NOT NULL,
project_id TEXT NOT NULL,
result TEXT NOT NULL,
summary TEXT,
strategies_used TEXT,
successful_patterns TEXT,
failed_patterns TEXT,
extracted_heuristics TEXT,
extracted_anti_patterns TEXT,
duration_seconds REAL,
node_count INTEGER,
error_message TEXT,
metadata TEXT,
created_at TEXT NOT NULL
);
COMMIT;
