// How rekey uses RE2: the options that every pattern of a rule file is compiled with.
//
// Keys are matched whole and may hold any UTF-8, so `.` matches newlines too; RE2's own messages
// stay silent, because errors are reported at the place in the rule file. Whoever compiles a
// KeyPattern's text again (a set of patterns) must use the same options.
//
//   re2::RE2::Set set(RegexOptions(), re2::RE2::ANCHOR_BOTH);
#ifndef REKEY_ENGINE_REGEX_H_
#define REKEY_ENGINE_REGEX_H_

#include <re2/re2.h>

#include <cstdint>

namespace rekey {

// What one compiled regex may take, its automata included.
inline constexpr int64_t kRegexMemory = int64_t{16} << 20;

inline re2::RE2::Options RegexOptions() {
  re2::RE2::Options options;
  options.set_dot_nl(true);
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemory);
  return options;
}

}  // namespace rekey

#endif  // REKEY_ENGINE_REGEX_H_
