// The plan: every output, its type, and how its bytes are made; then where every byte goes.
//
// MakePlan runs Rewrite, lowers each output, and decides all that can be decided without weights:
// collisions, `expect`, `count`, zero keys, unused rules. Place gives each output a file and an
// offset. After that nothing can go wrong but the disk. It prints as `plan` and `explain` do.
//
//   Plan plan = MakePlan(program, catalog, {});
//   if (!HasErrors(plan.diagnostics)) Result<Placed> placed = Place(plan, "out.safetensors", {});
#ifndef REKEY_ENGINE_PLAN_H_
#define REKEY_ENGINE_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/formats/format.h"
#include "engine/lower.h"
#include "engine/program.h"
#include "engine/rewrite.h"

namespace rekey {

struct Plan {
  explicit Plan(Rewritten r) : rewritten(std::move(r)) {}
  Rewritten rewritten;
  std::vector<Lowered> lowered;  // one for each rewritten output
  // For each output the index of the first one with the same bytes: a `tie`, or two names of one
  // source tensor; its own index otherwise.
  std::vector<uint32_t> same_as;
  std::vector<ModuleMetadata> module_metadata;  // of the outputs: module paths follow the renames
  uint64_t bytes = 0;                           // of all outputs, tied ones once
  Diagnostics diagnostics;                      // all of Rewrite's too; errors: must not be run
};

struct PlanOptions {
  bool testing = false;  // a test block: no file-level expects, no unused-rule lints
  // Lints not to be reported, even where `strict` makes them errors (engine/lints.h).
  std::vector<std::string> allow;
};

// Program and catalog must outlive the plan.
Plan MakePlan(const Program& program, const Catalog& catalog, const PlanOptions& options);

// True if there are rules or edits and not one of them touched a key: the program exits with 1 and
// writes nothing. `keep` and an explicit `else` say that nothing is meant to change.
bool TouchesNothing(const Plan& plan, const Program& program);

// One line for each output, then for each dropped key, as tests compare them:
//
//   fc.weight f32[10, 64] copy <- module.fc.weight
//   head.weight f32[10, 64] same as fc.weight
//   drop optimizer.step
std::string Dump(const Plan& plan);

// One output file of a run.
struct PlacedFile {
  std::string path;               // final path
  std::vector<uint32_t> outputs;  // indices into the plan, in the order of the description
  FileLayout layout;              // offsets by position in `outputs`
};

struct Placed {
  std::vector<PlacedFile> files;
  // A small file written last (an index.json): path and text; empty path: none.
  std::string index_path, index_text;
  bool folder = false;  // OUT is a folder that appears as a whole
  std::string out;      // as the user named it
  uint64_t total = 0;   // bytes of all files
};

struct PlaceOptions {
  std::string to;                          // --to FORMAT; "" picks by the extension of OUT
  std::optional<uint64_t> max_shard_size;  // bytes
  bool copy_ties = false;                  // --ties copy
  std::vector<std::pair<std::string, std::string>> stamp;  // --stamp: metadata to add
};

// Errors: an extension that names no format, a dtype the format lacks, sinks that collide.
Result<Placed> Place(const Plan& plan, const Program& program, const std::string& out,
                     const PlaceOptions& options);

}  // namespace rekey

#endif  // REKEY_ENGINE_PLAN_H_
