// The object tree of a checkpoint: what a pickle or a JSON file holds, as data.
//
// An ObjectGraph is an arena of nodes addressed by number. Pickles share and even contain
// themselves, so it is a graph, not a tree: walkers bound their depth. Nothing in it is alive:
// a class is a name, a call is a name with arguments that was *not* made.
//
//   ObjectGraph g;  ObjectId root = ...;           // {"epoch": 3, "args": Namespace(layers=12)}
//   g.Find(root, "args.layers")                    // the node of 12
//   g.ToScalar(id)                                 // int64_t 12
#ifndef REKEY_ENGINE_OBJECT_H_
#define REKEY_ENGINE_OBJECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rekey {

using ObjectId = uint32_t;
constexpr ObjectId kNoObject = 0xffffffff;

struct Object {
  enum class Kind : uint8_t {
    kNone,
    kBool,        // integer: 0 or 1
    kInt,         // integer
    kBigInt,      // text: decimal digits, when it does not fit 64 bits
    kFloat,       // real
    kText,        // text: UTF-8
    kBytes,       // text: any bytes
    kList,        // items
    kTuple,       // items
    kSet,         // items
    kDict,        // items: key, value, key, value, ... in insertion order
    kGlobal,      // text: "module.name", never imported
    kCall,        // items: callee, arguments (a tuple), and what SETITEMS, APPENDS or ADDITEMS put
                  // into the result, if anything: a dict or list. REDUCE or NEWOBJ; never made
    kPersistent,  // items: the persistent id. integer: the reader's number for what it names, or -1
    kTensor,      // integer: an index into the reader's tensor list
  };
  Kind kind = Kind::kNone;
  // kCall of NEWOBJ, NEWOBJ_EX, OBJ or INST: an instance is made without calling __init__'s maker.
  bool is_new = false;
  // BUILD's argument, for any object that was built; the attributes when it is a dict.
  ObjectId state = kNoObject;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<ObjectId> items;
};

// A number, truth or text that rules may read with meta("path").
using Scalar = std::variant<bool, int64_t, double, std::string>;

class ObjectGraph {
 public:
  ObjectId Add(Object object);
  Object& operator[](ObjectId id) { return nodes_[id]; }
  const Object& operator[](ObjectId id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }

  // The value of `key` in a dict (a text, or the digits of an integer key; of equal keys the last),
  // in an instance's attributes, or of a list or tuple by its number; kNoObject when there is none.
  // Looks through an OrderedDict or defaultdict call to its items, and through a state pair
  // (None, dict) to its dict.
  ObjectId Child(ObjectId id, std::string_view key) const;

  // The dict node that holds an object's entries: itself for kDict, the filled dict of an
  // OrderedDict/defaultdict, the attribute dict of an instance; kNoObject otherwise.
  ObjectId Entries(ObjectId id) const;

  // "args.num_layers": Child for each segment. Keys that themselves hold dots are tried too, the
  // longest first.
  ObjectId Find(ObjectId root, std::string_view dotted_path) const;

  // A truth, a text, or a number that fits.
  std::optional<Scalar> ToScalar(ObjectId id) const;

 private:
  std::vector<Object> nodes_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_OBJECT_H_
