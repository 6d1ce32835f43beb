-- A store as version 1 wrote it (sqlite3 .dump, with its two header fields).
PRAGMA application_id = 1398033497;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE experiments (
	id INTEGER NOT NULL, 
	identifier TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	created_unix_s FLOAT NOT NULL, 
	stopped TEXT, 
	specification TEXT NOT NULL, 
	CONSTRAINT pk_experiments PRIMARY KEY (id), 
	CONSTRAINT uq_experiments_identifier UNIQUE (identifier)
);
INSERT INTO "experiments" VALUES(1,'01HF7YAT010000000000000001','comparison',1700000001.0,'runs','{"identifier":"01HF7YAT010000000000000001","kind":"comparison","variants":[{"name":"old","launch":{"argv":["sleep","0.1"],"environment":[["LANG",null]],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":null,"expected_exit_codes":[0],"cpus":null,"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false},"prepare":null,"cleanup":null,"parameters":[],"group":""},{"name":"new","launch":{"argv":["sleep","\udcff"],"environment":[],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":5.0,"expected_exit_codes":[0],"cpus":[0,1],"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false},"prepare":["true"],"cleanup":null,"parameters":[["size","10"]],"group":""}],"metrics":[{"name":"wall_time","unit":"s","direction":"lower","source":"record","pattern":null},{"name":"max_rss","unit":"bytes","direction":"lower","source":"record","pattern":null}],"seed":7,"order":"blocks","warmup_count":0,"stopping":{"precision_ratio":0.01,"minimum_blocks":10,"budget_s":null,"budget_runs":null,"runs":3},"setup":null,"confidence":0.95,"margin_ratio":0.01,"method":"fieller","quiet":[],"note":""}');
CREATE TABLE measurements (
	trial_id INTEGER NOT NULL, 
	metric TEXT NOT NULL, 
	values_f64le BLOB NOT NULL, 
	CONSTRAINT pk_measurements PRIMARY KEY (trial_id, metric), 
	CONSTRAINT fk_measurements_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
INSERT INTO "measurements" VALUES(1,'wall_time',X'9A9999999999B93F');
INSERT INTO "measurements" VALUES(1,'max_rss',X'000000000000A040');
INSERT INTO "measurements" VALUES(2,'wall_time',X'295C8FC2F528BC3F');
INSERT INTO "measurements" VALUES(2,'max_rss',X'000000000000B040');
INSERT INTO "measurements" VALUES(3,'wall_time',X'4260E5D022DBB93F');
INSERT INTO "measurements" VALUES(3,'max_rss',X'000000000000B840');
INSERT INTO "measurements" VALUES(4,'wall_time',X'D122DBF97E6ABC3F');
INSERT INTO "measurements" VALUES(4,'max_rss',X'000000000000C040');
INSERT INTO "measurements" VALUES(5,'wall_time',X'EA263108AC1CBA3F');
INSERT INTO "measurements" VALUES(5,'max_rss',X'000000000000C440');
INSERT INTO "measurements" VALUES(6,'wall_time',X'79E9263108ACBC3F');
INSERT INTO "measurements" VALUES(6,'max_rss',X'000000000000C840');
CREATE TABLE sessions (
	experiment_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	provenance TEXT NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (experiment_id, place), 
	CONSTRAINT fk_sessions_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
INSERT INTO "sessions" VALUES(1,0,'{"host":{"kernel":"6.1","cpus":[0,1]}}');
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	experiment_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	block INTEGER NOT NULL, 
	variant INTEGER NOT NULL, 
	build INTEGER NOT NULL, 
	warmup BOOLEAN NOT NULL, 
	status TEXT NOT NULL, 
	reason TEXT, 
	started_unix_s FLOAT NOT NULL, 
	spent_s FLOAT NOT NULL, 
	realised TEXT NOT NULL, 
	details TEXT NOT NULL, 
	CONSTRAINT pk_trials PRIMARY KEY (id), 
	CONSTRAINT uq_trials_experiment_id UNIQUE (experiment_id, position), 
	CONSTRAINT fk_trials_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
INSERT INTO "trials" VALUES(1,1,0,0,0,0,0,'ok',NULL,1700000000.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
INSERT INTO "trials" VALUES(2,1,1,0,1,0,0,'ok',NULL,1700000001.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
INSERT INTO "trials" VALUES(3,1,2,1,0,0,0,'ok',NULL,1700000002.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
INSERT INTO "trials" VALUES(4,1,3,1,1,0,0,'ok',NULL,1700000003.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
INSERT INTO "trials" VALUES(5,1,4,2,0,0,0,'ok',NULL,1700000004.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
INSERT INTO "trials" VALUES(6,1,5,2,1,0,0,'ok',NULL,1700000005.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}');
COMMIT;
