// A Program as text: what tests compare, and what `explain` prints of a rule.
//
//   map  regex `layers\.(\d+)\.attn`  vars i:int=1  -> "blocks." {i + 1} ".attn"
//
// Stable, one line a rule or edit, scopes already flattened. It is not rule text and is not read
// back.
#ifndef REKEY_ENGINE_PROGRAM_DUMP_H_
#define REKEY_ENGINE_PROGRAM_DUMP_H_

#include <string>

#include "engine/program.h"

namespace rekey {

std::string Dump(const Program& program);
std::string Dump(const Rule& rule);
std::string Dump(const Edit& edit);
std::string Dump(const KeyTarget& target);
std::string Dump(const Code& code);

}  // namespace rekey

#endif  // REKEY_ENGINE_PROGRAM_DUMP_H_
