// A placed plan cut into tasks: what one worker does from start to end, in the order of the output.
//
// Tasks never overlap in the output, so their order and their number change nothing. Extents that
// lie one after another on both sides are one task; so are those with the same small gap on both
// sides, as torch's headers between records: what is copied into the gap is overwritten by the
// literals of the layout, which are written last. It reads and writes nothing.
//
//   Tasks tasks = TasksOf(plan, placed);
//   tasks.list[0]   // copy 16 MB of input 0 from 704 to 640 of output 0
#ifndef REKEY_ENGINE_TASKS_H_
#define REKEY_ENGINE_TASKS_H_

#include <cstdint>
#include <vector>

#include "engine/plan.h"
#include "engine/status.h"
#include "engine/work.h"

namespace rekey {

struct Task {
  enum class Kind : uint8_t {
    kCopy,      // `source` is a file of the catalog, `from` an offset in it
    kRead,      // `source` is a packed storage, `from` an offset in its plain bytes
    kConstant,  // `source` is one of the tensor's constants, `from` an offset in its text
    kMove,      // `source` is one of Tasks::tiles
  };
  Kind kind = Kind::kCopy;
  bool crc = false;       // the CRC-32 of the bytes is wanted
  uint32_t file = 0;      // of the placed plan
  uint32_t position = 0;  // of the (first) tensor in the file
  uint32_t source = 0;
  uint64_t from = 0;
  uint64_t to = 0;  // offset in the output file
  uint64_t bytes = 0;
};

struct Tasks {
  std::vector<Task> list;
  std::vector<Tile> tiles;
  uint64_t bytes = 0;  // of all
};

// Errors: a recipe that this build does not carry out.
Result<Tasks> TasksOf(const Plan& plan, const Placed& placed);

}  // namespace rekey

#endif  // REKEY_ENGINE_TASKS_H_
