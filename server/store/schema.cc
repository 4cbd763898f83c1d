#include "server/store/schema.h"

#include <fmt/format.h>

#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

// Times are microseconds since 1970 (_us). States, phases and outcomes are the
// words of the protos. A kernel's id is job << 20 | index.
constexpr const char* kTables = R"sql(
CREATE TABLE job_row(
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  workflow TEXT NOT NULL,
  user TEXT NOT NULL,
  title TEXT NOT NULL,
  priority INTEGER NOT NULL,
  kernels INTEGER NOT NULL,
  planned INTEGER NOT NULL,
  tasks INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  findings INTEGER NOT NULL DEFAULT 0,
  from_cache INTEGER NOT NULL DEFAULT 0,
  created_us INTEGER NOT NULL,
  finished_us INTEGER,
  last_sequence INTEGER NOT NULL DEFAULT 0,
  idempotency_key TEXT,
  body_sha256 TEXT NOT NULL,
  labels TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  spec BLOB NOT NULL
);
CREATE UNIQUE INDEX job_key ON job_row(user, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX job_open ON job_row(id) WHERE state='active';

CREATE TABLE kernel_row(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  source_file TEXT NOT NULL,
  file_sha256 TEXT NOT NULL,
  module_digest TEXT NOT NULL,
  classification TEXT NOT NULL,
  spec BLOB NOT NULL
);
CREATE INDEX kernel_name ON kernel_row(name);

CREATE TABLE task_row(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  phase TEXT NOT NULL,
  target TEXT NOT NULL,
  variant TEXT NOT NULL,
  needs_gpu INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  step TEXT NOT NULL DEFAULT '',
  node TEXT NOT NULL DEFAULT '',
  fence INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  infra_failures INTEGER NOT NULL DEFAULT 0,
  lost_nodes TEXT NOT NULL DEFAULT '',
  run_at_us INTEGER NOT NULL DEFAULT 0,
  created_us INTEGER NOT NULL,
  started_us INTEGER,
  finished_us INTEGER,
  result_fence INTEGER,
  from_cache INTEGER NOT NULL DEFAULT 0,
  content_key TEXT NOT NULL DEFAULT '',
  toggles TEXT NOT NULL,
  spec BLOB NOT NULL
);
CREATE INDEX task_kernel ON task_row(job, kernel);
CREATE INDEX task_open ON task_row(id)
  WHERE state IN ('waiting', 'leased', 'running');

CREATE TABLE attempt_row(
  fence INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  node TEXT NOT NULL,
  session INTEGER NOT NULL,
  gpu_index INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  driver TEXT NOT NULL,
  environment TEXT NOT NULL,
  environment_hash TEXT NOT NULL,
  python_version TEXT NOT NULL,
  triton_version TEXT NOT NULL,
  torch_version TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  leased_us INTEGER NOT NULL,
  finished_us INTEGER,
  result_sha256 TEXT,
  outcome TEXT,
  failure_stage TEXT,
  error_class TEXT,
  failure_message TEXT,
  failure_line INTEGER,
  signal INTEGER,
  total_ms REAL,
  stages TEXT,
  toolchain TEXT,
  registers INTEGER,
  agprs INTEGER,
  sgprs INTEGER,
  spill_store_bytes INTEGER,
  spill_load_bytes INTEGER,
  vgpr_spills INTEGER,
  sgpr_spills INTEGER,
  stack_bytes INTEGER,
  shared_bytes INTEGER,
  scratch_bytes INTEGER,
  num_warps INTEGER,
  num_stages INTEGER,
  num_ctas INTEGER,
  alternative INTEGER,
  peak_rss_bytes INTEGER,
  detail TEXT,
  result BLOB
);
CREATE INDEX attempt_task ON attempt_row(task);

CREATE TABLE isa_row(
  fence INTEGER NOT NULL,
  n INTEGER NOT NULL,
  symbol TEXT NOT NULL,
  dialect TEXT NOT NULL,
  arch TEXT NOT NULL,
  family TEXT NOT NULL,
  space TEXT NOT NULL,
  direction TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  d16 INTEGER NOT NULL,
  to_lds INTEGER NOT NULL,
  spill INTEGER NOT NULL,
  count INTEGER NOT NULL,
  in_loops INTEGER NOT NULL,
  PRIMARY KEY(fence, n)
) WITHOUT ROWID;

CREATE TABLE event_row(
  job INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task INTEGER NOT NULL,
  node TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(job, sequence)
) WITHOUT ROWID;

CREATE TABLE decision_row(
  job INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  rule TEXT NOT NULL,
  target TEXT NOT NULL,
  verdict TEXT NOT NULL,
  text TEXT NOT NULL,
  inputs TEXT NOT NULL,
  time_us INTEGER NOT NULL,
  decision BLOB NOT NULL,
  PRIMARY KEY(job, kernel, rule, target)
) WITHOUT ROWID;

CREATE TABLE cache_row(
  content_key TEXT NOT NULL,
  environment_hash TEXT NOT NULL,
  fence INTEGER NOT NULL,
  PRIMARY KEY(content_key, environment_hash)
) WITHOUT ROWID;

CREATE TABLE node_row(
  node TEXT PRIMARY KEY,
  session INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  first_seen_us INTEGER NOT NULL,
  registered_us INTEGER NOT NULL,
  hostname TEXT NOT NULL,
  os TEXT NOT NULL,
  cpu TEXT NOT NULL,
  cores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  agent_version TEXT NOT NULL,
  gpus TEXT NOT NULL,
  driver TEXT NOT NULL,
  facts BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE capability_row(
  node TEXT NOT NULL,
  environment TEXT NOT NULL,
  environment_hash TEXT NOT NULL,
  triton_version TEXT NOT NULL,
  target TEXT NOT NULL,
  compiles INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY(node, environment, target)
) WITHOUT ROWID;
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW jobs AS
  SELECT job_id, state, workflow, user, title, priority, kernels, tasks,
         waiting, active, done, failed, cancelled, findings, from_cache,
         labels, reason,
         datetime(created_us / 1000000, 'unixepoch') AS created,
         datetime(finished_us / 1000000, 'unixepoch') AS finished,
         (finished_us - created_us) / 1e6 AS seconds
  FROM job_row;
CREATE VIEW kernels AS
  SELECT j.job_id, k.id & 1048575 AS kernel, k.name, k.source_file,
         k.file_sha256, k.module_digest, k.classification
  FROM kernel_row k JOIN job_row j ON j.id = k.id >> 20;
CREATE VIEW tasks AS
  SELECT t.id AS task_id, j.job_id, t.kernel, k.name, k.classification,
         t.phase, t.target, t.variant, t.toggles, t.needs_gpu, t.state,
         t.reason, t.step, t.node, t.fence, t.attempts, t.infra_failures,
         t.from_cache, t.result_fence, t.content_key,
         datetime(t.created_us / 1000000, 'unixepoch') AS created,
         datetime(t.finished_us / 1000000, 'unixepoch') AS finished,
         (t.started_us - t.created_us) / 1e6 AS queue_seconds,
         (t.finished_us - t.started_us) / 1e6 AS run_seconds
  FROM task_row t JOIN job_row j ON j.id = t.job
  JOIN kernel_row k ON k.id = t.job << 20 | t.kernel;
CREATE VIEW attempts AS
  SELECT a.fence, a.task AS task_id, j.job_id, t.kernel, t.phase, t.target,
         t.variant, a.node, a.gpu_index, a.gpu, a.driver, a.environment,
         a.environment_hash, a.python_version, a.triton_version,
         a.torch_version, a.toolchain, a.state, a.reason, a.outcome,
         datetime(a.leased_us / 1000000, 'unixepoch') AS leased,
         datetime(a.finished_us / 1000000, 'unixepoch') AS finished,
         (a.finished_us - a.leased_us) / 1e6 AS seconds, a.total_ms
  FROM attempt_row a JOIN task_row t ON t.id = a.task
  JOIN job_row j ON j.id = t.job;
CREATE VIEW probes AS
  SELECT t.id AS task_id, j.job_id, t.kernel, k.name, k.classification,
         k.file_sha256, t.phase, t.target, t.variant, t.toggles, t.from_cache,
         a.fence, a.outcome, a.failure_stage, a.error_class,
         a.failure_message, a.failure_line, a.signal, a.total_ms, a.stages,
         a.registers, a.agprs, a.sgprs, a.spill_store_bytes,
         a.spill_load_bytes, a.vgpr_spills, a.sgpr_spills, a.stack_bytes,
         a.shared_bytes, a.scratch_bytes, a.num_warps, a.num_stages,
         a.num_ctas, a.alternative, a.peak_rss_bytes, a.node, a.gpu, a.driver,
         a.environment, a.environment_hash, a.python_version,
         a.triton_version, a.torch_version, a.toolchain,
         datetime(t.finished_us / 1000000, 'unixepoch') AS finished
  FROM task_row t JOIN attempt_row a ON a.fence = t.result_fence
  JOIN job_row j ON j.id = t.job
  JOIN kernel_row k ON k.id = t.job << 20 | t.kernel;
CREATE VIEW isa AS
  SELECT t.id AS task_id, j.job_id, t.kernel, k.name, k.classification,
         t.target, t.variant, a.triton_version, a.environment_hash, i.symbol,
         i.dialect, i.arch, i.family, i.space, i.direction, i.bytes, i.d16,
         i.to_lds, i.spill, i.count, i.in_loops
  FROM task_row t JOIN attempt_row a ON a.fence = t.result_fence
  JOIN isa_row i ON i.fence = a.fence
  JOIN job_row j ON j.id = t.job
  JOIN kernel_row k ON k.id = t.job << 20 | t.kernel;
CREATE VIEW benchmarks AS
  SELECT t.id AS task_id, j.job_id, t.kernel, k.name, k.classification,
         t.target, t.variant, t.toggles, a.outcome, a.total_ms, a.detail,
         a.node, a.gpu, a.driver, a.environment_hash, a.triton_version,
         datetime(t.finished_us / 1000000, 'unixepoch') AS finished
  FROM task_row t JOIN attempt_row a ON a.fence = t.result_fence
  JOIN job_row j ON j.id = t.job
  JOIN kernel_row k ON k.id = t.job << 20 | t.kernel
  WHERE t.phase IN ('benchmark', 'ceiling');
CREATE VIEW decisions AS
  SELECT j.job_id, d.kernel, k.name, d.rule, d.target, d.verdict, d.text, d.inputs,
         datetime(d.time_us / 1000000, 'unixepoch') AS decided
  FROM decision_row d JOIN job_row j ON j.id = d.job
  JOIN kernel_row k ON k.id = d.job << 20 | d.kernel;
CREATE VIEW nodes AS
  SELECT n.node, n.state, n.reason, n.hostname, n.os, n.cpu, n.cores,
         n.memory_bytes, n.agent_version, n.gpus, n.driver,
         c.environment, c.environment_hash, c.triton_version, c.target,
         c.compiles, c.runs, c.reason AS target_reason,
         datetime(n.first_seen_us / 1000000, 'unixepoch') AS first_seen,
         datetime(n.registered_us / 1000000, 'unixepoch') AS registered
  FROM node_row n LEFT JOIN capability_row c ON c.node = n.node;
)sql";

// Attempts that hold a slot, found at the start without reading history.
constexpr char kOpenAttempts[] = R"sql(
CREATE INDEX attempt_open ON attempt_row(fence) WHERE state='leased';
)sql";

// Step n brings schema n to n + 1. Never edited after a release.
constexpr const char* kMigrations[][2] = {{kTables, kViews},
                                          {kOpenAttempts, ""}};

constexpr std::string_view kPublicViews[] = {
    "jobs", "kernels",    "tasks",     "attempts", "probes",
    "isa",  "benchmarks", "decisions", "nodes"};
constexpr std::string_view kPrivateTables[] = {
    "job_row",   "kernel_row",   "task_row",  "attempt_row", "isa_row",
    "event_row", "decision_row", "cache_row", "node_row",    "capability_row"};

}  // namespace

int SchemaVersion() { return static_cast<int>(std::size(kMigrations)); }

absl::Status Migrate(Database& db) {
  KF_ASSIGN_OR_RETURN(const int64_t found,
                      db.SelectInt(0, "PRAGMA user_version"));
  if (found > SchemaVersion()) {
    return FailedPrecondition(fmt::format(
        "the database has schema {}, this program knows {}: start the newer "
        "kernelfleet-server that wrote it, or restore an older backup",
        found, SchemaVersion()));
  }
  for (int64_t step = found; step < SchemaVersion(); ++step) {
    std::string sql = "BEGIN IMMEDIATE;";
    for (const char* part : kMigrations[step]) sql += part;
    sql += fmt::format("PRAGMA user_version={}; COMMIT;", step + 1);
    KF_RETURN_IF_ERROR(db.Execute(sql));
  }
  return absl::OkStatus();
}

std::span<const std::string_view> PublicViews() { return kPublicViews; }
std::span<const std::string_view> PrivateTables() { return kPrivateTables; }

}  // namespace kernelfleet::server
