BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE dimensionings (
	id INTEGER NOT NULL, 
	benchmark TEXT NOT NULL, 
	content TEXT NOT NULL, 
	platform TEXT NOT NULL, 
	runtime TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	created_unix_s FLOAT NOT NULL, 
	identity TEXT NOT NULL, 
	result TEXT NOT NULL, 
	CONSTRAINT pk_dimensionings PRIMARY KEY (id), 
	CONSTRAINT uq_dimensionings_benchmark UNIQUE (benchmark, content, platform, runtime, metric)
);
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
INSERT INTO "experiments" VALUES(1,'01HF7YAT010000000000000001','comparison',1700000001.0,'runs','{"identifier":"01HF7YAT010000000000000001","kind":"comparison","variants":[{"name":"old","launch":{"argv":["sleep","0.1"],"environment":[["LANG",null]],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":null,"expected_exit_codes":[0],"cpus":null,"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false,"memory_nodes":null,"clock_shift_s":null,"warmup_runs":0,"stack_hold_bytes":null},"prepare":null,"cleanup":null,"parameters":[],"group":"","build":null,"checks":[],"host":[],"setup":null},{"name":"new","launch":{"argv":["sleep","\udcff"],"environment":[],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":5.0,"expected_exit_codes":[0],"cpus":[0,1],"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false,"memory_nodes":null,"clock_shift_s":null,"warmup_runs":0,"stack_hold_bytes":null},"prepare":["true"],"cleanup":null,"parameters":[["size","10"]],"group":"","build":null,"checks":[],"host":[],"setup":null}],"metrics":[{"name":"wall_time","unit":"s","direction":"lower","source":"record","pattern":null},{"name":"max_rss","unit":"bytes","direction":"lower","source":"record","pattern":null}],"seed":7,"order":"blocks","warmup_count":0,"stopping":{"precision_ratio":0.01,"minimum_blocks":10,"budget_s":null,"budget_runs":null,"runs":3,"effect":""},"setup":null,"confidence":0.95,"margin_ratio":0.01,"method":"fieller","quiet":[],"note":"","iterations":null,"levels":[],"dimensioned":[],"nuisance":[],"setup_each":"block","varied":[],"events":null}');
INSERT INTO "experiments" VALUES(2,'01HF7YAT020000000000000002','comparison',1700000002.0,'runs','{"identifier":"01HF7YAT020000000000000002","kind":"comparison","variants":[{"name":"old","launch":{"argv":["sleep","0.1"],"environment":[["LANG",null]],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":null,"expected_exit_codes":[0],"cpus":null,"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false,"memory_nodes":null,"clock_shift_s":null,"warmup_runs":0,"stack_hold_bytes":null},"prepare":null,"cleanup":null,"parameters":[],"group":"","build":null,"checks":[],"host":[],"setup":null},{"name":"new","launch":{"argv":["sleep","\udcff"],"environment":[],"environment_padding_bytes":0,"working_directory":null,"stdin_file":null,"timeout_s":5.0,"expected_exit_codes":[0],"cpus":[0,1],"aslr":null,"nice":null,"realtime_priority":null,"stack_padding_bytes":0,"limits":[],"private_network":false,"memory_nodes":null,"clock_shift_s":null,"warmup_runs":0,"stack_hold_bytes":null},"prepare":["true"],"cleanup":null,"parameters":[["size","10"]],"group":"","build":null,"checks":[],"host":[],"setup":null}],"metrics":[{"name":"wall_time","unit":"s","direction":"lower","source":"record","pattern":null},{"name":"max_rss","unit":"bytes","direction":"lower","source":"record","pattern":null}],"seed":7,"order":"blocks","warmup_count":0,"stopping":{"precision_ratio":0.01,"minimum_blocks":10,"budget_s":null,"budget_runs":null,"runs":3,"effect":""},"setup":null,"confidence":0.95,"margin_ratio":0.01,"method":"fieller","quiet":[],"note":"","iterations":null,"levels":[],"dimensioned":[],"nuisance":[],"setup_each":"block","varied":[],"events":null}');
CREATE TABLE measurements (
	trial_id INTEGER NOT NULL, 
	metric TEXT NOT NULL, 
	values_f64le BLOB NOT NULL, 
	CONSTRAINT pk_measurements PRIMARY KEY (trial_id, metric), 
	CONSTRAINT fk_measurements_trial_id FOREIGN KEY(trial_id) REFERENCES trials (id) ON DELETE CASCADE
);
INSERT INTO "measurements" VALUES(1,'wall_time',X'8195438B6CE7BB3F');
INSERT INTO "measurements" VALUES(1,'max_rss',X'0000000000000000');
INSERT INTO "measurements" VALUES(3,'wall_time',X'295C8FC2F528BC3F');
INSERT INTO "measurements" VALUES(3,'max_rss',X'000000000000B040');
INSERT INTO "measurements" VALUES(4,'wall_time',X'00000000000000009A9999999999B93F9A9999999999C93F343333333333D33F9A9999999999D93F000000000000E03F343333333333E33F676666666666E63F9A9999999999E93FCDCCCCCCCCCCEC3F000000000000F03F9A9999999999F13F343333333333F33FCDCCCCCCCCCCF43F676666666666F63F000000000000F83F9A9999999999F93F343333333333FB3FCDCCCCCCCCCCFC3F676666666666FE3F');
INSERT INTO "measurements" VALUES(4,'extra',X'000000000000F83F0000000000000440');
INSERT INTO "measurements" VALUES(5,'wall_time',X'D122DBF97E6ABC3F');
INSERT INTO "measurements" VALUES(5,'max_rss',X'000000000000C040');
INSERT INTO "measurements" VALUES(6,'wall_time',X'9A9999999999B93F');
INSERT INTO "measurements" VALUES(6,'max_rss',X'000000000000A040');
INSERT INTO "measurements" VALUES(7,'wall_time',X'295C8FC2F528BC3F');
INSERT INTO "measurements" VALUES(7,'max_rss',X'000000000000B040');
INSERT INTO "measurements" VALUES(8,'wall_time',X'4260E5D022DBB93F');
INSERT INTO "measurements" VALUES(8,'max_rss',X'000000000000B840');
INSERT INTO "measurements" VALUES(9,'wall_time',X'D122DBF97E6ABC3F');
INSERT INTO "measurements" VALUES(9,'max_rss',X'000000000000C040');
INSERT INTO "measurements" VALUES(10,'wall_time',X'EA263108AC1CBA3F');
INSERT INTO "measurements" VALUES(10,'max_rss',X'000000000000C440');
INSERT INTO "measurements" VALUES(11,'wall_time',X'79E9263108ACBC3F');
INSERT INTO "measurements" VALUES(11,'max_rss',X'000000000000C840');
INSERT INTO "measurements" VALUES(12,'wall_time',X'EA263108AC1CBA3F');
INSERT INTO "measurements" VALUES(12,'max_rss',X'000000000000C440');
INSERT INTO "measurements" VALUES(13,'wall_time',X'79E9263108ACBC3F');
INSERT INTO "measurements" VALUES(13,'max_rss',X'000000000000C840');
CREATE TABLE sessions (
	experiment_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	provenance TEXT NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (experiment_id, place), 
	CONSTRAINT fk_sessions_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
INSERT INTO "sessions" VALUES(1,0,'{"host":{"kernel":"6.1","cpus":[0,1]}}');
INSERT INTO "sessions" VALUES(2,0,'{"host":{"kernel":"6.1","cpus":[0,1]}}');
INSERT INTO "sessions" VALUES(1,1,'{"unix_s":1700000900.0,"host":{"kernel":"6.1","cpus":[0,1]}}');
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
	details TEXT NOT NULL, levels TEXT DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_trials PRIMARY KEY (id), 
	CONSTRAINT uq_trials_experiment_id UNIQUE (experiment_id, position), 
	CONSTRAINT fk_trials_experiment_id FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
INSERT INTO "trials" VALUES(1,1,-1,0,0,0,1,'ok',NULL,1699999999.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(2,1,0,0,0,0,0,'failed','exit',1700000000.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":3,"stderr_tail":"no such thing\n"}','[]');
INSERT INTO "trials" VALUES(3,1,1,0,1,3,0,'ok',NULL,1700000001.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[2,1]');
INSERT INTO "trials" VALUES(4,1,2,1,0,0,0,'ok',NULL,1700000002.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(5,1,3,1,1,0,0,'ok',NULL,1700000003.25,0.125,'{}','{"error":"\udcff"}','[]');
INSERT INTO "trials" VALUES(6,2,0,0,0,0,0,'ok',NULL,1700000000.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(7,2,1,0,1,0,0,'ok',NULL,1700000001.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(8,2,2,1,0,0,0,'ok',NULL,1700000002.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(9,2,3,1,1,0,0,'ok',NULL,1700000003.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(10,2,4,2,0,0,0,'ok',NULL,1700000004.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(11,2,5,2,1,0,0,'ok',NULL,1700000005.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(12,1,4,2,0,0,0,'ok',NULL,1700000004.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
INSERT INTO "trials" VALUES(13,1,5,2,1,0,0,'ok',NULL,1700000005.25,0.125,'{"cpus":"0-1","aslr":true}','{"exit_code":0}','[]');
COMMIT;
PRAGMA user_version = 2;
PRAGMA application_id = 1398033497;
