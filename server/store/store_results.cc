// Statements about attempts, their results and the cache of results.
#include "common/base/status.h"
#include "server/store/store.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// Room for one row's text; the whole is in the result.
constexpr size_t kMessageBytes = 2000;

// {"ttir":12.5,"ptx":3.1}
std::string StagesJson(const v1::ProbeResult& probe) {
  google::protobuf::Map<std::string, std::string> times;
  std::string out;
  for (const v1::StageTime& stage : probe.stages()) {
    times.clear();
    times[stage.name()] = "";
    std::string key = JsonOf(times);  // {"name":""}
    key.resize(key.size() - 3);
    out +=
        (out.empty() ? "{" : ",") + key.substr(1) + std::to_string(stage.ms());
  }
  return out.empty() ? "{}" : out + "}";
}

template <typename Value>
std::optional<int64_t> Maybe(bool present, Value value) {
  return present ? std::optional<int64_t>(value) : std::nullopt;
}

}  // namespace

absl::Status Store::InsertAttempt(const OpenAttempt& attempt, int64_t session,
                                  const v1::Environment& environment,
                                  const v1::Gpu* gpu, absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "INSERT INTO attempt_row(fence, task, node, session, gpu_index, gpu, "
      "driver, environment, environment_hash, python_version, triton_version, "
      "torch_version, state, leased_us) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,'leased',?)",
      attempt.fence, attempt.task, attempt.node, session, attempt.gpu,
      gpu ? gpu->name() : std::string(), gpu ? gpu->driver() : std::string(),
      environment.name(), environment.hash(), environment.python_version(),
      environment.triton_version(), environment.torch_version(), Micros(now));
}

absl::StatusOr<std::optional<AttemptRow>> Store::FindAttempt(int64_t fence) {
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT task, node, state, reason, result_sha256, "
                  "gpu_index, environment_hash FROM attempt_row WHERE fence=?",
                  fence));
  std::optional<AttemptRow> row;
  if (rows.Next()) {
    row = AttemptRow{rows.Int(0),  rows.Text(1), rows.Text(2),
                     rows.Text(3), rows.Text(4), static_cast<int>(rows.Int(5)),
                     rows.Text(6)};
  }
  KF_RETURN_IF_ERROR(rows.status());
  return row;
}

absl::Status Store::ReviveAttempt(const OpenTask& task,
                                  const std::string& node) {
  KF_RETURN_IF_ERROR(Begin());
  KF_RETURN_IF_ERROR(db_->Run(
      "UPDATE attempt_row SET state='leased', reason='', finished_us=NULL "
      "WHERE fence=?",
      task.fence));
  return db_->Run(
      "UPDATE task_row SET state='leased', reason='', node=? "
      "WHERE id=? AND fence=? AND state='waiting'",
      node, task.id, task.fence);
}

absl::Status Store::EndAttempt(int64_t fence, const std::string& state,
                               const std::string& reason, absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE attempt_row SET state=?, reason=?, finished_us=? WHERE fence=?",
      state, reason, Micros(now), fence);
}

absl::Status Store::SaveResult(int64_t fence, const std::string& state,
                               const std::string& reason,
                               const std::string& sha256,
                               const v1::TaskResult& result, absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  const v1::ProbeResult& p = result.probe();
  const v1::Failure& f = p.failure();
  const v1::Resources& r = p.resources();
  const bool failed = p.has_failure();
  KF_RETURN_IF_ERROR(db_->Run(
      "UPDATE attempt_row SET state=?, reason=?, finished_us=?, "
      "result_sha256=?, outcome=?, failure_stage=?, error_class=?, "
      "failure_message=?, failure_line=?, signal=?, total_ms=?, stages=?, "
      "toolchain=?, registers=?, agprs=?, sgprs=?, spill_store_bytes=?, "
      "spill_load_bytes=?, vgpr_spills=?, sgpr_spills=?, stack_bytes=?, "
      "shared_bytes=?, scratch_bytes=?, num_warps=?, num_stages=?, num_ctas=?, "
      "alternative=?, peak_rss_bytes=?, detail=?, result=? WHERE fence=?",
      state, reason, Micros(now), sha256, v1::Outcome::Code_Name(p.outcome()),
      f.stage(), f.error_class(), f.message().substr(0, kMessageBytes),
      Maybe(failed, f.line()), Maybe(failed, f.signal()), p.total_ms(),
      StagesJson(p), JsonOf(p.environment()),
      Maybe(r.has_registers(), r.registers()), Maybe(r.has_agprs(), r.agprs()),
      Maybe(r.has_sgprs(), r.sgprs()),
      Maybe(r.has_spill_store_bytes(), r.spill_store_bytes()),
      Maybe(r.has_spill_load_bytes(), r.spill_load_bytes()),
      Maybe(r.has_vgpr_spills(), r.vgpr_spills()),
      Maybe(r.has_sgpr_spills(), r.sgpr_spills()),
      Maybe(r.has_stack_bytes(), r.stack_bytes()),
      Maybe(r.has_shared_bytes(), r.shared_bytes()),
      Maybe(r.has_scratch_bytes(), r.scratch_bytes()),
      Maybe(r.has_num_warps(), r.num_warps()),
      Maybe(r.has_num_stages(), r.num_stages()),
      Maybe(r.has_num_ctas(), r.num_ctas()), p.alternative(),
      p.peak_rss_bytes(), p.detail_json(), Blob{result.SerializeAsString()},
      fence));
  return SaveIsa(fence, result);
}

absl::Status Store::SaveIsa(int64_t fence, const v1::TaskResult& result) {
  static constexpr const char* kInsert =
      "INSERT INTO isa_row VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
  int n = 0;
  for (const v1::IsaKernel& kernel : result.isa()) {
    for (const v1::MemoryCount& m : kernel.memory()) {
      KF_RETURN_IF_ERROR(db_->Run(
          kInsert, fence, n++, kernel.symbol(), kernel.dialect(), kernel.arch(),
          m.space() + "_" + m.direction(), m.space(), m.direction(), m.bytes(),
          m.d16(), m.to_lds(), m.spill(), m.count(), m.in_loops()));
    }
    for (const v1::FamilyCount& f : kernel.families()) {
      KF_RETURN_IF_ERROR(db_->Run(kInsert, fence, n++, kernel.symbol(),
                                  kernel.dialect(), kernel.arch(), f.family(),
                                  "", "", 0, 0, 0, 0, f.count(), f.in_loops()));
    }
  }
  return absl::OkStatus();
}

absl::Status Store::PutCache(const std::string& key, const std::string& hash,
                             int64_t fence) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run("INSERT OR REPLACE INTO cache_row VALUES(?,?,?)", key, hash,
                  fence);
}

absl::StatusOr<std::vector<Store::CacheHit>> Store::FindCache(
    const std::string& key) {
  std::vector<CacheHit> hits;
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT c.environment_hash, c.fence, a.outcome "
                  "FROM cache_row c JOIN attempt_row a ON a.fence = c.fence "
                  "WHERE c.content_key=?",
                  key));
  while (rows.Next()) {
    hits.push_back({rows.Text(0), rows.Int(1), OutcomeOf(rows.View(2))});
  }
  KF_RETURN_IF_ERROR(rows.status());
  return hits;
}

}  // namespace kernelfleet::server
