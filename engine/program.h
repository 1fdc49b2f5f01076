// A compiled rule file: what Rewrite runs on keys.
//
// Compile (compile.h) resolves everything that can be known without the keys: includes are spliced,
// params and lets folded to constants, scopes flattened into their rules (`in P -> Q { map R -> T
// }` is `map PR -> QT`), holes numbered, patterns turned into RE2 text, operations looked up. What
// depends on a key is Code over the rule's variables. It is not the tree (ast.h) and holds no keys.
//
//   for (const Pass& pass : program.passes)
//     for (const Rule& rule : pass.rules) ...
#ifndef REKEY_ENGINE_PROGRAM_H_
#define REKEY_ENGINE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/dtype.h"
#include "engine/expr.h"
#include "engine/graph.h"
#include "engine/ops/ops.h"
#include "engine/pattern.h"
#include "grammar/ast.h"

namespace rekey {

// | name(args): arguments are Code, evaluated with the variables of the match and, for dim(i) and
// rank, the type of the tensor that the operation receives.
struct OpCall {
  const OpInfo* op = nullptr;
  std::vector<Code> args;    // as written; a range gives a list of two
  std::vector<int> matched;  // MatchArgs
  Span span;
};

// by e in a..b
struct Join {
  int variable = 0;
  std::optional<Code> begin, end;
  std::vector<std::string> words;  // a hole of a list of words: their written order
  Span span;
};

struct Rule {
  ast::Verb verb = ast::Verb::kMap;
  bool maybe = false;
  Span span;                         // the whole statement
  Span line;                         // its first line's part, for one-line reports
  std::vector<Variable> variables;   // of all sources together, enclosing scopes included
  std::vector<KeyPattern> sources;   // one, or the members of a merge list
  bool has_target = false;           // an arrow was written (or a scope renames)
  std::vector<KeyTarget> targets;    // of a rule without an arrow: none, the key stays
  std::optional<KeyTarget> same_as;  // drop P same as K
  std::vector<Join> by;
  std::optional<Code> guard;  // conjunction with the guards of enclosing scopes
  std::vector<OpCall> ops;
};

struct Edit {
  enum class Kind { kStripFront, kStripAll, kStripAnywhere, kStripSuffix, kRename };
  Kind kind = Kind::kStripFront;
  bool maybe = false;
  Span span;
  std::vector<std::string> texts;     // strip
  std::vector<Variable> variables;    // rename
  std::optional<KeyPattern> pattern;  // rename: matches a run of whole segments, not the key
  std::optional<KeyTarget> target;    // rename
};

struct Affix {
  bool suffix = false;
  std::string text;
  Span span;
};

struct Pass {
  std::optional<std::string> name;  // then "name"
  Span span;                        // of `then`; nowhere for the first pass
  std::vector<Edit> edits;
  std::vector<Rule> rules;
  ast::Else::Mode else_mode = ast::Else::Mode::kPass;
  bool else_written = false;
  std::string else_why;
  Span else_span;
  std::vector<Affix> affixes;  // applied in order to every key the pass puts out
};

// for i in a..b   |   for PATTERN over output keys
struct Loop {
  std::vector<Variable> variables;
  std::optional<Code> begin, end;
  std::optional<KeyPattern> pattern;
};

struct Fill {
  bool maybe = false;
  Span span;
  std::optional<Loop> loop;
  KeyTarget target;
  ast::Expr value;               // zeros(..) ones(..) full(v, ..) arange(n) tril(n), or a literal;
  std::vector<Code> value_args;  // Code of its arguments, or the literal itself as one Code
  DType dtype = DType::kF32;
  std::vector<OpCall> ops;
};

struct Copy {
  bool maybe = false;
  Span span;
  std::vector<Variable> variables;
  KeyPattern source;  // an output key
  KeyTarget target;
};

struct Tie {
  bool maybe = false;
  Span span;
  KeyTarget name, of;
};

struct Expect {
  ast::Expect::Kind kind = ast::Expect::Kind::kTensor;
  Span span;
  std::optional<Loop> loop;
  std::optional<Code> count;
  std::optional<std::string> message;  // expect error "..."
  std::vector<Variable> variables;     // of pattern
  std::optional<KeyPattern> pattern;
  std::optional<KeyTarget> target;
  std::optional<DType> dtype;
  std::optional<std::vector<Code>> dims;
  std::optional<Code> value;
};

// source P -> T if G, sink P -> T
struct PathRule {
  Span span;
  std::vector<Variable> variables;
  KeyPattern pattern;
  KeyTarget target;
  std::optional<Code> guard;
};

struct ParamInfo {
  std::string name;
  Span span;
  std::optional<Value> value;  // absent: not given (an error only where it is used)
  std::string origin;          // "-p", "default", "args.num_layers of mp_rank_00/...", for reports
};

struct Program {
  // Keeps every Source alive that a Span of the program points into, includes too.
  std::vector<std::shared_ptr<const ast::File>> files;
  bool strict = false;
  std::vector<ParamInfo> params;
  std::vector<Pass> passes;                            // at least one
  std::vector<std::variant<Fill, Copy, Tie>> outputs;  // in file order
  std::vector<Expect> expects;
  std::vector<PathRule> sinks;
  std::vector<const ast::Test*> tests;  // in `files`
};

}  // namespace rekey

#endif  // REKEY_ENGINE_PROGRAM_H_
