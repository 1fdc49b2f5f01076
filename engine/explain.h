// The story of one key: each edit, the rule that claimed it, rules that would have, what it became.
//
// Explain runs the rewrite with an ear on one key, a source's or an output's, and puts what
// happened in order. For a key that no rule claims it says which rules nearly fit. It is data: the
// program prints it.
//
//   Result<Story> story = Explain(program, catalog, "module.fc.weight");
//   story->events[0]           // kEdit, "module.fc.weight" -> "fc.weight", strip "module."
//   story->targets             // {"fc.weight"}
#ifndef REKEY_ENGINE_EXPLAIN_H_
#define REKEY_ENGINE_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/program.h"
#include "engine/rewrite.h"
#include "engine/status.h"

namespace rekey {

// A rule whose pattern all but fits a key.
struct NearMiss {
  RuleRef rule;
  Span where;       // the pattern
  std::string why;  // one sentence: what would have to be different
};

// Nearest first, at most `count`. `key` as it stands in that pass, after its edits.
std::vector<NearMiss> NearMisses(const Program& program, int pass, std::string_view key,
                                 size_t count = 3);

struct Story {
  std::string key;
  bool is_source = false;  // a key of the checkpoint
  bool is_output = false;  // a key that the rules put out; one key may be both
  std::vector<Event> events;
  std::vector<std::string> sources;   // of an output: what flows into it
  std::vector<std::string> targets;   // of a source: what it flows into
  bool dropped = false;               // of a source
  bool passed = false;                // of a source: no rule of any pass claimed it
  std::vector<NearMiss> near_misses;  // of a passed source
  Diagnostics diagnostics;            // errors of the rewrite: the story ends there
};

// Errors: a key that is neither, with the nearest that are.
Result<Story> Explain(const Program& program, const Catalog& catalog, const std::string& key);

}  // namespace rekey

#endif  // REKEY_ENGINE_EXPLAIN_H_
