// Carries out tasks, one after another, for one thread: it owns that thread's open files and
// buffers.
//
//   TaskRunner runner(plan, placed, tasks, out, progress);
//   Status done = runner.Run(tasks.list[0]);
#ifndef REKEY_ENGINE_TASK_RUNNER_H_
#define REKEY_ENGINE_TASK_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/copy_range.h"
#include "engine/destination.h"
#include "engine/plan.h"
#include "engine/status.h"
#include "engine/tasks.h"
#include "engine/work.h"

namespace rekey {

// The CRC-32 of a part of a tensor.
struct CrcPart {
  uint32_t file = 0;      // of the placed plan
  uint32_t position = 0;  // of the tensor in it
  uint64_t to = 0;        // offset in the output file
  uint64_t bytes = 0;
  uint32_t crc32 = 0;
};

class TaskRunner {
 public:
  // All but `progress` must outlive the runner. `progress` gets the bytes since its last call, and
  // returns false to stop.
  TaskRunner(const Plan& plan, const Placed& placed, const Tasks& tasks, const Destination& out,
             std::function<bool(uint64_t bytes)> progress);

  Status Run(const Task& task);

  // Of all tasks so far that wanted one.
  const std::vector<CrcPart>& crcs() const { return crcs_; }

 private:
  Status Make(const Task& task, uint32_t* crc);
  const Lowered& LoweredOf(const Task& task) const;
  Status CopyFile(const Task& task, uint32_t* crc);
  Status CopyPacked(const Task& task, uint32_t* crc);
  Status WriteConstant(const Task& task, uint32_t* crc);
  Status Write(const Task& task, uint64_t at, const void* bytes, size_t size, uint32_t* crc);
  Status Move(const Task& task, uint32_t* crc);
  Status ReadCrc(const Task& task, uint32_t* crc);

  const Plan& plan_;
  const Placed& placed_;
  const Tasks& tasks_;
  const Destination& out_;
  Worker worker_;
  std::vector<CopyMethods> methods_;  // by file of the catalog
  std::vector<CrcPart> crcs_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_TASK_RUNNER_H_
