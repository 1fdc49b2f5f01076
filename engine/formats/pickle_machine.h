// Python pickles as data: protocols 0 to 5, bytes -> ObjectGraph.
//
// The machine runs the opcodes of Python's pickletools.py on a stack of node numbers. It imports
// nothing and calls nothing: GLOBAL gives the name of a class, REDUCE a node that says which call
// was asked for. What the nodes mean - tensors, modules - is for others (torch_tensors.h). It is
// not a validator either: a pickle that Python would refuse may pass.
//
//   ObjectGraph graph;
//   PickleInput input(bytes);
//   Result<Pickle> pickle = LoadPickle(input, "`model.pt`", graph);
//   graph.Find(pickle->root, "args.num_layers")
//
// Memory is in proportion to the bytes of the pickle: each opcode takes one at least and makes one
// node at most, lengths are checked before anything is allocated, memo slots are kept sparse.
// Lists and dicts may contain themselves. Objects of Python 2 (byte strings that are UTF-8) come
// out as text. Refused: EXT codes, which only a registry in the program could resolve, and buffers
// outside of the stream.
#ifndef REKEY_ENGINE_FORMATS_PICKLE_MACHINE_H_
#define REKEY_ENGINE_FORMATS_PICKLE_MACHINE_H_

#include <cstdint>
#include <string_view>

#include "engine/formats/pickle_input.h"
#include "engine/object.h"
#include "engine/status.h"

namespace rekey {

struct Pickle {
  ObjectId root = kNoObject;
  uint64_t bytes = 0;  // that the pickle took, STOP included
};

// One pickle from where the input stands. `name` is its name for messages. Errors: it ends too
// early, an opcode that does not fit the stack, a memo slot that was never filled, EXT or buffer
// opcodes, a protocol above 5.
Result<Pickle> LoadPickle(PickleInput& input, std::string_view name, ObjectGraph& graph);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_PICKLE_MACHINE_H_
