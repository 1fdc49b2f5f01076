#include "engine/execute.h"

#include <signal.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/destination.h"
#include "engine/must_equal.h"
#include "engine/task_runner.h"
#include "engine/tasks.h"
#include "engine/work.h"

namespace rekey {
namespace {

// A worker takes so many bytes of tasks at a time, that small ones cost nothing to hand out.
constexpr uint64_t kBatchBytes = 8 << 20;
constexpr size_t kBatchTasks = 1024;
constexpr std::chrono::milliseconds kProgressPeriod(200);

// Threads that carry out all tasks of a run.
class Job {
 public:
  Job(const Plan& plan, const Placed& placed, const Tasks& tasks, const Destination& out,
      const ExecuteOptions& options)
      : plan_(plan), placed_(placed), tasks_(tasks), out_(out), options_(options) {}

  Status Run();

  // After Run: of all tasks that wanted one.
  std::vector<CrcPart>& crcs() { return crcs_; }

 private:
  struct Batch {
    size_t begin = 0, end = 0;
  };
  Batch Take();
  void StartWriting(Batch batch) const;
  void Work();
  void StartThreads(std::vector<std::thread>* threads);
  void Report();
  void Fail(Diagnostic error);

  const Plan& plan_;
  const Placed& placed_;
  const Tasks& tasks_;
  const Destination& out_;
  const ExecuteOptions& options_;

  std::atomic<uint64_t> done_{0};
  std::atomic<size_t> current_{0};  // one of the tasks at work
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // of all below
  std::condition_variable finished_;
  size_t next_ = 0;     // first task that nobody has taken
  size_t working_ = 0;  // threads
  std::optional<Diagnostic> error_;
  std::vector<CrcPart> crcs_;
};

Job::Batch Job::Take() {
  const std::lock_guard lock(mutex_);
  Batch batch{next_, next_};
  if (failed_) return batch;
  for (uint64_t bytes = 0; batch.end < tasks_.list.size() && bytes < kBatchBytes &&
                           batch.end - batch.begin < kBatchTasks;
       ++batch.end) {
    bytes += tasks_.list[batch.end].bytes;
  }
  next_ = batch.end;
  return batch;
}

// Tasks follow each other in the output, so those of one file are one range.
void Job::StartWriting(Batch batch) const {
  for (size_t i = batch.begin; i < batch.end;) {
    const Task& first = tasks_.list[i];
    size_t last = i;
    while (last + 1 < batch.end && tasks_.list[last + 1].file == first.file) ++last;
    const uint64_t end = tasks_.list[last].to + tasks_.list[last].bytes;
    out_.StartWriting(first.file, first.to, end - first.to);
    i = last + 1;
  }
}

void Job::Fail(Diagnostic error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_ = true;
}

void Job::Work() {
  TaskRunner runner(plan_, placed_, tasks_, out_, [this](uint64_t bytes) {
    done_ += bytes;
    return !failed_;
  });
  for (Batch batch = Take(); batch.begin < batch.end; batch = Take()) {
    for (size_t i = batch.begin; i < batch.end && !failed_; ++i) {
      current_ = i;
      Status done = runner.Run(tasks_.list[i]);
      if (!done.ok()) Fail(std::move(done).error());
    }
    StartWriting(batch);
  }
  const std::lock_guard lock(mutex_);
  crcs_.insert(crcs_.end(), runner.crcs().begin(), runner.crcs().end());
  --working_;
  finished_.notify_all();
}

// Signals are for the main thread alone: its handler removes temporary files, which no other
// thread makes.
void Job::StartThreads(std::vector<std::thread>* threads) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 0; i < std::max(1, options_.threads); ++i) {
      threads->emplace_back([this] { Work(); });
    }
  } catch (const std::system_error&) {
    // As many as the system gives.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Job::Report() {
  if (!options_.progress || tasks_.list.empty()) return;
  const Task& task = tasks_.list[current_];
  Progress progress;
  progress.done = done_;
  progress.total = tasks_.bytes;
  progress.key = plan_.rewritten.outputs[placed_.files[task.file].outputs[task.position]].key;
  options_.progress(progress);
}

Status Job::Run() {
  std::vector<std::thread> threads;
  {
    std::unique_lock lock(mutex_);
    StartThreads(&threads);
    working_ = threads.size();
    while (!finished_.wait_for(lock, kProgressPeriod, [this] { return working_ == 0; })) {
      lock.unlock();
      Report();
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (threads.empty()) {
    working_ = 1;
    Work();
  }
  Report();
  if (error_) return *std::move(error_);
  return {};
}

std::string LittleEndian(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

// The CRC of each tensor of a file, by position, from those of its parts.
std::vector<uint32_t> CombineCrcs(std::vector<CrcPart>* parts, uint32_t file, size_t positions) {
  std::vector<uint32_t> crcs(positions, 0);
  for (const CrcPart& part : *parts) {  // by file and offset
    if (part.file != file) continue;
    uint32_t* crc = &crcs[part.position];
    *crc = static_cast<uint32_t>(crc32_combine(*crc, part.crc32, static_cast<z_off_t>(part.bytes)));
  }
  return crcs;
}

// Headers and directories, over what copies have put into gaps; then the CRCs in them.
Status WriteLiterals(const Placed& placed, const Destination& out, std::vector<CrcPart>* parts) {
  std::sort(parts->begin(), parts->end(), [](const CrcPart& a, const CrcPart& b) {
    return std::pair(a.file, a.to) < std::pair(b.file, b.to);
  });
  for (uint32_t i = 0; i < placed.files.size(); ++i) {
    const PlacedFile& file = placed.files[i];
    for (const Literal& literal : file.layout.literals) {
      Status written =
          WriteAt(out.fd(i), literal.offset, literal.bytes.data(), literal.bytes.size());
      if (!written.ok()) return written;
    }
    const std::vector<uint32_t> crcs = CombineCrcs(parts, i, file.outputs.size());
    for (const CrcPatch& patch : file.layout.crcs) {
      const std::string bytes = LittleEndian(crcs[patch.tensor]);
      Status written = WriteAt(out.fd(i), patch.offset, bytes.data(), bytes.size());
      if (!written.ok()) return written;
    }
  }
  return {};
}

// All inputs are still those whose headers were read.
Status CheckInputsUnchanged(const Catalog& catalog) {
  for (const FileInfo& file : catalog.files) {
    Result<InputFile> again = InputFile::Reopen(file);
    if (!again.ok()) return std::move(again).error();
  }
  return {};
}

// Which output could not be written, and what became of it.
Diagnostic Named(Diagnostic error, const Placed& placed) {
  if (error.name == "no-space" || error.name == "write-failed") {
    error.Note("the output was to be `" + placed.out + "`, of " + std::to_string(placed.total) +
               " bytes; what was written of it is removed");
  }
  return error;
}

}  // namespace

Result<Done> Execute(const Plan& plan, const Placed& placed, const ExecuteOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Catalog& catalog = plan.rewritten.graph.catalog();
  Result<Destination> out = Destination::Open(placed, catalog, options.force);
  if (!out.ok()) return std::move(out).error();
  Result<Tasks> tasks = TasksOf(plan, placed);
  if (!tasks.ok()) return std::move(tasks).error();
  Status status = CheckMustEqual(plan, out->folder());
  if (!status.ok()) return std::move(status).error();

  Job job(plan, placed, *tasks, *out, options);
  status = out->Create();
  if (status.ok()) status = job.Run();
  if (status.ok()) status = WriteLiterals(placed, *out, &job.crcs());
  if (status.ok()) status = CheckInputsUnchanged(catalog);
  if (status.ok()) status = out->Commit();
  if (!status.ok()) return Named(std::move(status).error(), placed);

  Done done;
  done.bytes_written = placed.index_text.size();
  for (const PlacedFile& file : placed.files) done.bytes_written += file.layout.size;
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return done;
}

}  // namespace rekey
