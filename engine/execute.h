// A placed plan to files: the only part of rekey that writes.
//
// Output goes to temporary files beside the destination, is filled by worker threads, synced, and
// renamed into place; a folder appears as a whole. On any failure, and on SIGINT or SIGTERM,
// nothing is left behind and an existing output is as it was. The inputs are never written to.
//
//   ExecuteOptions options;  options.threads = 2;
//   Result<Done> done = Execute(plan, placed, options);
#ifndef REKEY_ENGINE_EXECUTE_H_
#define REKEY_ENGINE_EXECUTE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "engine/plan.h"
#include "engine/status.h"

namespace rekey {

struct Progress {
  uint64_t done = 0;  // bytes
  uint64_t total = 0;
  std::string key;  // one of the tensors at work
};

struct ExecuteOptions {
  int threads = 2;
  bool force = false;  // replace an existing OUT
  // Called from one thread a few times a second; may be empty.
  std::function<void(const Progress&)> progress;
};

struct Done {
  uint64_t bytes_written = 0;
  double seconds = 0;
};

// Errors: OUT exists (without force), OUT is an input, a folder that cannot be written, no space
// (checked before a byte is written), an input that changed, tensors that must be equal and are
// not (MustEqual), a CRC that does not fit is a warning of the reader and not an error here.
Result<Done> Execute(const Plan& plan, const Placed& placed, const ExecuteOptions& options);

// Removes the temporary files of a run that is interrupted; async-signal-safe. The program installs
// it for SIGINT, SIGTERM and SIGHUP.
void RemoveTemporaries();

}  // namespace rekey

#endif  // REKEY_ENGINE_EXECUTE_H_
