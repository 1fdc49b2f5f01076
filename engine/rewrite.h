// Program x keys -> who becomes what: the passes run on names, shapes and dtypes alone.
//
// Rewrite takes the catalog's entries through every pass: edits, the first rule that fits claims,
// `else`, affixes. What comes out is a list of output keys, each with a tensor expression over the
// checkpoint (graph.h), and the whole account of it: what each rule claimed, what was dropped and
// by whom, what passed. Collisions, unused rules, shadowed rules, gaps of a merge are decided here.
// No weights are read and no bytes are placed.
//
//   Rewritten r = Rewrite(program, catalog, {});
//   for (const OutputKey& o : r.outputs) std::cout << o.key << " " <<
//   ToString(r.graph.type(o.tensor));
#ifndef REKEY_ENGINE_REWRITE_H_
#define REKEY_ENGINE_REWRITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/graph.h"
#include "engine/program.h"
#include "grammar/diagnostic.h"

namespace rekey {

// Which rule, by pass and place in it; rule -1 is the pass's `else`.
struct RuleRef {
  int pass = 0;
  int rule = -1;
  friend bool operator==(const RuleRef&, const RuleRef&) = default;
};

struct OutputKey {
  std::string_view key;  // lives in Rewritten::text or the catalog
  TensorId tensor = 0;
  RuleRef by;            // the last rule that claimed it; of the last pass for a passed key
  bool claimed = false;  // by a rule of any pass
  int output = -1;       // index into Program::outputs when a fill, copy or tie made it
  int tied_to = -1;      // index into Rewritten::outputs: a `tie` (the same bytes, one storage)
};

struct DroppedKey {
  std::string_view key;     // the catalog's key
  std::string_view at_key;  // as it stood in the pass that dropped it
  RuleRef by;
};

// `drop P same as K` and `| same`: tensors whose bytes must be equal; proven before writing.
struct MustEqual {
  std::vector<TensorId> tensors;
  std::vector<std::string_view> keys;
  Span where;
};

struct RuleUse {
  uint64_t claimed = 0;  // keys it claimed (members of incomplete groups not counted)
  uint64_t made = 0;     // keys it put out
  // One example for reports: "module.fc.weight" -> "fc.weight" f32[10, 64].
  std::vector<std::string_view> example_sources;
  std::vector<TensorType> example_source_types;
  std::vector<std::string_view> example_targets;
  std::vector<TensorType> example_target_types;
};

struct EditUse {
  uint64_t touched = 0;  // keys it changed
};

struct Rewritten {
  explicit Rewritten(const Catalog& catalog) : graph(catalog) {}
  TensorGraph graph;
  std::vector<OutputKey> outputs;  // in the order of the first source key; fills and ties last
  std::vector<DroppedKey> dropped;
  std::vector<std::string_view> passed;  // source keys that no pass's rules claimed and that stay
  std::vector<std::vector<RuleUse>> rules;  // by pass, by rule
  std::vector<std::vector<EditUse>> edits;  // by pass, by edit
  std::vector<MustEqual> must_equal;
  uint64_t touched = 0;     // source keys that some rule or edit touched
  Diagnostics diagnostics;  // errors: the plan must not be run
  std::shared_ptr<TextArena> text = std::make_shared<TextArena>();
};

// One thing that happened to a key, for `explain`.
struct Event {
  enum class Kind {
    kEdit,        // `before` became `after`
    kClaimed,     // by rule; `after` is the target
    kWouldClaim,  // a later rule matches too
    kGuardFalse,  // the pattern fits, the guard does not hold
    kIncomplete,  // a merge member whose group is incomplete
    kPassed,
    kDropped,
    kRefused,  // by else
    kAffix,
    kOutput,  // made, copied or tied by an output statement
  };
  Kind kind;
  int pass = 0;
  Span where;
  std::string before, after;
  std::string note;
};

struct RewriteOptions {
  bool testing = false;  // no unused-rule lints, no expects, no no-tensors error
  // When set, events of keys equal to `watch` (a source key) or that end as `watch` (an output
  // key) are recorded, and those of everything that flows into it.
  std::string watch;
  std::vector<Event>* events = nullptr;
};

Rewritten Rewrite(const Program& program, const Catalog& catalog, const RewriteOptions& options);

}  // namespace rekey

#endif  // REKEY_ENGINE_REWRITE_H_
