// The operation table: every tensor operation of the rule language, in one place.
//
// A row gives the name, the parameters, how many tensors go in and come out, the shape and dtype
// rules, what the inverse is and how exact, and a line of documentation. The checker, `help ops`,
// the language reference, and lowering (engine/lower.h) are all made from it. To add an operation:
// one row here, one lowering, one test.
//
//   const OpInfo* op = FindOp("permute");
//   op->signature     // "permute(d0, d1, ...)"
#ifndef REKEY_ENGINE_OPS_OPS_H_
#define REKEY_ENGINE_OPS_OPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rekey {

enum class OpArity {
  kOneToOne,   // transpose, cast, ...
  kManyToOne,  // cat, stack, sum, mean, diff, same, dequant_block, dequant_mxfp4, lora
  kOneToMany,  // chunk, sections, unstack
};

enum class OpKind {
  kLayout,  // bytes of elements unchanged: affine on indices
  kValue,   // elements change
};

enum class OpGrade { kExact, kCanonical, kLossy };  // of the inverse, at best

struct OpParam {
  const char* name;
  enum class Type {
    kInt,
    kNumber,   // an integer or a real
    kIntList,  // [1, 0, 2]
    kRange,    // a..b: a ValueList of two integers
    kType,     // a dtype word
    kWord,     // one of `words`
  } type;
  bool optional = false;
  bool variadic = false;  // the last one: all further positional arguments, as a list
  std::vector<std::string_view> words = {};  // kWord
};

struct OpInfo {
  const char* name;
  const char* signature;  // as the reference prints it
  const char* doc;        // one line
  OpArity arity;
  OpKind kind;
  OpGrade grade;
  const char* inverse;  // one line for the reference: "itself", "sections", "lossy"
  std::vector<OpParam> params;
  // Inputs a many-to-one operation takes: exactly this many, 0 for any number from 1 up.
  int inputs = 1;
  // What to do about surplus arguments, when the signature alone does not say it; may be null.
  const char* surplus_help = nullptr;
  // The types of all results. `results` is the number of targets for one-to-many operations.
  // Errors are without a place; the caller adds it.
  Result<std::vector<TensorType>> (*infer)(const OpArgs& args,
                                           const std::vector<TensorType>& inputs, uint32_t results);
};

const std::vector<OpInfo>& Ops();
const OpInfo* FindOp(std::string_view name);  // null when there is none

// What the arguments written in a rule are to be called: positional and named ones matched to
// parameters. One entry per parameter: the index of the argument that supplies it, or -1 when an
// optional one is absent; for the variadic parameter the index of its first argument. Errors (wrong
// number, unknown name) show the signature.
struct ArgShape {
  std::string name;  // "" when positional
  bool is_range = false;
};
Result<std::vector<int>> MatchArgs(const OpInfo& op, const std::vector<ArgShape>& written);

// The evaluated arguments in parameter order, checked for type; absent ones are ValueList{}.
Result<OpArgs> BindArgs(const OpInfo& op, const std::vector<int>& matched,
                        const std::vector<Value>& written);

}  // namespace rekey

#endif  // REKEY_ENGINE_OPS_OPS_H_
