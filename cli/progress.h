// How far a run is, on stderr: one line that is overwritten on a terminal, or one JSON object each
// second with --progress json. Nothing else sees it.
//
//   ProgressLine line(settings);
//   options.progress = line.Callback();   // empty when nothing is to be shown
//   line.Clear();                         // before other text goes to stderr
#ifndef REKEY_CLI_PROGRESS_H_
#define REKEY_CLI_PROGRESS_H_

#include <chrono>
#include <functional>

#include "cli/settings.h"
#include "engine/execute.h"

namespace rekey::cli {

class ProgressLine {
 public:
  explicit ProgressLine(const Settings& settings);

  // Calls must come from one thread at a time; the line must outlive the callback.
  std::function<void(const Progress&)> Callback();
  void Clear();

 private:
  enum class Mode { kNone, kTerminal, kJson };
  using Clock = std::chrono::steady_clock;
  void Show(const Progress& progress);
  void ShowOnTerminal(const Progress& progress, double seconds);
  void ShowAsJson(const Progress& progress, double seconds);

  Mode mode_ = Mode::kNone;
  Clock::time_point start_;
  Clock::time_point last_;
  bool shown_ = false;
};

}  // namespace rekey::cli

#endif  // REKEY_CLI_PROGRESS_H_
